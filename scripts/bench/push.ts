/**
 * From a push to what readers see, through a hook and a local git server.
 *
 *   node scripts/bench/push.ts [--pushes 20] [--repositories 200] [--bars push-20kb,push-1mb,pushes]
 *   node scripts/bench/push.ts --hooks 50 --seconds 30 [--repositories 200]     so many hooks a second: is one lost?
 *
 * `push-…`: pushes of a document, each when what the one before left to be done is done, such as its page; beside a bare `git fetch` of the same
 * commit. `pushes`: one push to each repository, all at once, until the last is visible.
 */
import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { argv } from 'zx';
import { serveStele } from '../../test/e2e/stele.ts';
import { createFixtureRepository, type FixtureRepository } from '../../test/servers/fixture-repository.ts';
import { openGitServer } from '../../test/servers/git-http.ts';
import { untilIdle } from '../load/processor-time.ts';
import { quantile } from '../load/quantile.ts';
import type { Measured } from './history.ts';
import { isAsked, reportResults } from './results.ts';

const run = promisify(execFile);
const many = Number(argv['repositories'] ?? 200);
const pushes = Number(argv['pushes'] ?? 20);
const rate = Number(argv['hooks'] ?? 0);
const seconds = Number(argv['seconds'] ?? 30);
/** Bytes that each path of a document has. */
const bytesOfPath = 190;
const secret = 'a secret that only this benchmark has';

let root: string;
let stele: Awaited<ReturnType<typeof serveStele>>;
let gitUrl: string;
let repositories: FixtureRepository[];
let versions: number[];
/** Bytes of a document, about. */
let size = 0;

const results: Measured[] = [];
if (rate > 0) await following(many, 0, measureHooks);
else {
  if (isAsked('push-20kb')) await following(1, 2e4, () => measureOne('push-20kb'));
  if (isAsked('push-1mb')) await following(1, 1e6, () => measureOne('push-1mb'));
  if (isAsked('pushes')) await following(many, 0, measureAtOnce);
}
await reportResults(results);

/** Starts a registry that follows so many repositories with documents of so many bytes, and waits until all are published. */
async function following(count: number, bytes: number, measure: () => Promise<void>): Promise<void> {
  root = await mkdtemp(join(tmpdir(), 'stele-push-'));
  size = bytes;
  await using server = await openGitServer({ root });
  gitUrl = server.url;
  repositories = Array.from({ length: count }, (_, n) => createFixtureRepository(join(root, 'acme', `r${n}.git`)));
  versions = repositories.map(() => 0);
  for (const n of repositories.keys()) push(n);
  const config = join(root, 'config.mjs');
  const followed = repositories.map((_, n) => ({ url: `${server.url}/acme/r${n}.git`, visibility: 'public' }));
  const settings = {
    organizations: { acme: { repositories: followed } },
    hosts: { gitea: { url: server.url, webhookSecret: { env: 'HOOK_SECRET' } } },
    sync: { interval: 0, concurrency: 4 },
    rateLimit: { address: 100_000 },
  };
  await writeFile(config, `export default ${JSON.stringify(settings)};`);
  stele = await serveStele(['--data', join(root, 'data'), '--config', config], { env: { HOOK_SECRET: secret } });
  try {
    await untilTrue(areVisible, 300);
    await measure();
  } finally {
    await stele.stop();
    await rm(root, { recursive: true, force: true });
  }
}

/** Commits the next version of a repository's document, as a push would. */
function push(n: number): string {
  const version = `1.0.${++versions[n]!}`;
  const info = { title: `R${n}`, version };
  const get = { responses: { 200: { description: 'All of them.' } } };
  const things = Array.from({ length: 1 + Math.floor(size / bytesOfPath) }, (_, index) => [
    `/things-${index}`,
    { get: { ...get, operationId: `list${index}` } },
  ]);
  const paths = Object.fromEntries(things) as object;
  const document = { openapi: '3.1.0', info, servers: [{ url: 'https://api.test' }], paths };
  return repositories[n]!.commit({ files: { 'openapi.json': JSON.stringify(document, null, 2) } });
}

/** Sends the hook that Gitea would. Resolves to the milliseconds until its answer. */
async function hook(n: number): Promise<number> {
  const body = JSON.stringify({ ref: 'refs/heads/main', repository: { full_name: `acme/r${n}` } });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const started = performance.now();
  const response = await fetch(`${stele.url}/v1/hooks/gitea`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-gitea-event': 'push', 'x-gitea-signature': signature },
    body,
  });
  if (response.status !== 202) throw new Error(`The hook was answered ${response.status}: ${await response.text()}`);
  await response.arrayBuffer();
  return performance.now() - started;
}

