/**
 * Measures the search over the APIs of the corpus (`../shared/corpus`): the 40 queries of `test/fixtures/search/queries.tsv`
 * (API, wanted result), what a query costs a server, and what a first answer costs a browser on a static host.
 *
 *   node scripts/search.ts [--most 300] [query…]     with queries: shows what they find
 *   node scripts/search.ts --held-out 360            queries made by a rule from APIs that are not in the 40
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, gunzipSync } from 'node:zlib';
import { argv, echo } from 'zx';
import { parse } from 'yaml';
import { operationName, type Outline } from '../src/model/outline.ts';
import type { Resource } from '../src/model/resource.ts';
import { outlineDocument } from '../src/render/render.ts';
import { parseQuery } from '../src/search/ranking/words.js';
import { openShards } from '../src/search/ranking/shards.js';
import { createSearchIndex, type Indexed } from '../src/search/search-index.ts';
import { createLinks } from '../src/site/links.ts';
import { searchShards, type SearchShards } from '../src/site/search-shards.ts';

const corpus = join(import.meta.dirname, '../../shared/corpus');
const most = Number(argv['most'] ?? 300);
const queries = readFileSync(join(import.meta.dirname, '../test/fixtures/search/queries.tsv'), 'utf8');
const rows = queries
  .trim()
  .split('\n')
  .map((line) => line.split('\t') as [string, string, string]);

const outlines = readOutlines();
const index = createSearchIndex();
const built = process.cpuUsage();
for (const [number, outline] of outlines.entries()) put(number, outline);
const { user, system } = process.cpuUsage(built);
const records = index.entries().reduce((sum, [, { entry }]) => sum + entry!.lines.length, 0);
echo(`${outlines.length} APIs, ${records} records, indexed in ${Math.round((user + system) / 1000)} ms of CPU`);

if (argv._.length > 0) for (const text of argv._) show(text);
else if (argv['held-out'] !== undefined) judgeHeldOut(Number(argv['held-out']));
else {
  judge();
  time();
  await measureShards();
}

/** The hits of a query in all APIs, best first. */
function hitsOf(text: string): { api: string; name: string; score: number }[] {
  const hits = index
    .find(parseQuery(text), () => true)
    .found.slice(0, 20)
    .flatMap(({ indexed, own, matches }) => [
      ...(own > 0 ? [{ api: indexed.title, name: '(the API)', score: own }] : []),
      ...matches().map(({ name, score }) => ({ api: indexed.title, name, score })),
    ]);
  return hits.sort((a, b) => b.score - a.score);
}

function show(text: string): void {
  echo(`\n${text}${index.find(parseQuery(text), () => true).instead ?? ''}`);
  for (const { api, name, score } of hitsOf(text).slice(0, 8)) echo(`  ${score.toFixed(1)}  ${api}: ${name}`);
}

function judge(): void {
  const places = rows.map(([text, api, name]) => ({
    text,
    place: hitsOf(text).findIndex((hit) => hit.api.startsWith(api) && hit.name === name) + 1,
  }));
  const good = places.filter(({ place }) => place >= 1 && place <= 3);
  echo(
    `${good.length} of ${places.length} queries in the first three, ${places.filter(({ place }) => place === 1).length} first`,
  );
  for (const { text, place } of places.filter((each) => !good.includes(each)))
    echo(`  missed: ${text} (${place || 'not found'})`);
}

/**
 * The rule, made before anybody looked at what is found. An operation of an API, each chosen by a seed; not of an API whose
 * title begins with the same word as one of the 40. The query is the first word of its API's title and the first four words of its summary
 * that are not stop words. Of three queries, one stays whole, one loses a word, and in one two neighbouring letters of its
 * longest word are swapped. It is found if one of the first three hits is the operation, or one of the same API and summary.
 */
