import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runGit, type GitCommand, type GitResult } from '../../src/source/command.ts';
import { createFixtureRepository, type FixtureRepository } from '../servers/fixture-repository.ts';
import { commandLines } from './processes.ts';

let folder: string;
let repository: FixtureRepository;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stele-command-'));
  repository = createFixtureRepository(folder);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const searchPath = '/usr/local/bin:/usr/bin:/bin';

function git(args: readonly string[], more: Partial<GitCommand> = {}): Promise<GitResult> {
  return runGit({ args, folder, protocols: 'none', searchPath, signal: new AbortController().signal, ...more });
}

test('git sees an environment made from nothing', async () => {
  repository.setConfig('alias.show-env', '!env');
  const { stdout } = await git(['show-env'], { environment: { EXTRA: '1' } });
  const names = stdout
    .toString()
    .split('\n')
    .flatMap((line) => /^\w+(?==)/.exec(line)?.[0] ?? []);
  const own = names.filter((name) => !/^GIT_|^(?:_|PWD|SHLVL|OLDPWD)$/.test(name));
  expect(own.sort()).toEqual(['EXTRA', 'HOME', 'LC_ALL', 'PATH']);
  expect(stdout.toString()).toContain('GIT_TERMINAL_PROMPT=0\n');
});

test('settings reach git, over the walls of the repository itself', async () => {
  repository.setConfig('core.hooksPath', '/somewhere');
  const config = { 'x.secret': "a'b c\nd" };
  expect((await git(['config', 'x.secret'], { config })).stdout.toString()).toBe("a'b c\nd\n");
  expect((await git(['config', 'core.hooksPath'], { config })).stdout.toString()).toBe('/dev/null\n');
});

test('what prints without end is ended', async () => {
  repository.setConfig('alias.flood', '!yes');
  await expect(git(['flood'], { outputBytes: 100_000 })).rejects.toMatchObject({ code: 'too_large' });
});

test('an exit code other than 0 is a result, with or without words', async () => {
  expect(await git(['config', 'no.such'])).toEqual({ ok: false, stdout: Buffer.alloc(0), stderr: '' });
  const failed = await git(['cat-file', '-p', 'main']);
  expect(failed.ok).toBe(false);
  expect(failed.stderr).toContain('Not a valid object name');
});

test('input and output pass as bytes, whatever their size', async () => {
  const bytes = randomBytes(5_000_000);
  repository.commit({ files: { 'a.bin': bytes } });
  const { stdout } = await git(['cat-file', '--batch'], { input: 'main:a.bin\n' });
  expect(stdout.subarray(stdout.indexOf(10) + 1, -1).equals(bytes)).toBe(true);
});

test('runs side by side do not mix', async () => {
  const runs = Array.from({ length: 12 }, (_, n) => git(['config', 'x.y'], { config: { 'x.y': `${n}` } }));
  expect((await Promise.all(runs)).map(({ stdout }) => stdout.toString())).toEqual(runs.map((_, n) => `${n}\n`));
});

test('runs that are over hold no memory', async () => {
  repository.commit({ files: { 'a.bin': randomBytes(2_000_000) } });
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = (): number => {
    collect();
    return process.memoryUsage().arrayBuffers;
  };
  const read = () => git(['cat-file', '--batch'], { input: 'main:a.bin\n' });
  await read();
  const before = used();
  for (let n = 0; n < 20; n++) await read();
  await expect.poll(() => used() - before).toBeLessThan(20_000_000);
});

test('a signal ends git and whatever it has started', async () => {
  repository.setConfig('alias.wait', '!sleep 6173; true');
  const isAsleep = () => commandLines().some((line) => line.startsWith('sleep 6173'));
  const controller = new AbortController();
  const run = git(['wait'], { signal: controller.signal });
  const ended = run.catch(String);
  await expect.poll(isAsleep).toBe(true);
  controller.abort(new Error('enough'));
  expect(await ended).toContain('enough');
  await expect.poll(isAsleep).toBe(false);
});

test('a missing git is said to be missing', async () => {
  await expect(git(['version'], { searchPath: folder })).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('git is not installed'),
  });
});

test('an address of a script in the arguments stays an argument', async () => {
  const { ok, stderr } = await git(['ls-remote', '--', 'ext::touch /tmp/never'], { protocols: 'https' });
  expect(ok).toBe(false);
  expect(stderr).toContain("transport 'ext' not allowed");
});
