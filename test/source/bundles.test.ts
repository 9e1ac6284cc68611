import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createRepositoryFromBundle } from '../servers/fixture-repository.ts';
import { openWorld } from './world.ts';

const folder = new URL('../../../shared/corpus/git/', import.meta.url).pathname;
const isHere = existsSync(folder);
const where = isHere ? '' : ' (skipped: no ../shared/corpus)';

// Tip, entries, and documents by suffix, as `git ls-tree -r` counts them.
const bundles = [
  ['digitalocean-openapi.filtered', '5cfa32817884', 2913, 2910],
  ['figma-rest-api-spec.filtered', '7229bb6c6a19', 4, 1],
  ['museum-openapi-example', '2770b2b2e598', 13, 6],
  ['spotify-web-api.filtered', '0ddec1f41785', 39, 35],
  ['train-travel-api.filtered', 'c846f3d140c1', 10, 8],
] as const;

test.skipIf(!isHere).each(bundles)(
  `the real repository %s is read whole${where}`,
  async (name, tip, count, documents) => {
    await using world = await openWorld();
    const repository = createRepositoryFromBundle(join(world.folder, 'root', 'a.git'), join(folder, `${name}.bundle`));
    const source = world.openSource({ limits: { fileBytes: 2 ** 25, entries: 10_000 } });
    const found = await source.tip(world.remote());
    expect(found.found && found.commit.slice(0, 12)).toBe(tip);
    const snapshot = await source.snapshot(world.remote(), found.found ? found.commit : '');
    const entries = await snapshot.entries();
    expect(entries).toHaveLength(count);
    const listed = repository.git('ls-tree', '-r', '--format=%(objectname) %(path)', 'main').split('\n');
    expect(entries.map(({ id, path }) => `${id} ${path}`)).toEqual(listed);
    const files = await snapshot.read(entries.map(({ path }) => path).filter((path) => /\.(?:ya?ml|json)$/.test(path)));
    expect(files.filter((file) => file.found)).toHaveLength(documents);
  },
);

test.skipIf(!isHere)(`every branch of a real repository is found by its name${where}`, async () => {
  await using world = await openWorld();
  const bundle = join(folder, 'digitalocean-openapi.filtered.bundle');
  const repository = createRepositoryFromBundle(join(world.folder, 'root', 'a.git'), bundle);
  const source = world.openSource();
  const branches = repository
    .git('for-each-ref', '--format=%(objectname) %(refname:lstrip=2)', 'refs/heads')
    .split('\n');
  expect(branches.some((line) => line.endsWith('bug)'))).toBe(true);
  for (const line of branches) {
    const [commit = '', branch = ''] = line.split(' ');
    expect(await source.tip(world.remote('a.git', branch)), branch).toEqual({ found: true, commit });
  }
});
