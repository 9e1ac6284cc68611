import { execFile, execFileSync } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { openConsumer, openLockWorld } from '../cli/lock-world.ts';

/** The scripts of `deploy/ci/`, in the shells that runners start, against a registry that runs. */

const deploy = new URL('../../deploy/ci/', import.meta.url);
const cli = new URL('../../src/cli.ts', import.meta.url).pathname;
let world: Awaited<ReturnType<typeof openLockWorld>>;

beforeAll(async () => {
  world = await openLockWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

async function read<T>(file: string): Promise<T> {
  return parse(await readFile(new URL(file, deploy), 'utf8')) as T;
}

interface Action {
  inputs: Record<string, { default: string }>;
  runs: { steps: { shell: string; run: string; env: Record<string, string> }[] };
}

/** Runs a script as a runner does: it is a file, and the first command that fails ends it. */
function shell(command: readonly string[], script: string, cwd: string, env: Record<string, string>) {
  return new Promise<{ code: number; text: string }>((resolve) => {
    const [program, ...options] = command;
    const child = execFile(program!, [...options, '-c', script], { cwd, env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : (child.exitCode ?? -1), text: stdout + stderr }),
    );
  });
}

const bash = ['/bin/bash', '--noprofile', '--norc', '-e', '-o', 'pipefail'];

/** A clone of a repository with one locked contract, a `gh` that notes how it is called, and a `stele`. */
async function openClone() {
  const one = await openConsumer(world.folder);
  const tools = `${one.path}-tools`;
  await mkdir(tools);
  await writeFile(join(tools, 'gh'), `#!/bin/sh\necho "$@" >> ${tools}/gh.txt\n[ "$2" != list ] || echo 0\n`);
  await writeFile(join(tools, 'stele'), `#!/bin/sh\nexec ${process.execPath} ${cli} "$@"\n`);
  for (const name of ['gh', 'stele']) await chmod(join(tools, name), 0o755);
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.test', ...args], { cwd: one.path }).toString();
  const origin = `${tools}/origin.git`;
  git('init', '--quiet', '--bare', origin);
  git('init', '--quiet', '--initial-branch', 'main', '.');
  git('remote', 'add', 'origin', origin);
  await one.run(`add @acme/schemas/money@1.4.0 --as money.json --registry ${world.registry}`);
  const lock = await one.text('contracts.lock');
  await writeFile(one.file('contracts.lock'), lock.replace('range: 1.4.0', 'range: ^1'));
  git('add', '-A');
  git('commit', '--quiet', '-m', 'first');
  git('push', '--quiet', 'origin', 'main');
  const env = {
    PATH: `${tools}:${process.env['PATH']}`,
    HOME: tools,
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE']!,
    XDG_CACHE_HOME: one.cache,
    STELE: 'stele',
    STELE_REGISTRY: '',
    STELE_KEY: '',
    BRANCH: 'stele/update-contracts',
    RUNNER_TEMP: tools,
    GITHUB_STEP_SUMMARY: join(tools, 'summary.md'),
  };
  return { ...one, tools, origin, git, env };
}

test('the action for GitHub checks the lock, and its summary says what is newer', async () => {
  const { runs, inputs } = await read<Action>('contracts/action.yml');
  expect(inputs['stele']!.default).toBe('npx --yes @stele-registry/stele');
  const { path, env, file } = await openClone();
  const run = async () => {
    for (const { run: script } of runs.steps) {
      const ended = await shell(bash, script, path, { ...env, REPORT: '' });
      if (ended.code !== 0) return ended;
    }
    return { code: 0, text: '' };
  };
  expect(await run()).toEqual({ code: 0, text: '' });
  const summary = await readFile(env.GITHUB_STEP_SUMMARY, 'utf8');
  expect(summary).toMatch(/^### Contracts\n\n```text\ncontract .*\n@acme\/schemas\/money .*1 safe, in 1 field\n/);
  await writeFile(file('money.json'), '{}');
  expect(await run()).toMatchObject({ code: 1, text: expect.stringContaining('was edited by hand') as string });
});

test('the action that updates opens one pull request with the report, and none if nothing changed', async () => {
  const { runs } = await read<Action>('update/action.yml');
  const { path, env, git, tools } = await openClone();
  const script = runs.steps[0]!.run;
  expect(await shell(bash, script, path, env)).toMatchObject({ code: 0 });
  expect(git('log', '--format=%s', 'origin/main..origin/stele/update-contracts')).toBe('Update contracts\n');
  expect(git('diff', '--name-only', 'origin/main', 'origin/stele/update-contracts')).toBe(
    'contracts.lock\nmoney.json\n',
  );
  expect(await readFile(join(tools, 'gh.txt'), 'utf8')).toContain('pr create --head stele/update-contracts');
  expect(await readFile(join(tools, 'stele-update.md'), 'utf8')).toMatch(
    /^```text\nupdated money\.json: .* 1\.4\.0 → 1\.5\.0/,
  );
  expect(await shell(bash, script, path, env)).toMatchObject({
    code: 0,
    text: expect.stringContaining('up to date') as string,
  });
  expect(git('rev-list', '--count', 'origin/main..origin/stele/update-contracts')).toBe('1\n');
});

test.for([
  ['bash', bash],
  ['sh', ['/bin/sh', '-e']],
] as const)('the jobs for GitLab run in %s', async ([, command]) => {
  const jobs = await read<Record<string, { script: string[] }>>('contracts.gitlab-ci.yml');
  const { path, env, origin, git } = await openClone();
  const check = jobs['check contracts']!.script.join('\n');
  expect(await shell(command, check, path, env)).toMatchObject({
    code: 0,
    text: expect.stringContaining('1.5.0') as string,
  });
  // The push goes to the same repository in another folder: the URL is made of GitLab's own variables.
  const address = 'http://oauth2:token@gitlab.test:80/acme/shop.git';
  git('config', `url.${origin}.insteadOf`, address);
  git('-C', origin, 'config', 'receive.advertisePushOptions', 'true');
  const gitlab = {
    CI_SERVER_PROTOCOL: 'http',
    CI_SERVER_HOST: 'gitlab.test',
    CI_SERVER_PORT: '80',
    CI_PROJECT_PATH: 'acme/shop',
  };
  const all = { ...env, ...gitlab, STELE_GITLAB_TOKEN: 'token', STELE_BRANCH: 'stele/update-contracts' };
  const update = jobs['update contracts']!.script.join('\n');
  expect(await shell(command, update, path, all)).toMatchObject({ code: 0 });
  expect(git('-C', origin, 'log', '--format=%s', 'main..stele/update-contracts')).toBe('Update contracts\n');
  expect(await shell(command, update, path, all)).toMatchObject({ code: 0 });
});
