#!/usr/bin/env node
// Checks and publishes the documents of a repository in a CI job of GitHub or GitLab, without a stored secret.
//
//   stele-ci.mjs check      what publishing would say: annotations, a summary and, for a pull request, a comment
//   stele-ci.mjs publish    publishes what changed, with the token of the job in place of a key
//
// STELE_REGISTRY  URL of the registry
// STELE_ORG       organization; needed by a check without STELE_KEY
// STELE_FILES     files, separated by white space; default: every document of the repository
// STELE_KEY       a key with the scope read, to check what is private
import { spawnSync } from 'node:child_process';
import { appendFileSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const env = process.env;
const registry = need('STELE_REGISTRY', 'the URL of the registry').replace(/\/$/, '');
const isGitlab = env.GITLAB_CI === 'true';
/** By which a comment is found again. */
const marker = '<!-- stele-ci -->';

const commands = { check, publish };
const command = commands[process.argv[2]];
if (command === undefined) stop('Usage: stele-ci.mjs check | publish', 2);
const folder = mkdtempSync(join(tmpdir(), 'stele-ci-'));
try {
  process.exitCode = await command();
} finally {
  rmSync(folder, { recursive: true });
}

function need(name, what) {
  return env[name] || stop(`Set ${name}: ${what}.`, 2);
}

function stop(message, code) {
  console.error(message);
  process.exit(code);
}

/** Runs stele. Its stdout is returned, or shown if `isShown`; its stderr is shown. */
function stele(args, { isShown = false, more = {} } = {}) {
  const stdio = ['ignore', isShown ? 'inherit' : 'pipe', isShown ? 'inherit' : 'pipe'];
  const ended = spawnSync('stele', args, { encoding: 'utf8', stdio, env: { ...env, ...more }, maxBuffer: 2 ** 28 });
  if (ended.error) stop(`stele cannot be run: ${ended.error.message}`, 3);
  return ended;
}

function checkArguments(format) {
  const org = env.STELE_ORG ? ['--org', env.STELE_ORG] : [];
  return ['check', ...(env.STELE_FILES ?? '').split(/\s+/).filter(Boolean), '--registry', registry, ...org, ...format];
}

async function check() {
  const shown = isGitlab ? 'text' : 'github';
  const [json, markdown, quality] = ['documents.json', 'findings.md', 'quality.json'].map((name) => join(folder, name));
  const reports = [`json=${json}`, `markdown=${markdown}`, `gitlab=${quality}`].flatMap((each) => ['--report', each]);
  const { status } = stele(checkArguments(['--format', shown, ...reports]), { isShown: true });
  if (!existsSync(json)) return status;
  const { documents } = JSON.parse(readFileSync(json, 'utf8'));
  const text = [readFileSync(markdown, 'utf8').trim(), ...documents.flatMap(changesOf)].join('\n\n');
  if (isGitlab) copyFileSync(quality, 'gl-code-quality-report.json');
  if (env.GITHUB_STEP_SUMMARY) appendFileSync(env.GITHUB_STEP_SUMMARY, `${text}\n`);
  await comment(`${marker}\n${text}`.slice(0, 60_000));
  return status;
}

/** What changed since the published version. */
function changesOf({ path, coordinate, isNew, outcome }) {
  if (isNew || outcome === 'unchanged' || coordinate.includes('/rulesets/')) return [];
  const { status, stdout } = stele(['diff', coordinate, path, '--registry', registry, '--format', 'markdown']);
  return status === 0 ? [`**Changes of ${coordinate}**\n\n${stdout.trim()}`] : [];
}

async function publish() {
  const secret = env.STELE_KEY || (await exchange(await idToken()));
  if (!isGitlab) console.log(`::add-mask::${secret}`);
  const more = { STELE_KEY: secret };
  const json = join(folder, 'documents.json');
  const format = ['--format', isGitlab ? 'text' : 'github', '--report', `json=${json}`];
  const checked = stele(checkArguments(format), { isShown: true, more });
  if (checked.status !== 0) return checked.status;
  for (const { path, coordinate, outcome } of JSON.parse(readFileSync(json, 'utf8')).documents) {
    if (outcome !== 'unchanged') {
      const { status } = stele(['publish', path, coordinate, '--registry', registry], { isShown: true, more });
      if (status !== 0) return status;
    }
  }
  return 0;
}

/** The token with which the host vouches for this job. */
async function idToken() {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: bearer, STELE_ID_TOKEN: given } = env;
  if (given) return given;
  if (!url) {
    const advice = isGitlab ? 'id_tokens: { STELE_ID_TOKEN: { aud: … } }' : 'permissions: { id-token: write }';
    stop(`This job has no token to publish with. Give it one with ${advice}.`, 2);
  }
  const asked = new URL(url);
  asked.searchParams.set('audience', registry);
  const { value } = await ask('GET', asked, { authorization: `Bearer ${bearer}` });
  return value;
}

/** Exchanges the job's token for a key of 15 minutes. */
async function exchange(token) {
  const { secret } = await ask('POST', `${registry}/v1/token`, {}, { token });
  return secret;
}

async function comment(body) {
  const place = commentPlace();
  if (place === null) return;
  const { url, headers, one } = place;
  const all = await ask('GET', `${url}?per_page=100`, headers);
  const mine = all.find((each) => each.body.startsWith(marker));
  if (mine === undefined) await ask('POST', url, headers, { body });
  else if (mine.body !== body) await ask(isGitlab ? 'PUT' : 'PATCH', one(mine.id), headers, { body });
}

/** Where comments of this pull or merge request are. Null: there is none, or no token that may write. */
function commentPlace() {
  if (isGitlab) {
    const { STELE_GITLAB_TOKEN: token, CI_MERGE_REQUEST_IID: number } = env;
    if (!token || !number) return null;
    const url = `${env.CI_API_V4_URL}/projects/${env.CI_PROJECT_ID}/merge_requests/${number}/notes`;
    return { url, headers: { 'private-token': token }, one: (id) => `${url}/${id}` };
  }
  const { GITHUB_TOKEN: token, GITHUB_EVENT_PATH: event } = env;
  const number = event ? JSON.parse(readFileSync(event, 'utf8')).pull_request?.number : undefined;
  if (!token || !number) return null;
  const issues = `${env.GITHUB_API_URL}/repos/${env.GITHUB_REPOSITORY}/issues`;
  const headers = { authorization: `Bearer ${token}`, accept: 'application/vnd.github+json' };
  return { url: `${issues}/${number}/comments`, headers, one: (id) => `${issues}/comments/${id}` };
}

async function ask(method, url, headers, body) {
  const sent = { ...headers, ...(body && { 'content-type': 'application/json' }) };
  const response = await fetch(url, { method, headers: sent, ...(body && { body: JSON.stringify(body) }) }).catch(
    (error) => stop(`${new URL(url).origin} cannot be reached: ${error.cause?.code ?? error.message}`, 3),
  );
  if (response.ok) return response.json();
  return stop(`${method} ${new URL(url).pathname} returned ${response.status}: ${await response.text()}`, 3);
}
