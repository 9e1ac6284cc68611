import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { serveStele, type Serving } from '../e2e/stele.ts';
import { openIssuer, type Issuer } from '../server/login/issuer.ts';

/**
 * `deploy/ci/`, with the shells that the hosts run, a fake of what their jobs have, and a real registry. `stele` is
 * installed already: `test/pack.test.ts` installs it.
 */

const root = fileURLToPath(new URL('../../', import.meta.url));
const ci = join(root, 'deploy/ci');

const document = (path: string) => `openapi: 3.1.0
info: {title: Pay, version: 1.0.0}
paths: {${path}: {get: {operationId: a, responses: {'200': {description: Fine.}}}}}
`;

let folder: string;
let issuer: Issuer;
let host: Server;
let hostUrl: string;
let stele: Serving;
let comments: { id: number; body: string }[] = [];
let wrote: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stele-ci-'));
  issuer = await openIssuer();
  host = createServer((request, response) => {
    const answer = async (): Promise<unknown> => {
      const url = new URL(request.url!, hostUrl);
      if (url.pathname === '/token') return { value: await sign(url.searchParams.get('audience')!) };
      if (request.method === 'GET') return comments;
      wrote.push(`${request.method} ${url.pathname}`);
      const { body } = (await json(request)) as { body: string };
      const id = request.method === 'POST' ? comments.length + 1 : Number(url.pathname.split('/').at(-1));
      comments = [...comments.filter((each) => each.id !== id), { id, body }];
      return {};
    };
    answer().then(
      (body) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  }).listen(0, '127.0.0.1');
  await once(host, 'listening');
  hostUrl = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  const publisher = { issuer: issuer.issuer, organization: 'acme', repository: 'acme/pay', ref: 'refs/heads/main' };
  const config = {
    url: 'http://registry.test',
    organizations: { acme: { defaults: { visibility: 'public', compatibility: 'semver' } } },
    trustedPublishing: [{ ...publisher, audience: 'contracts' }],
  };
  await writeFile(join(folder, 'registry.config.json'), JSON.stringify(config));
  await mkdir(join(folder, 'bin'));
  await writeFile(join(folder, 'bin/stele'), `#!/bin/sh\nexec "${process.execPath}" "${root}src/cli.ts" "$@"\n`);
  await chmod(join(folder, 'bin/stele'), 0o755);
  stele = await serveStele([], { cwd: folder });
  await write('/charges');
  await shell(['sh', '-c', 'git init -q && git add -A'], {});
});