async function isVisible(n: number): Promise<boolean> {
  const response = await fetch(`${stele.url}/@acme/apis/r${n}@1.0.${versions[n]}`, { method: 'HEAD' });
  return response.status === 200;
}

async function areVisible(): Promise<boolean> {
  for (const n of repositories.keys()) if (!(await isVisible(n))) return false;
  return true;
}

async function untilTrue(question: () => Promise<boolean>, limit: number): Promise<void> {
  const end = Date.now() + limit * 1000;
  while (!(await question())) {
    if (Date.now() > end) throw new Error(`Not within ${limit} s.`);
    await delay(10);
  }
}

async function measureOne(row: 'push-20kb' | 'push-1mb'): Promise<void> {
  const clone = join(root, 'clone');
  await run('git', ['clone', '--quiet', `${gitUrl}/acme/r0.git`, clone]);
  const [visible, fetched]: [number[], number[]] = [[], []];
  for (let n = 0; n < pushes; n++) {
    push(0);
    await untilIdle(400);
    const started = performance.now();
    await hook(0);
    await untilTrue(() => isVisible(0), 60);
    visible.push(performance.now() - started);
    const begun = performance.now();
    await run('git', ['fetch', '--quiet', 'origin', 'main'], { cwd: clone });
    fetched.push(performance.now() - begun);
  }
  const [p50, p95, bare] = [quantile(visible, 0.5), quantile(visible, 0.95), quantile(fetched, 0.5)];
  const seen = `p95 ${p95.toFixed(0)} ms; git fetch of the same commit ${bare.toFixed(0)} ms`;
  results.push({ row, value: p50, seen });
}

/** One push to each repository, and all hooks at once. */
async function measureAtOnce(): Promise<void> {
  for (const n of repositories.keys()) push(n);
  const started = performance.now();
  await Promise.all(repositories.keys().map(hook));
  await untilTrue(areVisible, 240);
  const took = (performance.now() - started) / 1000;
  results.push({
    row: 'pushes',
    value: repositories.length / took,
    seen: `${repositories.length} in ${took.toFixed(1)} s`,
  });
}

async function measureHooks(): Promise<void> {
  const answered: number[] = [];
  const samples: string[] = [];
  const sending: Promise<void>[] = [];
  const total = rate * seconds;
  const started = Date.now();
  for (let n = 0; n < total; n++) {
    await delay(Math.max(0, started + (n * 1000) / rate - Date.now()));
    const which = (n * 7919) % repositories.length;
    push(which);
    sending.push(hook(which).then((time) => void answered.push(time)));
    if (n % (rate * 5) === 0) samples.push(await sample());
  }
  await Promise.all(sending);
  const pushed = (Date.now() - started) / 1000;
  samples.push(await sample());
  await untilTrue(areVisible, 240);
  const caught = (Date.now() - started) / 1000 - pushed;
  samples.push(await sample());
  console.log(
    `${total} hooks for ${repositories.length} repositories in ${pushed.toFixed(1)} s: all ${repositories.length} tips are published, none lost`,
  );
  console.log(`the last was there ${caught.toFixed(1)} s after the last push`);
  print('hook answered', answered);
  console.log(`every 5 s (running, waiting, MB): ${samples.join(' · ')}`);
}

/** Syncs that run, that wait, and the server's memory. */
async function sample(): Promise<string> {
  const text = await (await fetch(`${stele.url}/metrics`)).text();
  const gauge = (state: string) =>
    /\s(\d+)$/.exec(text.split('\n').find((line) => line.startsWith(`stele_syncs{state="${state}"`)) ?? '')?.[1];
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${stele.pid}/status`, 'utf8'))?.[1];
  return `${gauge('running')} ${gauge('waiting')} ${Math.round(Number(kilobytes) / 1024)}`;
}

function print(what: string, values: readonly number[]): void {
  const [p50, p95] = [quantile(values, 0.5), quantile(values, 0.95)].map((value) => value.toFixed(0));
  console.log(`${what}: p50 ${p50} ms, p95 ${p95} ms, longest ${quantile(values, 1).toFixed(0)} ms (${values.length})`);
}
