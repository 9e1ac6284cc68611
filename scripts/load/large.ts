/**
 * A large repository over http: many files, many commits, some hundred documents. Measures the first sync, one with nothing new, one of a push,
 * and one of a push on top of many others, in seconds, requests and bytes that the git server sent.
 *
 *   node scripts/load/large.ts [--files 20000] [--commits 5000] [--documents 300] [--seed 1] [--no-filter] [--protocol 0]
 *
 * `--no-filter`: the server gives whole commits only. Exit code 1: a document is not published, or a replaced history is.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv } from 'zx';
import { runStele } from '../../test/e2e/stele.ts';
import { createFixtureRepository, type FixtureCommit } from '../../test/servers/fixture-repository.ts';
import { openGitServer } from '../../test/servers/git-http.ts';
import { createRandom } from '../faults/operations.ts';

const files = Number(argv['files'] ?? 20_000);
const commits = Number(argv['commits'] ?? 5000);
const documents = Number(argv['documents'] ?? 300);
const random = createRandom(Number(argv['seed'] ?? 1));

function document(n: number, version: string): string {
  const operation = { summary: `Of ${n}`, responses: { 200: { description: 'What was asked for.' } } };
  const paths = Object.fromEntries(
    Array.from({ length: 20 }, (_, path) => [`/things-${path}`, { get: { ...operation, operationId: `get${path}` } }]),
  );
  const info = { title: `Service ${n}`, version };
  return JSON.stringify({ openapi: '3.1.0', info, servers: [{ url: 'https://api.test' }], paths }, null, 1);
}

const pathOf = (n: number) => `services/s${n}/openapi.json`;

/** Source code: not a document, about 2 KB, different in each file. */
function code(n: number, edition: number): string {
  return `// ${n}.${edition}\n${`export const value${random(1_000_000)} = ${random(1_000_000)};\n`.repeat(40)}`;
}

function* history(): Generator<FixtureCommit> {
  const first: FixtureCommit['files'] = {};
  for (let n = 0; n < documents; n++) first[pathOf(n)] = document(n, '1.0.0');
  for (let n = 0; n < files - documents; n++) first[`src/m${n % 200}/f${n}.ts`] = code(n, 0);
  yield { files: first };
  for (let edition = 1; edition < commits; edition++) {
    const n = random(files - documents) - 1;
    yield { files: { [`src/m${n % 200}/f${n}.ts`]: code(n, edition) } };
  }
}

const root = await mkdtemp(join(tmpdir(), 'stele-large-'));
try {
  await using server = await openGitServer({ root, protocol: argv['protocol'] === 0 ? 0 : 2 });
  const repository = createFixtureRepository(join(root, 'large.git'));
  if (argv['filter'] === false) {
    repository.setConfig('uploadpack.allowFilter', 'false');
    repository.setConfig('uploadpack.allowAnySHA1InWant', 'false');
  }
  const all = [...history()];
  for (let from = 0; from < all.length; from += 500) repository.commitAll(all.slice(from, from + 500));
  repository.git('repack', '-adq', '--window=5');
  const config = join(root, 'config.mjs');
  const followed = { url: `${server.url}/large.git`, visibility: 'public' };
  await writeFile(
    config,
    `export default ${JSON.stringify({ organizations: { acme: { repositories: [followed] } } })};`,
  );

  async function sync(what: string): Promise<{ published: number; state: string }> {
    const [requests, bytes, started] = [server.requests.length, server.sent(), performance.now()];
    const ended = await runStele(['sync', '--json', '--data', join(root, 'data'), '--config', config]);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    const { runs } = JSON.parse(ended.stdout) as {
      runs: { state: string; detail: string | null; documents: { outcome: string }[] }[];
    };
    const published = runs[0]!.documents.filter(({ outcome }) => outcome === 'published').length;
    const fetched = `${((server.sent() - bytes) / 2 ** 20).toFixed(2)} MB in ${server.requests.length - requests} requests`;
    console.log(`${what}: ${published} published in ${seconds} s, ${fetched}`);
    return { published, state: runs[0]!.state };
  }

  const size = repository.git('count-objects', '-vH').match(/size-pack: (.+)/)?.[1];
  console.log(`${files} files, ${commits} commits, ${documents} documents, ${size} packed`);
  const first = await sync('first sync');
  await sync('nothing new');
  repository.commit({ files: { [pathOf(0)]: document(0, '1.1.0') } });
  const one = await sync('one document changed');
  const many = Array.from({ length: 2000 }, (_, n) => ({ files: { 'CHANGES.txt': `${n}\n` } }));
  repository.commitAll([...many, { files: { [pathOf(1)]: document(1, '1.1.0') } }]);
  const ahead = await sync('2,001 commits later');
  repository.commit({ files: { [pathOf(0)]: document(0, '9.0.0') }, parent: null });
  const replaced = await sync('replaced by another history');
  const isGood = first.published === documents && one.published === 1 && ahead.published === 1;
  process.exitCode = isGood && replaced.published === 0 ? 0 : 1;
} finally {
  await rm(root, { recursive: true, force: true });
}
