import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { testHistory } from '../contract/history.ts';
import { testMerge } from '../contract/merge.ts';
import { testSource, type SourceWorld } from '../contract/source.ts';
import { openWorld, type World } from './world.ts';

let world: World;
let count = 0;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

describe('a source over http', () => {
  async function open(): Promise<SourceWorld> {
    const name = `${++count}.git`;
    const repository = world.createRepository(name);
    const source = world.openSource();
    // As a sync does. The source knows then what the server can do, and fetches without `git fetch`.
    await source.tip(world.remote(name));
    return { source, repository, remote: (branch) => world.remote(name, branch) };
  }
  testSource(open);
  testHistory(open);
  testMerge(open);

  test('has nothing to watch', () => {
    expect(world.openSource().watchable(world.remote())).toBeNull();
  });
});

describe('a source of a server that knows no filter, and hands out tips alone', () => {
  test('gives the files of the tip, and says what it cannot give', async () => {
    const old = await openWorld({ protocol: 0 });
    await using _ = old;
    const repository = old.createRepository();
    repository.git('config', '--unset', 'uploadpack.allowFilter');
    repository.git('config', '--unset', 'uploadpack.allowAnySHA1InWant');
    const first = repository.commit({ files: { 'a.yaml': 'a: 1\n', 'b.yaml': 'b: 1\n' } });
    const second = repository.commit({ files: { 'a.yaml': 'a: 2\n' } });
    const source = old.openSource();
    const remote = old.remote('a.git', 'main');
    const read = async (commit: string): Promise<(string | false)[]> => {
      const snapshot = await source.snapshot(remote, commit);
      const files = await snapshot.read(['a.yaml', 'b.yaml']);
      return files.map((file) => file.found && Buffer.from(file.bytes).toString());
    };
    expect(await read(second)).toEqual(['a: 2\n', 'b: 1\n']);
    await expect(source.snapshot(remote, first)).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringContaining(first),
    });
    const third = repository.commit({ files: { 'b.yaml': 'b: 3\n' } });
    expect(await read(third)).toEqual(['a: 2\n', 'b: 3\n']);
    expect(await source.ancestry(remote, third, first)).toBe('descendant');
  });
});
