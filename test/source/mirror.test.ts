import { join } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { testSnapshot } from '../contract/snapshot.ts';
import { testHistory } from '../contract/history.ts';
import { type SourceWorld } from '../contract/source.ts';
import { openWorld, type World } from './world.ts';

let world: World;
let count = 0;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

describe('a source of local repositories', () => {
  async function open(): Promise<SourceWorld> {
    const name = `${++count}.git`;
    const repository = world.createRepository(name);
    repository.git('config', '--unset', 'uploadpack.allowFilter');
    repository.git('config', '--unset', 'uploadpack.allowAnySHA1InWant');
    const url = join(world.folder, 'root', name);
    const source = world.openSource({ allowLocalRepositories: true, hosts: [] });
    return { source, repository, remote: (branch) => ({ ...world.remote(name, branch), url }) };
  }
  testHistory(open);
});

describe('a snapshot of a commit', () => {
  testSnapshot(async (files) => {
    const name = `${++count}.git`;
    const commit = world.createRepository(name).commit({ files });
    return world.openSource().snapshot(world.remote(name), commit);
  });
});
