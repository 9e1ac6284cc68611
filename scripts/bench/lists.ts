/**
 * How fast `stele serve` answers what is more than one document: the page of a small API, lists of 100 of 10,000 resources, pages of them, and the
 * search over the APIs of the corpus, with the time until the first answer after a start; and what ten publishes a second into the organization take
 * from its reads. One core serves, and wrk has another. No peers: each row
 * has a goal.
 *
 *   node scripts/bench/lists.ts [--rounds 3] [--seconds 2] [--resources 10000] [--apis 300] [--bars page,search] [--corpus ../shared/corpus/openapi]
 *
 * Publishing the corpus takes about a minute, and is not measured.
 */
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { argv, retry } from 'zx';
import { newResource } from '../../src/registry/change-resource.ts';
import { publish } from '../../src/registry/publish.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { createUpload } from '../../src/source/upload.ts';
import { fillOrganization } from './fill.ts';
import type { BarName } from './bars.ts';
import type { Measured } from './history.ts';
import { isAsked, reportResults } from './results.ts';
import {
  makeDocument,
  measure,
  mediansOf,
  openWire,
  root,
  showRate,
  type Ask,
  type Rate,
  type Server,
} from './wire.ts';

const rounds = Number(argv['rounds'] ?? 3);
const seconds = Number(argv['seconds'] ?? 2);
const resources = Number(argv['resources'] ?? 10_000);
const apis = Number(argv['apis'] ?? 300);
const corpus = String(argv['corpus'] ?? join(root, '../shared/corpus/openapi'));
/** Bytes of the largest document that is published for the search. */
const largest = 1_000_000;
/** As browsers ask. */
const html = ['Accept: text/html', 'Accept-Encoding: br'];

interface Row {
  bar: BarName;
  ask: Ask;
}

const results: Measured[] = [];
const busyBars = ['latest-busy', 'page-busy', 'list-busy'] as const;
if (isAsked('page', 'list', 'list-end', ...busyBars)) await measureLists();
if (isAsked('search', 'search-new', 'search-first')) await measureSearch();
await reportResults(results);
process.exit(0);

async function measureLists(): Promise<void> {
  const open = { defaults: { visibility: 'public' } };
  await using wire = await openWire({ organizations: { bench: open, many: open } });
  await writeFile(join(wire.folder, 'document.json'), makeDocument(5e3));
  await wire.stele('publish', 'document.json', '@bench/apis/small', '--version', '1.0.0');
  await wire.inRegistry(async (registry) => {
    const make = (slug: string) =>
      newResource(registry, { org: 'many', type: 'apis', slug }, { name: slug, visibility: 'public' });
    await fillOrganization(registry.refs, make, { resources, versions: 1 });
  });
  for (const slug of ['busy', 'calm'])
    await wire.stele('publish', 'document.json', `@many/apis/${slug}`, '--version', '1.0.0');
  const keyArgs = ['--org', 'many', '--name', 'bench', '--scope', 'publish', '--json'];
  const key = /stele_\w+/.exec(await wire.stele('keys', 'create', ...keyArgs))![0];
  const server = await wire.serveStele();
  const to = (path: string) => server.url + path;
  const last = await cursorAfter(to('/@many'), resources - 200);
  await measureAll(server, [
    { bar: 'page', ask: { url: to('/@bench/apis/small'), headers: html } },
    { bar: 'list', ask: { url: to('/@many?limit=100') } },
    { bar: 'list-end', ask: { url: to(`/@many?limit=100&cursor=${last}`) } },
  ]);
  if (!isAsked(...busyBars)) return;
  const asks: [busy: BarName, ask: Ask][] = [
    ['latest-busy', { url: to('/@many/apis/calm') }],
    ['page-busy', { url: to('/@many/apis/calm'), headers: html }],
    ['list-busy', { url: to('/@many?limit=100') }],
  ];
  const quiet = await ratesOf(
    server,
    asks.map(([, ask]) => ask),
  );
  const publisher = publishTenASecond(server, key);
  const busy = await ratesOf(
    server,
    asks.map(([, ask]) => ask),
  );
  const perSecond = await publisher.stop();
  for (const [index, [row]] of asks.entries()) {
    const [before, now] = [quiet[index]!, busy[index]!];
    const seen = `${showRate(now)}, quiet ${showRate(before)}; ${perSecond.toFixed(1)} publishes a second`;
    results.push({ row, value: now.wall / before.wall, seen });
  }
}

/** Publishes versions of `@many/apis/busy` over HTTP, ten a second, until it is stopped. `stop` answers how many a second there were. */
function publishTenASecond({ url }: Server, key: string): { stop: () => Promise<number> } {
  const startedAt = performance.now();
  const running = new Set<Promise<void>>();
  let published = 0;
  const publishOne = async (version: string) => {
    const answer = await fetch(`${url}/v1/apis/busy/spec`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ version, document: JSON.parse(makeDocument(5e3, `Version ${version}`)) as object }),
    });
    if (answer.status !== 201) throw new Error(await answer.text());
    published++;
  };
  let number = 0;
  const timer = setInterval(() => {
    // A machine that cannot do ten says so by its figure.
    if (running.size >= 16) return;
    const one = publishOne(`1.${++number}.0`).finally(() => running.delete(one));
    running.add(one);
  }, 100);
  return {
    stop: async () => {
      clearInterval(timer);
      const perSecond = (1000 * published) / (performance.now() - startedAt);
      await Promise.all(running);
      return perSecond;
    },
  };
}

