/**
 * Brings the whole past of real repositories in, by `git http-backend`, and derives every version again.
 *
 *   node scripts/backfill.ts ../shared/corpus/git
 *
 * Of figma every tag, of spotify every commit that changed the document (which moved several times), and 127 tags: its own 40 and one for each commit that
 * changed the document. Prints what was published, how long it took, what was fetched, how long a second import takes, and `N of N equal` of
 * `stele verify --all`. `--only <start of a bundle's name>`; `--no-verify`.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { argv } from 'zx';
import { runStele } from '../test/e2e/stele.ts';
import { createRepositoryFromBundle } from '../test/servers/fixture-repository.ts';
import { openGitServer } from '../test/servers/git-http.ts';

const folder = resolve(String(argv._[0] ?? '../shared/corpus/git'));
const only = argv['only'] === undefined ? null : String(argv['only']);

interface Case {
  bundle: string;
  coordinate: string;
  how: string[];
  /** Gives each commit that changed this file a tag, `v0.1.<n>`. */
  tagged?: string;
}

const cases: Case[] = [
  { bundle: 'museum-openapi-example', coordinate: '@acme/apis/redocly-museum-api', how: ['--each-change'] },
  { bundle: 'figma-rest-api-spec.filtered', coordinate: '@acme/apis/figma-api', how: ['--tags', '*'] },
  { bundle: 'spotify-web-api.filtered', coordinate: '@acme/apis/spotify-web-api', how: ['--each-change'] },
  {
    bundle: 'spotify-web-api.filtered',
    coordinate: '@acme/apis/spotify-web-api-with-fixes-and-improvements-from-sonallux',
    how: ['--tags', 'v*'],
    tagged: 'fixed-spotify-open-api.yml',
  },
];

for (const { bundle, coordinate, how, tagged } of cases.filter(
  (each) => only === null || each.bundle.startsWith(only),
)) {
  const root = await mkdtemp(join(tmpdir(), 'stele-backfill-'));
  try {
    await using server = await openGitServer({ root });
    const { git } = createRepositoryFromBundle(join(root, 'a.git'), join(folder, `${bundle}.bundle`));
    if (tagged !== undefined) {
      const commits = git('log', '--reverse', '--format=%H', 'main', '--', tagged).trim().split('\n');
      commits.forEach((commit, index) => git('tag', `v0.1.${index}`, commit));
    }
    const config = join(root, 'config.mjs');
    const repository = { url: `${server.url}/a.git`, visibility: 'public', validation: 'lenient' };
    await writeFile(
      config,
      `export default ${JSON.stringify({ organizations: { acme: { repositories: [repository] } } })};`,
    );
    const common = ['--data', join(root, 'data'), '--config', config];
    await runStele(['sync', ...common]);
    const asked = server.requests.length;
    const started = Date.now();
    const imported = await runStele(['import', coordinate, ...how, ...common]);
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    const requests = server.requests.length - asked;
    console.log(
      `${bundle} ${how.join(' ')}: ${imported.stderr.trim()} in ${seconds} s, ${requests} requests to the git server`,
    );
    const again = Date.now();
    const second = await runStele(['import', coordinate, ...how, ...common]);
    console.log(`  again: ${second.stderr.trim()} in ${((Date.now() - again) / 1000).toFixed(1)} s`);
    for (const line of imported.stdout.split('\n').filter((each) => /^(?:rejected|conflict)/.test(each)))
      console.log(`  ${line}`);
    if (argv['verify'] === false) continue;
    const begun = Date.now();
    const verified = await runStele(['verify', coordinate, '--all', ...common]);
    const summary = verified.stderr.trim().split('\n').at(-1);
    console.log(`  verify --all: ${summary} in ${((Date.now() - begun) / 1000).toFixed(1)} s, exit ${verified.code}`);
    if (verified.code !== 0)
      console.log(
        verified.stdout
          .split('\n')
          .filter((line) => !line.startsWith('same'))
          .join('\n'),
      );
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
