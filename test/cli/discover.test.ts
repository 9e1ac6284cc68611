import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { formatSettings } from '../../src/cli/discover-command.ts';
import { runCommandLine } from '../../src/cli/run-command-line.ts';
import { readSettings } from '../compile/read-settings.ts';
import { limits } from '../compile/limits.ts';
import type { Ended } from '../e2e/stele.ts';

/** `stele discover` on a work tree with real files. */

let folder: string;
let tree: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'stele-discover-'));
  tree = join(folder, 'pay-service');
  const api = 'openapi: 3.1.0\ninfo: {title: Pay, version: 1.4.0}\npaths: {/a: {}}\n';
  const json = '{"openapi": "3.1.0", "info": {"title": "Pay", "version": "1.4.0"}, "paths": {"/a": {}}}';
  const files = { 'api/openapi.yaml': api, 'api/openapi.json': json, 'examples/a.yaml': api, 'values.yaml': 'a: 1\n' };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(tree, path, '..'), { recursive: true });
    await writeFile(join(tree, path), text);
  }
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', tree, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args]);
  git('init', '--quiet');
  git('add', '.');
  git('commit', '--quiet', '--message', 'Begin');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function discover(...args: string[]): Promise<Ended> {
  const written = { stdout: '', stderr: '' };
  const spies = (['stdout', 'stderr'] as const).map((name) =>
    vi.spyOn(process[name], 'write').mockImplementation((text) => {
      written[name] += String(text);
      return true;
    }),
  );
  try {
    const code = await runCommandLine(['discover', tree, '--data', join(folder, 'data'), ...args]);
    return { code, ...written };
  } finally {
    process.exitCode = undefined;
    for (const spy of spies) spy.mockRestore();
  }
}

test('what would be published, as what, why not the rest, and a stele.yaml that says so', async () => {
  const ended = await discover('--org', 'acme', '--write');
  expect(ended.stdout.split('\n')).toEqual([
    'publish\tapi/openapi.yaml\t@acme/apis/pay\t1.4.0',
    'skip\texamples/a.yaml\tan example (examples/)',
    'skip\tapi/openapi.json\tthe same document as api/openapi.yaml',
    '',
  ]);
  expect(ended.stderr).toBe(
    `1 to publish, 2 skipped; 1 other file is not a document\nWrote ${tree}/stele.yaml. Once it is committed, Stele publishes only what it lists.\n`,
  );
  expect(await readFile(join(tree, 'stele.yaml'), 'utf8')).toBe(
    'resources:\n  - path: api/openapi.yaml\n    type: apis\n    slug: pay\n',
  );
  // It only looks: no data folder is made.
  expect(existsSync(join(folder, 'data'))).toBe(false);
  const again = await discover('--write');
  expect(again).toMatchObject({ code: 1, stdout: '' });
  expect(again.stderr).toContain('stele.yaml exists already.');
});

test('a branch that does not exist', async () => {
  expect(await discover('--branch', 'none')).toMatchObject({ code: 2, stdout: '' });
});

test('a folder that the repository does not have', async () => {
  const ended = await discover('--path', 'nowhere');
  expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('no folder nowhere') as string });
});

test('every path can be written so that Stele reads it again', () => {
  const paths = ['a b.yaml', "it's.yaml", '#a.yaml', '- a.yaml', 'a: b.yaml', '"a".yaml', 'no', 'é.json', 'a\\b.yaml'];
  const documents = paths.map((path, at) => ({
    path: `apis/${path}`,
    coordinate: { org: 'acme', type: 'apis', slug: `a${at}` } as const,
  }));
  const starred = { path: 'apis/a*b.yaml', coordinate: { org: 'acme', type: 'apis', slug: 'star' } as const };
  const text = formatSettings([...documents, starred], 'apis');
  const { settings, report } = readSettings({ path: 'stele.yaml', bytes: Buffer.from(text) }, limits);
  expect(report.problems).toEqual([]);
  expect(settings!.resources.map(({ path }) => path)).toEqual(paths);
});
