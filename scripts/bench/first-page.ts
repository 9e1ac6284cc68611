/**
 * How long the first reader of a page waits, for twenty documents of the corpus below 100 KB: right after each was published, right
 * after a start with an empty cache, when `/readyz` says so, one after the other and all at once, and the same beside a busy loop on each processor. Says
 * which documents are not there within 200 ms, and whether any reader sees "One moment".
 *
 *   node scripts/bench/first-page.ts [--documents 20] [--corpus ../shared/corpus/openapi]
 */
import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { argv, echo } from 'zx';
import { runStele, serveStele } from '../../test/e2e/stele.ts';
import { quantile } from '../load/quantile.ts';

const count = Number(argv['documents'] ?? 20);
const corpus = String(argv['corpus'] ?? join(import.meta.dirname, '../../../shared/corpus/openapi'));
const goal = 200;

const root = await mkdtemp(join(tmpdir(), 'stele-first-page-'));
const config = join(root, 'config.mjs');
const organizations = { acme: { defaults: { visibility: 'public', validation: 'lenient' } } };
await writeFile(config, `export default ${JSON.stringify({ organizations })};`);
const common = ['--data', join(root, 'data'), '--config', config];
const { stdout } = await runStele(['keys', 'create', '--org', 'acme', '--name', 'ci', '--scope', 'admin', ...common]);
const key = /stele_\w+/.exec(stdout)![0];

const files = await smallDocuments();
let server = await serveStele(common);
const slugs: string[] = [];
const published: number[] = [];
for (const file of files) {
  const slug = `a${slugs.length}`;
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const post = (path: string, body: object) =>
    fetch(`${server.url}/v1/apis${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  await post('', { name: slug, slug, visibility: 'public' });
  const answer = await post(`/${slug}/spec`, { document: await readFile(file, 'utf8') });
  // Some are rejected.
  if (!answer.ok) continue;
  slugs.push(slug);
  published.push(await timeOf(slug));
  if (slugs.length === count) break;
}
show('right after it was published', published);
await restarted('one after the other, after a start', oneByOne);
await restarted('all at once, after a start', atOnce);
const loops = Array.from({ length: availableParallelism() }, () => spawn(process.execPath, ['-e', 'for (;;);']));
await restarted('one after the other, after a start, beside busy loops', oneByOne);
await restarted('all at once, after a start, beside busy loops', atOnce);
for (const loop of loops) loop.kill();
await server.stop();
await rm(root, { recursive: true, force: true });

/** Documents of the corpus whose size is below the bound, spread over its folders. */
async function smallDocuments(): Promise<string[]> {
  const all = await readdir(corpus, { recursive: true });
  const found: string[] = [];
  for (const name of all.filter((each) => /(company|apis-guru)\/[^/]*\.(ya?ml|json)$/.test(each)).toSorted()) {
    const { size } = await stat(join(corpus, name));
    if (size > 10_000 && size < 100_000) found.push(join(corpus, name));
  }
  const step = Math.max(1, Math.floor(found.length / count));
  return [...found.filter((_, at) => at % step === 0), ...found.filter((_, at) => at % step !== 0)];
}

async function restarted(what: string, ask: () => Promise<number[]>): Promise<void> {
  await server.stop();
  await rm(join(root, 'data/cache/derived'), { recursive: true, force: true });
  server = await serveStele(common);
  while (!(await fetch(`${server.url}/readyz`)).ok) await delay(10);
  show(what, await ask());
}

async function oneByOne(): Promise<number[]> {
  const times: number[] = [];
  for (const slug of slugs) times.push(await timeOf(slug));
  return times;
}

async function atOnce(): Promise<number[]> {
  return Promise.all(slugs.map(timeOf));
}

/** Milliseconds until the whole page is there. */
async function timeOf(slug: string): Promise<number> {
  const startedAt = performance.now();
  const answer = await fetch(`${server.url}/@acme/apis/${slug}`, { headers: { Accept: 'text/html' } });
  const text = await answer.text();
  if (!answer.ok || text.includes('data-reload')) throw new Error(`${slug}: ${answer.status}, ${text.slice(0, 200)}`);
  return performance.now() - startedAt;
}

function show(what: string, times: readonly number[]): void {
  const late = times.filter((time) => time > goal).length;
  const [half, most] = [quantile(times, 0.5), Math.max(...times)].map((time) => Math.round(time));
  echo(
    `${what}: median ${half} ms, longest ${most} ms (first ${Math.round(times[0]!)}), ${late} of ${times.length} later than ${goal} ms`,
  );
}
