import { spawn, type ChildProcess } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { eventually } from './processes.ts';
import { openWorld, type World } from './world.ts';

let world: World;
beforeEach(async () => {
  world = await openWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const limits = { fileBytes: 2 ** 20, entries: 10_000 };

function startReader(commits: readonly string[]): ChildProcess {
  const { url } = world.remote();
  const script = fileURLToPath(new URL('./reader.ts', import.meta.url));
  const values = [script, world.cache, world.server.host, url, commits.join(',')];
  return spawn(process.execPath, values, { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function linesOf(child: ChildProcess): Promise<string[]> {
  return (await text(child.stdout!)).trim().split('\n');
}

function packsOf(): string[] {
  const folder = join(world.cache, 'mirrors');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.pack'))
    .map((name) => join(folder, name));
}

describe('a mirror', () => {
  test(`is used by several processes at once, while another deletes it`, async () => {
    const commits = world
      .createRepository()
      .commitAll(
        Array.from({ length: 6 }, (_, n) => ({ files: { [`${n}.yaml`]: `n: ${n}\n`, 'same.yaml': `${n % 2}` } })),
      );
    const expected = commits.map((_, n) => {
      const hash = createHash('sha256');
      for (let each = 0; each <= n; each++) hash.update(`n: ${each}\n`);
      return hash.update(`${n % 2}`).digest('hex');
    });
    const readers = [startReader(commits), startReader(commits.toReversed()), startReader(commits)];
    let isOver = false;
    const lines = Promise.all(readers.map(linesOf)).finally(() => (isOver = true));
    const mirrors = () => (existsSync(join(world.cache, 'mirrors')) ? packsOf() : []);
    for (let times = 0; times < 4; times++) {
      expect(await eventually(() => isOver || mirrors().length > 0)).toBe(true);
      rmSync(join(world.cache, 'mirrors'), { recursive: true, force: true, maxRetries: 5 });
    }
    const [first, second, third] = await lines;
    expect(first).toEqual(['begun', ...expected]);
    expect(second).toEqual(['begun', ...expected.toReversed()]);
    expect(third).toEqual(['begun', ...expected]);
  });

  test('is as good as new after a process was killed in the middle of a fetch', async () => {
    const commit = world.createRepository().commit({ files: { 'a.bin': randomBytes(200_000), 'b.yaml': 'b: 1\n' } });
    world.server.behaviour.bytesPerSecond = 20_000;
    const reader = startReader([commit]);
    const scratch = join(world.cache, 'scratch');
    const isReceiving = (): boolean =>
      readdirSync(world.cache).includes('scratch') &&
      readdirSync(scratch, { recursive: true, encoding: 'utf8' }).some((name) => /tmp_pack/.test(name));
    mkdirSync(world.cache, { recursive: true });
    expect(await eventually(isReceiving)).toBe(true);
    reader.kill('SIGKILL');
    world.server.behaviour.bytesPerSecond = null;
    const snapshot = await world.openSource({ limits }).snapshot(world.remote(), commit);
    const files = await snapshot.read(['a.bin', 'b.yaml']);
    expect(files.map((file) => file.found && file.bytes.length)).toEqual([200_000, 5]);
  });

  test('may lose the commit that a fetch builds on while it is received', async () => {
    const names = Array.from({ length: 300 }, (_, n) => `folder-${n}/file.yaml`);
    const repository = world.createRepository();
    const first = repository.commit({ files: Object.fromEntries(names.map((name) => [name, name])) });
    // Several packets: git passes a whole one on to what writes the pack.
    const message = randomBytes(200_000).toString('hex');
    const second = repository.commit({ files: { 'folder-7/file.yaml': 'changed' }, message });
    await world.openSource({ limits }).snapshot(world.remote(), first);
    world.server.behaviour.bytesPerSecond = 30_000;
    const reading = world.openSource({ limits }).snapshot(world.remote(), second);
    const scratch = join(world.cache, 'scratch');
    const isReceiving = (): boolean =>
      readdirSync(scratch, { recursive: true, encoding: 'utf8' }).some((name) => /tmp_pack/.test(name));
    expect(await eventually(isReceiving)).toBe(true);
    // Another process deleted the mirror, and a third begins it anew.
    const [pack = ''] = packsOf();
    rmSync(join(world.cache, 'mirrors'), { recursive: true });
    mkdirSync(dirname(pack), { recursive: true });
    world.server.behaviour.bytesPerSecond = null;
    expect(await (await reading).entries()).toHaveLength(300);
  });

  test('loses what killed processes left, once it is old', async () => {
    const commit = world.createRepository().commit({ files: { 'a.yaml': '' } });
    const left = join(world.cache, 'scratch', `${Date.now() - 241_000}-left`, 'objects');
    const young = join(world.cache, 'scratch', `${Date.now() - 60_000}-young`, 'objects');
    for (const folder of [left, young]) mkdirSync(folder, { recursive: true });
    await world.openSource({ timeLimit: 120 }).snapshot(world.remote(), commit);
    expect(readdirSync(join(world.cache, 'scratch'))).toEqual([expect.stringContaining('-young')]);
  });

  test('may be deleted while a snapshot of it is held', async () => {
    const repository = world.createRepository();
    const commit = repository.commit({ files: { 'a/a.yaml': 'a: 1\n', 'b.yaml': 'b: 1\n' } });
    const snapshot = await world.openSource().snapshot(world.remote(), commit);
    rmSync(world.cache, { recursive: true });
    expect((await snapshot.entries()).map(({ path }) => path)).toEqual(['a/a.yaml', 'b.yaml']);
    rmSync(world.cache, { recursive: true });
    const files = await snapshot.read(['b.yaml', 'a/a.yaml']);
    expect(files.map((file) => file.found && Buffer.from(file.bytes).toString())).toEqual(['b: 1\n', 'a: 1\n']);
  });

  const damages: [string, (path: string) => void][] = [
    ['cut off', (path: string) => truncateSync(path, statSync(path).size - 25)],
    ['emptied', (path: string) => truncateSync(path, 0)],
    ['overwritten', (path: string) => writeFileSync(path, Buffer.alloc(statSync(path).size, 'damaged'))],
    ['lost', (path: string) => rmSync(path)],
  ];
  test.each(damages)('whose packs were %s is made anew', async (_, damage) => {
    const commit = world.createRepository().commit({ files: { 'a.yaml': 'a: 1\n'.repeat(100), 'b/b.yaml': 'b' } });
    const source = world.openSource();
    await (await source.snapshot(world.remote(), commit)).read(['a.yaml']);
    const snapshot = await source.snapshot(world.remote(), commit);
    for (const path of packsOf()) {
      rmSync(path.replace(/pack$/, 'rev'), { force: true });
      damage(path);
    }
    const [file] = await snapshot.read(['a.yaml', 'b/b.yaml']);
    expect(file?.found && file.bytes.length).toBe(500);
    expect(await snapshot.entries()).toHaveLength(2);
    const again = await source.snapshot(world.remote(), commit);
    expect((await again.read(['b/b.yaml']))[0]?.found).toBe(true);
  });

  test('whose own files were emptied is mended', async () => {
    const commit = world.createRepository().commit({ files: { 'a.yaml': 'a: 1\n' } });
    const source = world.openSource();
    await source.snapshot(world.remote(), commit);
    const [name = ''] = readdirSync(join(world.cache, 'mirrors'));
    for (const file of ['HEAD', 'config', 'base']) writeFileSync(join(world.cache, 'mirrors', name, file), '');
    const [file] = await (await source.snapshot(world.remote(), commit)).read(['a.yaml']);
    expect(file?.found).toBe(true);
  });

  test(`of many packs is begun anew at the next commit`, async () => {
    const repository = world.createRepository();
    const first = repository.commit({ files: { 'a.yaml': 'a: 1\n' } });
    const source = world.openSource();
    await source.snapshot(world.remote(), first);
    const [pack = ''] = packsOf();
    for (let n = 0; n < 40; n++) writeFileSync(pack.replace(/pack-.*/, `pack-${n}.pack`), '');
    expect(packsOf()).toHaveLength(41);
    const second = repository.commit({ files: { 'a.yaml': 'a: 2\n' } });
    const [file] = await (await source.snapshot(world.remote(), second)).read(['a.yaml']);
    expect(file?.found && Buffer.from(file.bytes).toString()).toBe('a: 2\n');
    expect(packsOf()).toHaveLength(2);
  });
});

describe('what is asked of the server', () => {
  test('is nothing for what is here already', async () => {
    const commit = world.createRepository().commit({ files: { 'a.yaml': 'a: 1\n' } });
    const source = world.openSource();
    await (await source.snapshot(world.remote(), commit)).read(['a.yaml']);
    const { length } = world.server.requests;
    const snapshot = await source.snapshot(world.remote(), commit);
    await snapshot.entries();
    expect((await snapshot.read(['a.yaml', 'absent.yaml']))[0]?.found).toBe(true);
    expect(world.server.requests).toHaveLength(length);
  });

  test('is one batch for any number of files, and only those files', async () => {
    const names = Array.from({ length: 3000 }, (_, n) => `${n % 70}/${n}.yaml`);
    const files = Object.fromEntries(names.map((name) => [name, `name: ${name}\n`]));
    const commit = world.createRepository().commit({ files: { ...files, 'big.bin': randomBytes(1_000_000) } });
    const snapshot = await world.openSource({ limits }).snapshot(world.remote(), commit);
    expect(await snapshot.entries()).toHaveLength(3001);
    const before = world.server.requests.length;
    await snapshot.read(names.slice(0, 2));
    const few = world.server.requests.length - before;
    const read = await snapshot.read(names);
    expect(world.server.requests.length - before - few).toBe(few);
    expect(read.every((file) => file.found && Buffer.from(file.bytes).toString() === files[file.path])).toBe(true);
    const kept = packsOf().reduce((sum, path) => sum + statSync(path).size, 0);
    expect(kept).toBeLessThan(1_000_000);
  });

  test(`builds on the commit that is here`, async () => {
    const names = Array.from({ length: 300 }, (_, n) => `folder-${n}/file.yaml`);
    const repository = world.createRepository();
    const first = repository.commit({ files: Object.fromEntries(names.map((name) => [name, name])) });
    const second = repository.commit({ files: { 'folder-7/file.yaml': 'changed' } });
    const source = world.openSource({ limits });
    await source.snapshot(world.remote(), first);
    const before = packsOf().reduce((sum, path) => sum + statSync(path).size, 0);
    const snapshot = await source.snapshot(world.remote(), second);
    const after = packsOf().reduce((sum, path) => sum + statSync(path).size, 0);
    expect(await snapshot.entries()).toHaveLength(300);
    expect(after - before).toBeLessThan(before);
    expect((await snapshot.read(['folder-7/file.yaml', 'folder-8/file.yaml'])).every(({ found }) => found)).toBe(true);
  });

  test('moves no objects for a tip', async () => {
    world.createRepository().commit({ files: { 'a.yaml': '' } });
    await world.openSource().tip(world.remote());
    expect(readdirSync(world.cache)).toEqual([]);
    expect(world.server.requests.length).toBeLessThanOrEqual(2);
  });
});

test('what a push changed comes with its commit, and one process of git reads it', async () => {
  // On a slow machine, a second passes between two steps, and git, which nobody asked, is ended and started again.
  const { setTimeout: wait } = globalThis;
  const slow = ((run, ms, ...rest) => wait(run, ms === 1000 ? 600_000 : ms, ...rest)) as typeof setTimeout;
  const patience = vi.spyOn(globalThis, 'setTimeout').mockImplementation(slow);
  onTestFinished(() => patience.mockRestore());
  const bin = join(world.folder, 'bin');
  const log = join(world.folder, 'calls');
  mkdirSync(bin);
  const script = `#!/bin/sh\necho "$1" >> '${log}'\nPATH='${process.env['PATH']}' exec git "$@"\n`;
  writeFileSync(join(bin, 'git'), script, { mode: 0o755 });
  const source = world.openSource({ searchPath: bin });
  const repository = world.createRepository();
  const same = 'text: of some length, which the next edition repeats\n'.repeat(200);
  const large = randomBytes(3_000_000);
  const read = async (commit: string) => {
    expect(await source.tip(world.remote())).toEqual({ found: true, commit, branch: 'main' });
    return (await source.snapshot(world.remote(), commit)).read(['a.yaml', 'b/b.yaml', 'large.bin']);
  };
  const files = { 'b/b.yaml': `${same}b: 1\n`, 'large.bin': large };
  await read(repository.commit({ files: { 'a.yaml': `${same}a: 1\n` } }));
  // The server could send the difference from a file that was never read.
  await (await source.snapshot(world.remote(), repository.commit({ files }))).entries();
  await source.tip(world.remote());
  writeFileSync(log, '');
  const asked = world.server.requests.length;
  const second = repository.commit({ files: { 'a.yaml': `${same}a: 2\n`, 'b/b.yaml': `${same}b: 2\n` } });
  const [a, b] = await read(second);
  expect(a?.found && Buffer.from(a.bytes).toString()).toBe(`${same}a: 2\n`);
  expect(b?.found && Buffer.from(b.bytes).toString()).toBe(`${same}b: 2\n`);
  expect(world.server.requests.length - asked).toBe(3);
  const calls = readFileSync(log, 'utf8').split('\n').filter(Boolean);
  expect(calls.filter((call) => call !== 'cat-file')).toEqual(['index-pack', 'index-pack']);
  expect(calls.length).toBeLessThanOrEqual(3);
});

test('a push brings what it changed, and nothing else of a large tree', async () => {
  const names = Array.from({ length: 300 }, (_, n) => `folder-${n}/file.yaml`);
  const repository = world.createRepository();
  const source = world.openSource({ limits });
  const first = repository.commit({ files: Object.fromEntries(names.map((name) => [name, name])) });
  await source.tip(world.remote());
  await source.snapshot(world.remote(), first);
  const [known = ''] = packsOf();
  const second = repository.commit({ files: { 'folder-7/file.yaml': 'changed' } });
  const snapshot = await source.snapshot(world.remote(), second);
  expect((await snapshot.read(['folder-7/file.yaml']))[0]?.found).toBe(true);
  const [pushed = ''] = packsOf().filter((path) => path !== known);
  // gitformat-pack(5): the commit, two trees and the file.
  expect(readFileSync(pushed).readUInt32BE(8)).toBe(4);
  expect(await snapshot.entries()).toHaveLength(300);
});

test('what a revert brings back is there, also from a server that knows that it had been', async () => {
  const repository = world.createRepository();
  const source = world.openSource({ limits });
  repository.commit({ files: { 'a/a.yaml': 'a: 1\n', 'b.yaml': 'b: 1\n' } });
  const second = repository.commit({ files: { 'a/a.yaml': 'a: 2\n' } });
  await source.tip(world.remote());
  await (await source.snapshot(world.remote(), second)).read(['a/a.yaml']);
  const third = repository.commit({ files: { 'a/a.yaml': 'a: 1\n' } });
  repository.git('repack', '-adbq');
  const [file] = await (await source.snapshot(world.remote(), third)).read(['a/a.yaml']);
  expect(file?.found && Buffer.from(file.bytes).toString()).toBe('a: 1\n');
});

test('of a commit that is here, whose parent is the one asked about, the server is not asked', async () => {
  const repository = world.createRepository();
  const [first, second, third] = repository.commitAll([1, 2, 3].map((n) => ({ files: { a: `${n}` } })));
  const source = world.openSource();
  await source.snapshot(world.remote(), third!);
  const asked = world.server.requests.length;
  expect(await source.ancestry(world.remote(), third!, second!)).toBe('descendant');
  expect(world.server.requests).toHaveLength(asked);
  expect(await source.ancestry(world.remote(), third!, first!)).toBe('descendant');
  expect(world.server.requests.length).toBeGreaterThan(asked);
});
