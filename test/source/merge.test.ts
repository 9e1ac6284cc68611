import { expect, test } from 'vitest';
import { openWorld, type World } from './world.ts';

async function mergedIn(world: World, commit: string, head: string): Promise<string[]> {
  const merge = await world
    .openSource()
    .merge(world.remote('a.git', 'main'), commit, { commit: head, ref: 'refs/heads/topic' });
  if (merge.outcome !== 'merged') throw new Error(`It is ${JSON.stringify(merge)}.`);
  return (await merge.snapshot.entries()).map(({ path }) => path);
}

test('what is left of two commits that each deleted other files is nothing', async () => {
  await using world = await openWorld();
  const repository = world.createRepository();
  const base = repository.commit({ files: { 'a.yaml': 'a', 'b.yaml': 'b' } });
  const head = repository.commit({ branch: 'topic', parent: base, files: { 'a.yaml': null } });
  const tip = repository.commit({ files: { 'b.yaml': null } });
  expect(await mergedIn(world, tip, head)).toEqual([]);
});

test('two commits after one without files are merged', async () => {
  await using world = await openWorld();
  const repository = world.createRepository();
  const base = repository.commit({ files: {} });
  const head = repository.commit({ branch: 'topic', parent: base, files: { 'a.yaml': 'a' } });
  const tip = repository.commit({ files: { 'b.yaml': 'b' } });
  expect(await mergedIn(world, tip, head)).toEqual(['a.yaml', 'b.yaml']);
});
