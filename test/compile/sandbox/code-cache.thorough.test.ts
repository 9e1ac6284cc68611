import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startChild } from '../../../src/compile/sandbox/child.ts';
import { openCodeCache } from '../../../src/compile/sandbox/code-cache.ts';
import { findIsolation, type Isolation } from '../../../src/compile/sandbox/isolation.ts';
import { inputOf, memoryLoad } from './memory-load.ts';

const api = { 'a.yaml': 'openapi: 3.1.0\ninfo: {title: Pets, version: "1"}\npaths: {}\n' };

let root: string;
let isolation: Isolation;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'stele-code-'));
  isolation = await findIsolation('auto');
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** Each file with its size and time. */
async function filesOf(folder: string): Promise<string[]> {
  const names = (await readdir(folder, { recursive: true })).sort();
  const stats = await Promise.all(names.map((name) => stat(join(folder, name))));
  return stats.map(({ size, mtimeMs }, at) => `${names[at]} ${size} ${mtimeMs}`);
}

test('code is compiled once, for its owner alone, instead of code that is long unused; a sandbox that starts with it writes none', async () => {
  const older = join(root, `${isolation.kind}-0123456789abcdef`);
  // Of another program that runs beside this one, as during an upgrade.
  const beside = join(root, `${isolation.kind}-0123456789abcdee`);
  for (const path of [older, beside]) await mkdir(path);
  const longAgo = new Date(Date.now() - 2 * 3_600_000);
  await utimes(older, longAgo, longAgo);
  const cache = openCodeCache(root, { fills: true });
  const folder = (await cache.folderFor(isolation))!;
  await expect.poll(() => existsSync(older)).toBe(false);
  const written = await filesOf(folder);
  expect(written.length).toBeGreaterThan(300);
  for (const name of ['', ...(await readdir(folder, { recursive: true }))])
    expect((await stat(join(folder, name))).mode & 0o077, name).toBe(0);

  const child = startChild(256, isolation, { compiledCode: folder });
  const job = { type: 'compile', input: inputOf('a.yaml') } as const;
  const outcome = await child.run(job, { seconds: 60, load: memoryLoad(api), signal: undefined });
  child.kill();
  expect(outcome).toMatchObject({ answer: { report: { problems: [] } } });

  expect(await openCodeCache(root, { fills: true }).folderFor(isolation)).toBe(folder);
  expect(await filesOf(folder)).toEqual(written);
  expect((await readdir(root)).sort()).toEqual([basename(beside), basename(folder)].sort());
});

test('a sandbox starts when another version of the program has deleted its compiled code', async () => {
  const folder = join(root, `${isolation.kind}-fedcba9876543210`);
  const child = startChild(256, isolation, { compiledCode: folder });
  const job = { type: 'compile', input: inputOf('a.yaml') } as const;
  const outcome = await child.run(job, { seconds: 60, load: memoryLoad(api), signal: undefined });
  child.kill();
  expect(outcome).toMatchObject({ answer: { report: { problems: [] } } });
});

test('a process that does not live long only reads', async () => {
  const other = join(root, 'other');
  const folder = await openCodeCache(other, { fills: false }).folderFor(isolation);
  expect(await readdir(folder!)).toEqual([]);
  expect(await openCodeCache(null, { fills: true }).folderFor(isolation)).toBeNull();
});