function judgeHeldOut(count: number): void {
  const stop = new Set('a an and by for from in of on or the to with your all this that is are'.split(' '));
  const wordsOf = (text: string) =>
    text
      .toLowerCase()
      .match(/[a-z][a-z0-9]+/g)
      ?.filter((word) => !stop.has(word)) ?? [];
  const seen = new Set(rows.map(([, api]) => wordsOf(api)[0]));
  const held = outlines.filter(({ title }) => wordsOf(title).length > 0 && !seen.has(wordsOf(title)[0]));
  const all = held
    .map((outline) => ({ outline, own: outline.operations.filter(({ summary }) => wordsOf(summary).length >= 3) }))
    .filter(({ own }) => own.length > 0);
  let state = 20261122;
  const random = (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const missed: string[] = [];
  let first = 0;
  for (let at = 0; at < count; at++) {
    // An API first, so that the largest ones do not ask most of the queries.
    const { outline, own } = all[random(all.length)]!;
    const operation = own[random(own.length)]!;
    const words = [wordsOf(outline.title)[0]!, ...wordsOf(operation.summary).slice(0, 4)];
    if (at % 3 === 1) words.splice(1 + random(words.length - 1), 1);
    if (at % 3 === 2) {
      const longest = words.reduce((best, word, place) => (word.length > words[best]!.length ? place : best), 0);
      const word = words[longest]!;
      const letter = random(word.length - 1);
      words[longest] = `${word.slice(0, letter)}${word[letter + 1]}${word[letter]}${word.slice(letter + 2)}`;
    }
    const same = new Set(
      outline.operations.filter(({ summary }) => summary === operation.summary).map((one) => operationName(one)),
    );
    const text = words.join(' ');
    const place = hitsOf(text).findIndex(({ api, name }) => api === outline.title && same.has(name)) + 1;
    if (place === 1) first += 1;
    if (place < 1 || place > 3)
      missed.push(`${text} (${place || 'not found'}; ${outline.title}: ${operationName(operation)})`);
  }
  echo(`${count - missed.length} of ${count} held-out queries in the first three, ${first} first; ${held.length} APIs`);
  for (const line of missed) echo(`  missed: ${line}`);
}

function time(): void {
  const times: number[] = [];
  for (let round = 0; round < 20; round++) {
    for (const [text] of rows) {
      const start = process.cpuUsage();
      hitsOf(text);
      const spent = process.cpuUsage(start);
      if (round >= 5) times.push((spent.user + spent.system) / 1000);
    }
  }
  const sorted = times.sort((a, b) => a - b);
  const mean = times.reduce((sum, each) => sum + each, 0) / times.length;
  const at = (share: number) => sorted[Math.floor(share * sorted.length)]!.toFixed(2);
  echo(
    `per query, ms of CPU: mean ${mean.toFixed(2)}, median ${at(0.5)}, 95 % ${at(0.95)}, most ${sorted.at(-1)!.toFixed(2)}`,
  );
}

async function measureShards(): Promise<void> {
  const site = { links: createLinks('http://localhost') };
  const before = searchShards(
    site,
    index.entries().map(([, indexed]) => indexed),
  );
  const sizes = new Map(before.paths().map((path) => [path, sizeOf(before, path)]));
  const sum = (numbers: Iterable<number>) => [...numbers].reduce((all, each) => all + each, 0);
  const total = sum(sizes.values());
  echo(
    `shards: ${sizes.size} files, ${Math.round(total / 1000)} KB with brotli, the largest ${Math.max(...sizes.values())}`,
  );
  const costs: { text: string; bytes: number; steps: number }[] = [];
  let agreeing = 0;
  for (const [text] of rows) {
    const read: string[] = [];
    const shards = openShards(async (path) => (read.push(path), JSON.parse(before.find(path)!)));
    const found = await shards.search(text);
    const [first] = await found.hits(0, 10);
    const name = first?.item?.name ?? '(the API)';
    const [wanted] = hitsOf(text);
    if (first !== undefined && first.resource.title === wanted?.api && name === wanted.name) agreeing++;
    costs.push({ text, bytes: sum(read.map((path) => sizes.get(path)!)), steps: read.length });
  }
  costs.sort((a, b) => a.bytes - b.bytes);
  const kilobytes = costs.map(({ bytes }) => (bytes / 1000).toFixed(1));
  echo(
    `first answer: median ${kilobytes[kilobytes.length >> 1]} KB, most ${kilobytes.at(-1)} KB (${costs.at(-1)!.text}), up to ${Math.max(...costs.map(({ steps }) => steps))} files`,
  );
  echo(`the first hit is that of the server in ${agreeing} of ${rows.length}`);
  const old = new Map(before.paths().map((path) => [path, before.find(path)]));
  const number = Math.floor(outlines.length / 10);
  const changed = outlines[number]!;
  put(number, {
    ...changed,
    operations: changed.operations.map((each, at) => (at === 3 ? { ...each, summary: 'Quite another summary' } : each)),
  });
  const after = searchShards(
    site,
    index.entries().map(([, indexed]) => indexed),
  );
  const touched = after.paths().filter((path) => old.get(path) !== after.find(path)).length;
  put(number, { ...changed, operations: changed.operations.slice(1) });
  const shorter = searchShards(
    site,
    index.entries().map(([, indexed]) => indexed),
  );
  const more = shorter.paths().filter((path) => old.get(path) !== shorter.find(path)).length;
  echo(
    `files that change with one API of ${changed.operations.length} operations: ${touched} for a summary, ${more} for its first operation`,
  );
}

function sizeOf(shards: SearchShards, path: string): number {
  return brotliCompressSync(shards.find(path)!).byteLength;
}

function put(number: number, outline: Outline): void {
  const slug = `api-${String(number).padStart(4, '0')}`;
  const resource = {
    org: 'corpus',
    type: 'apis',
    slug,
    name: outline.title || slug,
    description: '',
    visibility: 'public',
    latest: '1',
  };
  const facts = { ...resource, createdAt: '2026-01-01T00:00:00Z' } as Resource & Indexed;
  index.set(`resources/corpus/apis/${slug}`, facts, outline, null);
}

/** The outlines of the APIs with the most operations, of each title one. */
function readOutlines(): Outline[] {
  const byTitle = new Map<string, Outline>();
  const files = ['openapi', 'invalid'].flatMap((folder) =>
    readdirSync(join(corpus, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.(?:json|ya?ml)(?:\.gz)?$/.test(entry.name))
      .map(({ parentPath, name }) => join(parentPath, name)),
  );
  for (const file of files.sort()) {
    const outline = readOutline(file);
    if (outline === null || outline.operations.length <= (byTitle.get(outline.title)?.operations.length ?? 0)) continue;
    byTitle.set(outline.title, outline);
  }
  return [...byTitle.values()].sort((a, b) => b.operations.length - a.operations.length).slice(0, most);
}

function readOutline(file: string): Outline | null {
  const bytes = file.endsWith('.gz') ? gunzipSync(readFileSync(file)) : readFileSync(file);
  if (!/(?:openapi|swagger)["']?\s*:/.test(bytes.subarray(0, 200_000).toString())) return null;
  try {
    const json = /\.json(?:\.gz)?$/.test(file)
      ? bytes
      : Buffer.from(
          JSON.stringify(parse(bytes.toString(), { uniqueKeys: false, maxAliasCount: 100, logLevel: 'error' })),
        );
    return outlineDocument({ kind: 'openapi', json });
  } catch {
    return null;
  }
}
