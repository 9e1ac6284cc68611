import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { FixtureRepository } from '../servers/fixture-repository.ts';
import { commandLines, eventually } from './processes.ts';
import { openWorld, type World } from './world.ts';

let world: World;
let repository: FixtureRepository;
let commits: string[];
beforeEach(async () => {
  world = await openWorld();
  repository = world.createRepository();
  commits = repository.commitAll(
    Array.from({ length: 30 }, (_, n) => ({ files: { 'a.yaml': `a: ${n}\n`, [`${n}/b.yaml`]: `b: ${n}\n` } })),
  );
});
afterEach(() => world[Symbol.asyncDispose]());

const limits = { fileBytes: 1000, entries: 100 };

const mirrorOf = (): string => join(world.cache, 'mirrors', readdirSync(join(world.cache, 'mirrors'))[0]!);
const packFolder = (): string => join(mirrorOf(), 'objects', 'pack');
const packs = (): string[] => readdirSync(packFolder()).filter((name) => name.endsWith('.pack'));

/** How many objects of each type are in the mirror. */
function objects(): Record<string, number> {
  const args = ['cat-file', '--batch-check=%(objecttype)', '--batch-all-objects'];
  const types = execFileSync('git', args, { cwd: mirrorOf(), encoding: 'utf8' }).trim().split('\n');
  return Object.fromEntries(
    ['commit', 'tree', 'blob'].map((type) => [type, types.filter((each) => each === type).length]),
  );
}

async function requestsOf(work: () => Promise<unknown>): Promise<number> {
  const { length } = world.server.requests;
  await work();
  return world.server.requests.length - length;
}

const textOf = async (source: ReturnType<World['openSource']>, commit: string): Promise<string | false | undefined> => {
  const [file] = await (await source.snapshot(world.remote(), commit)).read(['a.yaml']);
  return file?.found && Buffer.from(file.bytes).toString();
};

describe('a history', () => {
  test('is brought by one fetch without blobs, and neither it nor snapshots of its commits need another', async () => {
    const source = world.openSource({ limits });
    const tip = commits.at(-1)!;
    expect(await requestsOf(() => source.history(world.remote(), tip, 99))).toBeLessThanOrEqual(4);
    expect(objects()).toEqual({ commit: 30, tree: 60, blob: 0 });
    expect(packs()).toHaveLength(1);
    const again = async (): Promise<void> => {
      expect(await source.history(world.remote(), tip, 99)).toHaveLength(30);
      expect(await source.history(world.remote(), commits[7]!, 99)).toHaveLength(8);
      for (const commit of commits)
        expect((await (await source.snapshot(world.remote(), commit)).entries()).length).toBeGreaterThan(1);
      await source.bring(world.remote(), commits);
    };
    expect(await requestsOf(again)).toBe(0);
  });

  test('that is here grows by what is new alone', async () => {
    const source = world.openSource();
    await source.history(world.remote(), commits.at(-1)!, 99);
    const before = packs();
    const next = repository.commit({ files: { '7/b.yaml': 'changed\n' } });
    // Its folder `7` is as it was before, and only in the mirror.
    const back = repository.commit({ files: { '7/b.yaml': 'b: 7\n' } });
    expect((await source.history(world.remote(), back, 99)).map(({ commit }) => commit)).toEqual([
      ...commits,
      next,
      back,
    ]);
    const [pack = ''] = packs().filter((name) => !before.includes(name));
    const index = join(packFolder(), pack.replace(/pack$/, 'idx'));
    const brought = execFileSync('git', ['show-index'], { input: execFileSync('cat', [index]), encoding: 'utf8' });
    // Two commits and the trees that they changed, and what these are deltas of.
    expect(brought.trim().split('\n').length).toBeLessThan(10);
    expect(objects()).toMatchObject({ commit: 32, blob: 0 });
  });

  test(`is brought though the mirror has snapshots of its commits already`, async () => {
    const source = world.openSource();
    for (const commit of [commits[20]!, commits[29]!, commits[28]!]) await textOf(source, commit);
    expect(await source.history(world.remote(), commits[29]!, 99)).toHaveLength(30);
    expect(objects()).toEqual({ commit: 30, tree: 60, blob: 3 });
  });

  test(`is brought whole again when the mirror was deleted or damaged`, async () => {
    const source = world.openSource();
    const tip = commits.at(-1)!;
    await source.history(world.remote(), tip, 99);
    rmSync(world.cache, { recursive: true });
    expect(await source.history(world.remote(), tip, 99)).toHaveLength(30);
    for (const name of packs()) truncateSync(join(packFolder(), name), 40);
    expect(await source.history(world.remote(), tip, 99)).toHaveLength(30);
    const next = repository.commit({ files: {} });
    for (const name of readdirSync(packFolder())) rmSync(join(packFolder(), name));
    expect(await source.history(world.remote(), next, 99)).toHaveLength(31);
    expect(objects()).toEqual({ commit: 31, tree: 60, blob: 0 });
  });

  test(`of several branches is built on what they share`, async () => {
    const source = world.openSource();
    const other = repository.commit({ branch: 'other', parent: commits[10]!, files: { x: 'x' } });
    await source.history(world.remote(), commits.at(-1)!, 99);
    await source.history(world.remote('a.git', 'other'), other, 99);
    const next = repository.commit({ files: { y: 'y' } });
    expect(await source.history(world.remote(), next, 99)).toHaveLength(31);
    expect(objects()).toEqual({ commit: 32, tree: 62, blob: 0 });
  });

  test('over the size limit is cut off', async () => {
    const big = Object.fromEntries(Array.from({ length: 4000 }, (_, n) => [randomBytes(20).toString('hex'), `${n}`]));
    const tip = repository.commit({ files: big });
    const work = world.openSource({ sizeLimit: 100_000 }).history(world.remote(), tip, 99);
    await expect(work).rejects.toMatchObject({ code: 'too_large', message: expect.stringContaining('MiB to fetch') });
    expect(readdirSync(join(world.cache, 'mirrors'))).toEqual([]);
    expect(readdirSync(join(world.cache, 'scratch'))).toEqual([]);
  });

  test(`that comes too slowly is given up, and nothing of git stays behind`, async () => {
    world.server.behaviour.delay = 60_000;
    const source = world.openSource({ timeLimit: 0.8 });
    const refusal = { code: 'unreachable', message: expect.stringContaining('within 0.8 seconds') };
    await expect(source.history(world.remote(), commits[0]!, 99)).rejects.toMatchObject(refusal);
    await expect(source.bring(world.remote(), commits)).rejects.toMatchObject(refusal);
    await expect(source.bringBlobs(world.remote(), commits[0]!, [commits[0]!])).rejects.toMatchObject(refusal);
    const left = () => commandLines().filter((line) => line.includes(world.server.host) && /git/.test(line));
    expect(await eventually(() => left().length === 0)).toBe(true);
  });
});

