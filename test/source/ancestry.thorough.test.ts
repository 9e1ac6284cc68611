import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Ancestry } from '../../src/source/source.ts';
import type { FixtureRepository } from '../servers/fixture-repository.ts';
import { sampleOf } from '../sample.ts';
import { openWorld, type World } from './world.ts';

let world: World;
let repository: FixtureRepository;
beforeEach(async () => {
  world = await openWorld();
  repository = world.createRepository();
});
afterEach(() => world[Symbol.asyncDispose]());

function line(count: number): string[] {
  return repository.commitAll(Array.from({ length: count }, (_, index) => ({ files: { n: `${index}` } })));
}

function ancestry(commit: string, ancestor: string): Promise<Ancestry> {
  return world.openSource().ancestry(world.remote(), commit, ancestor);
}

/** Leaves only what the branches reach, as a host does in time. */
function collectGarbage(): void {
  repository.git('repack', '-a', '-d', '--quiet');
  repository.git('prune', '--expire=now');
}

const servers = [
  ['filters and any id, protocol 2', 2, true],
  ['filters and any id, protocol 0', 0, true],
  ['no filter and tips alone, protocol 2', 2, false],
  ['no filter and tips alone, protocol 0', 0, false],
] as const;

// The two that have nothing in common.
describe.each(sampleOf(servers, 3, 3))('at a server with %s', (_, protocol, isOpen) => {
  beforeEach(() => {
    world.server.behaviour.protocol = protocol;
    if (!isOpen)
      for (const key of ['allowFilter', 'allowAnySHA1InWant']) repository.git('config', '--unset', `uploadpack.${key}`);
  });

  test('a fast-forward is known at any depth', async () => {
    const commits = line(1200);
    for (const index of [900, 0]) expect(await ancestry(commits[1199]!, commits[index]!)).toBe('descendant');
  });

  test('another history is known at any depth, also when nobody has the old one any more', async () => {
    const old = line(3)[2]!;
    repository.commit({ files: { n: 'new' }, parent: null });
    const tip = line(1200)[1199]!;
    expect(await ancestry(tip, old)).toBe('unrelated');
    collectGarbage();
    expect(await ancestry(tip, old)).toBe('unrelated');
  });

  test('a replaced commit is distinguished from another history, also when nobody has it any more', async () => {
    const commits = line(1200);
    const source = world.openSource();
    await source.snapshot(world.remote(), commits[1199]!);
    const tip = repository.commit({ files: { n: 'amended' }, parent: commits[1198]! });
    expect(await source.ancestry(world.remote(), tip, commits[1199]!)).toBe('rewritten');
    collectGarbage();
    expect(await source.ancestry(world.remote(), tip, commits[1199]!)).toBe('rewritten');
  });
});

test(`commits alone are fetched where the server filters`, async () => {
  const commits = repository.commitAll(
    Array.from({ length: 1200 }, (_, index) => ({ files: { [`n${index}`]: `${index}`.repeat(2000) } })),
  );
  const source = world.openSource({ sizeLimit: 400_000 });
  expect(await source.ancestry(world.remote(), commits[1199]!, commits[0]!)).toBe('descendant');
});

test('what is too large to know is refused, and is no answer', async () => {
  const commits = line(1200);
  const source = world.openSource({ sizeLimit: 50_000 });
  const refusal = { code: 'too_large', message: expect.stringContaining('MiB to fetch') as string };
  await expect(source.ancestry(world.remote(), commits[1199]!, commits[0]!)).rejects.toMatchObject(refusal);
});

test(`a history that is cut off is refused unless it holds the ancestor`, async () => {
  const commits = line(30);
  const folder = join(world.folder, 'root', 'shallow.git');
  execFileSync('git', ['clone', '--quiet', '--bare', '--depth=3', pathToFileURL(repository.folder).href, folder]);
  const source = world.openSource({ allowLocalRepositories: true });
  for (const remote of [world.remote('shallow.git'), { ...world.remote(), url: folder }]) {
    expect(await source.ancestry(remote, commits[29]!, commits[28]!)).toBe('descendant');
    const refusal = { code: 'refused', message: expect.stringContaining('shallow clone') as string };
    await expect(source.ancestry(remote, commits[29]!, commits[0]!)).rejects.toMatchObject(refusal);
  }
});

test('a repository that is gone is no answer', async () => {
  const commits = line(3);
  rmSync(repository.folder, { recursive: true });
  await expect(ancestry(commits[2]!, commits[0]!)).rejects.toMatchObject({ code: 'unreachable' });
});
