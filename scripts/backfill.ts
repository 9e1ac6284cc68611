/**
 * Brings the whole past of real repositories in, by `git http-backend`, and derives every version again.
 *
 *   node scripts/backfill.ts ../shared/corpus/git
 *
 * Of figma every tag, of spotify every commit that changed the document (which moved several times), and 127 tags: its own 40 and one for each commit that
 * changed the document. Prints what was published, how long it took, what was fetched, how long a second import takes, and `N of N equal` of
 * `stele verify --all`. `--only <start of a bundle's name>`; `--tags`: only the cases with tags; `--no-verify`. Exit code 1: a case did not run,
 * or verify found a difference.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { argv } from 'zx';
import { runStele, type Ended } from '../test/e2e/stele.ts';
import { createRepositoryFromBundle } from '../test/servers/fixture-repository.ts';
import { openGitServer } from '../test/servers/git-http.ts';
import { processorTime } from './load/processor-time.ts';

const folder = resolve(String(argv._[0] ?? '../shared/corpus/git'));
const only = argv['only'] === undefined ? null : String(argv['only']);
const isChosen = ({ bundle, how }: Case) =>
  (only === null || bundle.startsWith(only)) && (argv['tags'] !== true || how[0] === '--tags');

interface Case {
  bundle: string;
  /** The document on the branch. Discovery chooses its coordinate. */
  path: string;
  how: string[];
  /** Gives each commit that changed this file a tag, `v0.1.<n>`. */
  tagged?: string;
}

const fixed = 'fixed-spotify-open-api.yml';

const cases: Case[] = [
  { bundle: 'museum-openapi-example', path: 'openapi.yaml', how: ['--each-change'] },
  { bundle: 'figma-rest-api-spec.filtered', path: 'openapi/openapi.yaml', how: ['--tags', '*'] },
  { bundle: 'spotify-web-api.filtered', path: 'official-spotify-open-api.yml', how: ['--each-change'] },
  { bundle: 'spotify-web-api.filtered', path: fixed, how: ['--tags', 'v*'], tagged: fixed },
];

for (const { bundle, path, how, tagged } of cases.filter(isChosen)) {
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
    const coordinate = await syncFirst(path, common);
    const asked = server.requests.length;
    const [started, used] = [Date.now(), processorTime()];
    const imported = await runImport([coordinate, ...how, ...common]);
    const seconds = ((Date.now() - started) / 1000).toFixed(1);
    const requests = server.requests.length - asked;
    const cost = `${(processorTime() - used).toFixed(1)} s of processor time, ${requests} requests to the git server`;
    console.log(`${bundle} ${how.join(' ')}: ${imported.stderr.trim()} in ${seconds} s, ${cost}`);
    const again = Date.now();
    const second = await runImport([coordinate, ...how, ...common]);
    console.log(`  again: ${second.stderr.trim()} in ${((Date.now() - again) / 1000).toFixed(1)} s`);
    for (const line of imported.stdout.split('\n').filter((each) => /^(?:rejected|conflict)/.test(each)))
      console.log(`  ${line}`);
    if (argv['verify'] === false) continue;
    const begun = Date.now();
    const verified = await runStele(['verify', coordinate, '--all', ...common]);
    const summary = verified.stderr.trim().split('\n').at(-1);
    console.log(`  verify --all: ${summary} in ${((Date.now() - begun) / 1000).toFixed(1)} s, exit ${verified.code}`);
    if (verified.code === 0) continue;
    process.exitCode = 1;
    const different = verified.stdout.split('\n').filter((line) => !line.startsWith('same'));
    console.log(different.join('\n'));
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Syncs the repository and resolves with the coordinate of the document. Throws if it was not published. */
async function syncFirst(path: string, common: string[]): Promise<string> {
  const synced = await runStele(['sync', '--json', ...common]);
  const { runs } = JSON.parse(synced.stdout) as { runs: { documents: { path: string; resource: string | null }[] }[] };
  const found = runs.flatMap(({ documents }) => documents).find((document) => document.path === path)?.resource;
  if (!found) throw new Error(`The sync published no ${path}: ${synced.stderr}`);
  return found;
}

/** Throws unless it ran to its end. */
async function runImport(args: string[]): Promise<Ended> {
  const ended = await runStele(['import', ...args]);
  if (ended.code !== 0) throw new Error(`The import did not run: ${ended.stderr}`);
  return ended;
}