describe('a shallow clone', () => {
  test('hands out its commits, and no history; and git does not start git without end', async () => {
    const folder = join(world.folder, 'root', 'shallow.git');
    const from = pathToFileURL(repository.folder).href;
    execFileSync('git', ['clone', '--quiet', '--bare', '--depth=3', from, folder]);
    for (const key of ['allowFilter', 'allowAnySHA1InWant'])
      execFileSync('git', ['-C', folder, 'config', `uploadpack.${key}`, 'true']);
    const local = { ...world.remote(), url: folder };
    const tip = commits.at(-1)!;
    const source = world.openSource({ allowLocalRepositories: true, timeLimit: 60 });
    for (const remote of [world.remote('shallow.git'), local]) {
      const refusal = { code: 'refused', message: expect.stringContaining('shallow clone') };
      await expect(source.history(remote, tip, 99)).rejects.toMatchObject(refusal);
      const [file] = await (await source.snapshot(remote, tip)).read(['a.yaml']);
      expect(file).toMatchObject({ found: true, bytes: Buffer.from('a: 29\n') });
    }
  });
});

describe('what is brought', () => {
  test('are many commits by one fetch, without their history or blobs', async () => {
    const source = world.openSource({ limits });
    const some = commits.filter((_, n) => n % 2 === 1);
    expect(await requestsOf(() => source.bring(world.remote(), some))).toBeLessThanOrEqual(4);
    expect(objects()).toEqual({ commit: 15, tree: 45, blob: 0 });
    const open = async () => {
      for (const commit of some) await (await source.snapshot(world.remote(), commit)).entries();
    };
    expect(await requestsOf(open)).toBe(0);
  });

  test(`are hundreds of commits by a few fetches`, async () => {
    const many = repository.commitAll(Array.from({ length: 700 }, (_, n) => ({ files: { 'a.yaml': `more: ${n}\n` } })));
    const source = world.openSource();
    expect(await requestsOf(() => source.bring(world.remote(), many))).toBeLessThanOrEqual(12);
    expect(objects()).toMatchObject({ commit: 700, blob: 0 });
    expect(await textOf(source, many[350]!)).toBe('more: 350\n');
  });

  test(`are the blobs that were asked for, by one fetch, and no others`, async () => {
    const source = world.openSource();
    const tip = commits.at(-1)!;
    await source.history(world.remote(), tip, 99);
    const ids = commits.map((commit) => repository.git('rev-parse', `${commit}:a.yaml`));
    expect(await requestsOf(() => source.bringBlobs(world.remote(), tip, ids))).toBeLessThanOrEqual(4);
    expect(objects()).toEqual({ commit: 30, tree: 60, blob: 30 });
    const rest = async () => {
      await source.bringBlobs(world.remote(), tip, ids);
      for (const [n, commit] of commits.entries()) expect(await textOf(source, commit)).toBe(`a: ${n}\n`);
    };
    expect(await requestsOf(rest)).toBe(0);
  });
});

describe('a server that knows no filter, and hands out tips alone', () => {
  test(`gives a history, its branches of other kinds, and all that was tagged`, async () => {
    world.server.behaviour.protocol = 0;
    for (const key of ['allowFilter', 'allowAnySHA1InWant']) repository.git('config', '--unset', `uploadpack.${key}`);
    const identity = ['-c', 'user.name=T', '-c', 'user.email=t@stele.test'];
    for (const n of [3, 8, 12]) repository.git(...identity, 'tag', '-a', '-m', `${n}`, `v${n}`, commits[n]!);
    repository.git('update-ref', 'refs/pull/7/head', commits[5]!);
    const tagged = await world.openSource().tags(world.remote());
    const source = world.openSource();
    await source.bring(
      world.remote(),
      tagged.map(({ commit }) => commit),
    );
    expect(await Promise.all(tagged.map(({ commit }) => textOf(source, commit)))).toEqual([
      'a: 12\n',
      'a: 3\n',
      'a: 8\n',
    ]);
    const pull = { ...world.remote(), ref: 'refs/pull/7/head' };
    expect(await source.tip(pull)).toEqual({ found: true, commit: commits[5] });
    expect((await source.snapshot(pull, commits[5]!)).committedAt).not.toBeNull();
    // The branch has moved on, and what was its tip is among what led there.
    expect(await source.history(world.remote(), commits[28]!, 99)).toHaveLength(29);
    expect(await textOf(source, commits[17]!)).toBe('a: 17\n');
  });
});
