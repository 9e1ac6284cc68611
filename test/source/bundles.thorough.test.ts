import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { HistoryCommit } from '../../src/source/source.ts';
import { createRepositoryFromBundle, type FixtureRepository } from '../servers/fixture-repository.ts';
import { sampleOf } from '../sample.ts';
import { openWorld, type World } from './world.ts';

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

/** Three of them. */
const read = sampleOf(bundles, 2, 2);

test.skipIf(!isHere).each(read)(`the real repository %s is read whole${where}`, async (name, tip, count, documents) => {
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
});

test.skipIf(!isHere)(`every branch of a real repository is found by its name${where}`, async () => {
  await using world = await openWorld();
  const bundle = join(folder, 'digitalocean-openapi.filtered.bundle');
  const repository = createRepositoryFromBundle(join(world.folder, 'root', 'a.git'), bundle);
  const source = world.openSource();
  const branches = repository
    .git('for-each-ref', '--format=%(objectname) %(refname:lstrip=2)', 'refs/heads')
    .split('\n');
  expect(branches.some((line) => line.endsWith('bug)'))).toBe(true);
  // Every tenth of hundreds, and the one whose name is the hardest.
  for (const line of new Set([...sampleOf(branches, 10), ...branches.filter((each) => each.endsWith('bug)'))])) {
    const [commit = '', branch = ''] = line.split(' ');
    expect(await source.tip(world.remote('a.git', branch)), branch).toEqual({ found: true, commit });
  }
});

const mainOf = (name: string, root: string): FixtureRepository =>
  createRepositoryFromBundle(join(root, 'a.git'), join(folder, `${name}.bundle`));

/** The history of `main`, and every object that is here after it, by type. */
async function historyOf(world: World): Promise<{ history: HistoryCommit[]; types: Record<string, number> }> {
  const source = world.openSource();
  const tip = await source.tip(world.remote());
  const history = await source.history(world.remote(), tip.found ? tip.commit : '', 10_000);
  return { history, types: countObjects(world.cache) };
}

function countObjects(cache: string): Record<string, number> {
  const mirror = join(cache, 'mirrors', readdirSync(join(cache, 'mirrors'))[0]!);
  const args = ['cat-file', '--batch-check=%(objecttype)', '--batch-all-objects'];
  const types: Record<string, number> = { commit: 0, tree: 0, blob: 0 };
  for (const type of execFileSync('git', args, { cwd: mirror, encoding: 'utf8' }).trim().split('\n')) types[type]! += 1;
  return types;
}

/** What git's own plumbing says that a commit changed against its first parent. */
function changesOf(repository: FixtureRepository, commit: string): Record<string, string | null> {
  const [, parent] = repository.git('rev-list', '--parents', '--max-count=1', commit).split(' ');
  const trees = parent === undefined ? ['--root', commit] : [parent, commit];
  const args = ['-r', '--no-renames', '--no-commit-id', '--no-abbrev', ...trees];
  const lines = repository
    .git('diff-tree', ...args)
    .split('\n')
    .filter((line) => line !== '');
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, old, mode, from, to, path] = /^:(\d+) (\d+) (\w+) (\w+) \w\t(.*)$/.exec(line)!;
      const [was, is] = [old!.startsWith('100'), mode!.startsWith('100')];
      // Else it is another mode alone, or never was a file.
      return (is && !(was && from === to)) || (was && !is) ? [[path!, is ? to! : null]] : [];
    }),
  );
}

const histories = [
  ['figma-rest-api-spec.filtered', 33],
  ['spotify-web-api.filtered', 176],
  ['museum-openapi-example', null],
  ['train-travel-api.filtered', null],
] as const;

test.skipIf(!isHere).each(sampleOf(histories, 2, 2))(
  `the history of %s is what git says that it is, and no blob is fetched${where}`,
  async (name, count) => {
    await using world = await openWorld();
    const repository = mainOf(name, join(world.folder, 'root'));
    const { history, types } = await historyOf(world);
    const line = repository.git('rev-list', '--first-parent', '--reverse', 'main').split('\n');
    expect(history.map(({ commit }) => commit)).toEqual(line);
    expect(history).toHaveLength(count ?? line.length);
    for (const { commit, files } of sampleOf(history, 3)) {
      expect(Object.fromEntries(files), commit).toEqual(changesOf(repository, commit));
    }
    expect(types['blob']).toBe(0);
    expect(types['commit']).toBe(Number(repository.git('rev-list', '--count', 'main')));

    const blobs = [...new Set(history.flatMap(({ files }) => [...files.values()].filter((id) => id !== null)))].slice(
      0,
      40,
    );
    await world.openSource().bringBlobs(world.remote(), line.at(-1)!, blobs);
    expect(countObjects(world.cache)).toEqual({ ...types, blob: blobs.length });
  },
);

test.skipIf(!isHere)(`the moves of a real document are seen${where}`, async () => {
  await using world = await openWorld();
  mainOf('spotify-web-api.filtered', join(world.folder, 'root'));
  const { history } = await historyOf(world);
  const moves = history.flatMap((each) => [...each.moves].map(([to, from]) => `${from} → ${to}`));
  expect(moves).toEqual([
    'spotify-web-api-parser/api-documentation.yaml → spotify-web-api-core/src/main/resources/spotify-web-api.yml',
    'spotify-web-api-generator-open-api/spotify-open-api.yaml → spotify-web-api-generator-open-api/spotify-open-api-spec.yml',
    'spotify-web-api-parser/response-types.yaml → spotify-web-api-parser/response-types.yml',
    'spotify-web-api-generator-open-api/spotify-open-api-spec.yml → spotify-web-api-generator-open-api/spotify-web-api-openapi.yml',
    'spotify-web-api-open-api/spotify-web-api-openapi.yml → fixed-spotify-open-api.yml',
  ]);
});