async function cursorAfter(url: string, count: number): Promise<string> {
  let next = '';
  for (let seen = 0; seen < count; seen += 100) {
    const answer = await fetch(`${url}?limit=100${next && `&cursor=${next}`}`);
    ({ next } = (await answer.json()) as { next: string });
  }
  return next;
}

async function measureSearch(): Promise<void> {
  await using wire = await openWire({ organizations: { corpus: {} } });
  await wire.inRegistry(publishCorpus);
  const first: number[] = [];
  for (let round = 1; round < rounds; round++) {
    const server = await wire.serveStele();
    first.push(await timeOf(`${server.url}/search?q=invoice`));
    await wire.stop(server);
  }
  const server = await wire.serveStele();
  first.push(await timeOf(`${server.url}/search?q=invoice`));
  const median = first.sort((a, b) => a - b)[first.length >> 1]!;
  if (isAsked('search-first')) results.push({ row: 'search-first', value: median, seen: `${first.length} starts` });
  while (!((await (await fetch(`${server.url}/search?q=invoice`)).json()) as { complete: boolean }).complete);
  const queries = (await readFile(join(root, 'test/fixtures/search/queries.tsv'), 'utf8')).trim().split('\n');
  const texts = queries.map((line) => `"/search?q=${encodeURIComponent(line.split('\t')[0]!)}"`);
  const known = join(wire.folder, 'known.lua');
  const fresh = join(wire.folder, 'fresh.lua');
  const list = `local paths = {${texts.join(',')}}\nlocal n = 0\n`;
  await writeFile(known, `${list}function request() n = n + 1; return wrk.format("GET", paths[n % #paths + 1]) end\n`);
  await writeFile(
    fresh,
    `${list}function request() n = n + 1; return wrk.format("GET", paths[n % #paths + 1] .. "+x" .. n) end\n`,
  );
  await measureAll(server, [
    { bar: 'search', ask: { url: server.url, script: known } },
    { bar: 'search-new', ask: { url: server.url, script: fresh } },
  ]);
}

async function timeOf(url: string): Promise<number> {
  const startedAt = performance.now();
  await (await fetch(url)).text();
  return performance.now() - startedAt;
}

async function measureAll(server: Server, all: readonly Row[]): Promise<void> {
  const rows = all.filter(({ bar }) => isAsked(bar));
  const rates = await ratesOf(
    server,
    rows.map(({ ask }) => ask),
  );
  for (const [index, { bar }] of rows.entries()) {
    const rate = rates[index]!;
    results.push({ row: bar, value: rate.wall, seen: showRate(rate) });
  }
}

/** The median rate of each, round by round. */
async function ratesOf(server: Server, asks: readonly Ask[]): Promise<Rate[]> {
  // A page is made when it is first asked for.
  for (const ask of asks)
    await retry(50, '200ms', async () => {
      const [url, headers] = [ask.url, Object.fromEntries((ask.headers ?? []).map((field) => field.split(': ')))];
      if (!(await fetch(url, { headers })).ok) throw new Error(`${url} is not answered.`);
    });
  const measured = asks.map((): Rate[] => []);
  for (let round = 0; round < rounds; round++)
    for (const [index, ask] of asks.entries()) measured[index]!.push(await measure(server, ask, { seconds }));
  return measured.map(mediansOf);
}

/** Publishes the APIs of the corpus, and where they are too few, each again under another name. */
async function publishCorpus(registry: Registry): Promise<void> {
  const entries = await readdir(corpus, { recursive: true, withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile() && /\.(?:json|ya?ml)$/.test(entry.name) && !/traps|multi/.test(entry.parentPath))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  let published = 0;
  const one = async (file: string, time: number): Promise<void> => {
    if (published >= apis || (await stat(file)).size > largest) return;
    const entry = file.endsWith('json') ? 'a.json' : 'a.yaml';
    const { outcome } = await publish(registry, {
      coordinate: { org: 'corpus', type: 'apis', slug: `api-${names.indexOf(file)}-${time}` },
      snapshot: createUpload(entry, await readFile(file)),
      entry,
      version: '1.0.0',
      onConflict: 'revise',
      latest: true,
      dryRun: false,
      create: { name: file, visibility: 'public', validation: 'lenient' },
      author: { actor: 'operator:bench', origin: null },
    });
    if (outcome === 'published') published++;
  };
  for (let time = 1; published < apis; time++) {
    const before = published;
    for (let from = 0; from < names.length && published < apis; from += 8)
      await Promise.all(names.slice(from, from + 8).map((file) => one(file, time)));
    if (published === before) throw new Error(`No document of ${corpus} was published.`);
  }
}