afterAll(async () => {
  await stele.stop('SIGKILL');
  host.close();
  await issuer[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

let tokens = 0;

/** The token of a job on the branch `main`. Its audience is that of the test, since a port is not known before. */
async function sign(asked: string): Promise<string> {
  expect(asked).toBe(stele.url);
  const now = Math.floor(Date.now() / 1000);
  return issuer.sign({
    iss: issuer.issuer,
    sub: 'repo:acme/pay:ref:refs/heads/main',
    aud: 'contracts',
    jti: `token ${(tokens += 1)}`,
    iat: now,
    nbf: now,
    exp: now + 300,
    repository: 'acme/pay',
    repository_id: '74',
    repository_owner_id: '65',
    ref: 'refs/heads/main',
    ref_type: 'branch',
    ref_protected: 'true',
    sha: 'c0ffee'.padEnd(40, '0'),
    event_name: 'push',
    run_id: '7',
    run_attempt: '1',
    workflow_ref: 'acme/pay/.github/workflows/contracts.yml@refs/heads/main',
  });
}

async function write(path: string) {
  await mkdir(join(folder, 'work/apis'), { recursive: true });
  await writeFile(join(folder, 'work/apis/pay.yaml'), document(path));
}

/** Runs a command of a job, with nothing in its environment but what the host gives, and where compiled code is kept. */
async function shell([command, ...args]: string[], env: Record<string, string>) {
  const path = `${join(folder, 'bin')}:${dirname(process.execPath)}:/usr/bin:/bin`;
  const own = { PATH: path, HOME: folder, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] };
  const child = spawn(command!, args, { cwd: join(folder, 'work'), env: { ...own, ...env } });
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, stdout, stderr };
}

interface Step {
  name: string;
  if: string;
  env: Record<string, string>;
  run: string;
}

/** Runs a step of the action as GitHub's runner does: its script in a file, for bash with these options. */
async function runStep(name: string, inputs: Record<string, string>, host_: Record<string, string>) {
  const { runs } = parse(await readFile(join(ci, 'action.yml'), 'utf8')) as { runs: { steps: Step[] } };
  const step = runs.steps.find((each) => each.name === name)!;
  const fill = (value: string) =>
    value.replace(/\$\{\{ (.*?) \}\}/g, (_, expression: string) => {
      const input = /^inputs\.(\w+)$/.exec(expression)?.[1];
      return input === undefined ? 'a-token' : (inputs[input] ?? '');
    });
  const env = Object.fromEntries(Object.entries(step.env).map(([key, value]) => [key, fill(value)]));
  await writeFile(join(folder, 'step.sh'), step.run);
  const args = ['bash', '--noprofile', '--norc', '-eo', 'pipefail', join(folder, 'step.sh')];
  return shell(args, { GITHUB_ACTIONS: 'true', GITHUB_ACTION_PATH: ci, ...host_, ...env });
}

async function openPullRequest(): Promise<Record<string, string>> {
  const [event, summary] = [join(folder, 'event.json'), join(folder, 'summary.md')];
  await writeFile(event, JSON.stringify({ pull_request: { number: 12 } }));
  await writeFile(summary, '');
  return {
    GITHUB_EVENT_PATH: event,
    GITHUB_STEP_SUMMARY: summary,
    GITHUB_API_URL: hostUrl,
    GITHUB_REPOSITORY: 'acme/pay',
  };
}

test('the action publishes with the token of its job, and again changes nothing', async () => {
  const job = { ACTIONS_ID_TOKEN_REQUEST_URL: `${hostUrl}/token?a=b`, ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'bearer' };
  const done = await runStep('Publish', { registry: stele.url }, job);
  expect(done).toMatchObject({ code: 0, stdout: expect.stringContaining('@acme/apis/pay@1.0.0') as string });
  expect(done.stdout).toMatch(/^::add-mask::stele_/m);
  expect((await fetch(`${stele.url}/@acme/apis/pay@1.0.0`)).status).toBe(200);
  const again = await runStep('Publish', { registry: stele.url }, job);
  expect(again).toMatchObject({ code: 0, stderr: 'apis/pay.yaml is published as @acme/apis/pay@1.0.0 already.\n' });
  const without = await runStep('Publish', { registry: stele.url }, {});
  expect(without).toMatchObject({ code: 2, stderr: expect.stringContaining('id-token: write') as string });
});

test('the action annotates what a pull request would break, without a key, and keeps one comment', async () => {
  await write('/payments');
  const inputs = { registry: stele.url, organization: 'acme', comment: 'true' };
  const job = await openPullRequest();
  [comments, wrote] = [[{ id: 1, body: "Somebody else's" }], []];
  const broken = await runStep('Check', inputs, job);
  expect(broken.code).toBe(1);
  expect(broken.stdout).toMatch(/^::error file=apis\/pay\.yaml,line=3,col=1,title=operation-removed::/m);
  expect(comments[1]!.body).toContain('| error | operation-removed |');
  expect(comments[1]!.body).toContain('**Changes of @acme/apis/pay**');
  expect(await readFile(job['GITHUB_STEP_SUMMARY']!, 'utf8')).toContain('operation-removed');
  await write('/charges');
  expect(await runStep('Check', inputs, job)).toMatchObject({ code: 0 });
  expect(comments[1]!.body).toContain('is published as @acme/apis/pay@1.0.0 already');
  expect(wrote).toEqual(['POST /repos/acme/pay/issues/12/comments', 'PATCH /repos/acme/pay/issues/comments/2']);
});

test.each([
  ['bash', '-eo', 'pipefail'],
  ['dash', '-e'],
])('the template of GitLab runs in %s', async (...run) => {
  const template = parse(await readFile(join(ci, 'gitlab.yml'), 'utf8')) as Record<string, { script: string[] }>;
  const script = (name: string) => [...run, '-c', template[name]!.script.join('\n')];
  const job = { GITLAB_CI: 'true', STELE_CI: join(ci, 'stele-ci.mjs'), STELE_REGISTRY: stele.url, STELE_ORG: 'acme' };
  await write('/payments');
  [comments, wrote] = [[], []];
  const merge = { CI_API_V4_URL: hostUrl, CI_PROJECT_ID: '7', CI_MERGE_REQUEST_IID: '3', STELE_GITLAB_TOKEN: 'token' };
  const broken = await shell(script('stele-check'), { ...job, ...merge });
  expect(broken).toMatchObject({ code: 1, stdout: expect.stringContaining('operation-removed') as string });
  const quality = JSON.parse(await readFile(join(folder, 'work/gl-code-quality-report.json'), 'utf8')) as object[];
  expect(quality[0]).toMatchObject({ check_name: 'operation-removed', location: { path: 'apis/pay.yaml' } });
  expect(wrote).toEqual(['POST /projects/7/merge_requests/3/notes']);
  await write('/charges');
  const done = await shell(script('stele-publish'), { ...job, STELE_ID_TOKEN: await sign(stele.url) });
  expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining('already') as string });
});

test('the examples name what the action and the template have', async () => {
  const { inputs } = parse(await readFile(join(ci, 'action.yml'), 'utf8')) as { inputs: object };
  const { jobs } = parse(await readFile(join(ci, 'github-workflow.yml'), 'utf8')) as {
    jobs: Record<string, { steps: { uses: string; with: object }[] }>;
  };
  for (const { steps } of Object.values(jobs))
    expect(Object.keys(inputs)).toEqual(expect.arrayContaining(Object.keys(steps.at(-1)!.with)));
});
