/**
 * What readers feel of large work on the same server: the 99th percentile of reads that come 500 times a second, alone and while the largest document
 * is published, a site of 200 pages is built, lists of 10,000 resources are asked for, and the audit log of 100,000 changes is read, and the longest
 * delay of the server's event loop meanwhile. Also the same document again, which nothing compiles.
 *
 *   node scripts/bench/stalls.ts [--seconds 6] [--resources 10000] [--changes 100000] [--corpus ../shared/corpus/openapi] [--bars stall-list,again]
 *
 * The goals: at most twice the quiet reads, and no delay over 30 ms. Where other work takes the cores, the first row says what that costs.
 */
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent, createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { argv, retry } from 'zx';
import { resourceRef, type Resource } from '../../src/model/resource.ts';
import { newResource } from '../../src/registry/change-resource.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { untilIdle } from '../load/processor-time.ts';
import { quantile } from '../load/quantile.ts';
import { fillOrganization } from './fill.ts';
import type { BarName } from './bars.ts';
import type { Measured } from './history.ts';
import { isAsked, reportResults } from './results.ts';
import { makeDocument, openWire, root } from './wire.ts';

const seconds = Number(argv['seconds'] ?? 6);
const resources = Number(argv['resources'] ?? 10_000);
const changes = Number(argv['changes'] ?? 100_000);
const corpus = String(argv['corpus'] ?? join(root, '../shared/corpus/openapi'));
const sitePages = 200;
/** Milliseconds between two reads. */
const every = 2;
/** Milliseconds between two pieces of work: what a busy core costs is not what is measured. */
const pause = 50;

await using wire = await openWire({
  organizations: { bench: { defaults: { visibility: 'public', validation: 'lenient' } }, many: {} },
  rateLimit: { address: 1_000_000, key: 1_000_000 },
});
await writeFile(join(wire.folder, 'document.json'), makeDocument(5e3));
for (const slug of ['small', 'large', 'again'])
  await wire.stele('publish', 'document.json', `@bench/apis/${slug}`, '--version', '1.0.0');
const [publishKey, adminKey] = await Promise.all([keyOf('bench', 'publish'), keyOf('many', 'admin')]);
await fillStore();
const file = join(wire.folder, 'delay');
const server = await wire.serveStele({
  cores: '0,1',
  env: { DELAY_FILE: file, NODE_OPTIONS: `--import ${join(import.meta.dirname, 'report-delay.ts')}` },
});
const large = isAsked('p99-publish', 'stall-publish')
  ? gunzipSync(await readFile(join(corpus, 'huge/api.github.com.json.gz'))).toString()
  : '';
const megabyte = makeDocument(1e6);

let serial = 1;
interface Work {
  bars: readonly [p99: BarName, stall: BarName];
  /** Does one piece of work, again and again. */
  run: () => Promise<unknown>;
}
const works: Work[] = [
  {
    bars: ['p99-publish', 'stall-publish'],
    run: () => publish('large', `{"version":"2.0.${++serial}","document":${large}}`),
  },
  { bars: ['p99-site', 'stall-site'], run: buildSite },
  {
    bars: ['p99-list', 'stall-list'],
    run: () => Promise.all([ask('/@many?limit=100'), ask('/@many', 'text/html'), ask('/')]),
  },
  { bars: ['p99-audit', 'stall-audit'], run: () => ask('/v1/audit?limit=100', '*/*', adminKey) },
];
const results: Measured[] = [];
const asked = works.filter(({ bars }) => isAsked(...bars));
if (asked.length > 0) {
  for (const { run } of asked) await run();
  // What a publish leaves to be done later, such as the pages of the largest document.
  await untilIdle();
  await longest();
  const quiet = await readsDuring(async () => undefined);
  const quietStall = await longest();
  for (const { bars, run } of asked) {
    const p99 = await readsDuring(run);
    const stall = await longest();
    const seen = `p99 ${p99.toFixed(1)} ms, quiet ${quiet.toFixed(1)} ms; longest delay, quiet ${quietStall.toFixed(0)} ms`;
    const [ofReads, ofDelay] = bars;
    results.push({ row: ofReads, value: p99 / quiet, seen }, { row: ofDelay, value: stall, seen });
  }
}
if (isAsked('again')) {
  const body = `{"version":"2.0.0","document":${megabyte}}`;
  await publish('again', body);
  const repeats: number[] = [];
  const uploads: number[] = [];
  const [url, close] = await startSink();
  for (let round = 0; round < 9; round++) {
    repeats.push(await timeOf(() => publish('again', body)));
    uploads.push(await timeOf(() => publish('again', body, url)));
  }
  close();
  const [whole, upload] = [quantile(repeats, 0.5), quantile(uploads, 0.5)];
  const seen = `${whole.toFixed(1)} ms in all; curl, and a server that only reads it, ${upload.toFixed(1)} ms`;
  results.push({ row: 'again', value: whole - upload, seen });
}
await reportResults(results);

/** A server that reads what is sent to it, and does nothing else. */
async function startSink(): Promise<[url: string, close: () => void]> {
  const sink = createServer((request, response) => void request.resume().on('end', () => response.end('{}')));
  await once(sink.listen(0, '127.0.0.1'), 'listening');
  return [`http://127.0.0.1:${(sink.address() as AddressInfo).port}`, () => void sink.close()];
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** Changes every page of a site, and publishes it. */
async function buildSite(): Promise<void> {
  const edition = ++serial;
  const send = async (path: string, method: string, type: string, body: string) => {
    const headers = { authorization: `Bearer ${adminKey}`, 'content-type': type };
    const answer = await fetch(`${server.url}/v1/sites/handbook${path}`, { method, headers, body });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
  };
  for (let page = 0; page < sitePages; page++) {
    const name = page === 0 ? 'index' : `page-${page}`;
    const text = `# Page ${page}\n\n${`A sentence of edition ${edition}, with \`code\`.\n\n`.repeat(20)}`;
    await send(`/files/${name}.md`, 'PUT', 'application/octet-stream', text);
  }
  await send('/publish', 'POST', 'application/json', '{}');
}

async function keyOf(org: string, scope: string): Promise<string> {
  const printed = await wire.stele('keys', 'create', '--org', org, '--name', 'bench', '--scope', scope, '--json');
  return /stele_\w+/.exec(printed)![0];
}

async function fillStore(): Promise<void> {
  await wire.inRegistry(fillMany);
  await mkdir(join(wire.folder, 'docs'));
  await writeFile(join(wire.folder, 'docs/index.md'), '# Handbook\n');
  await wire.stele('sites', 'publish', '@many/sites/handbook', 'docs', '--public');
}

async function fillMany(registry: Registry): Promise<void> {
  const make = (slug: string) =>
    newResource(registry, { org: 'many', type: 'apis', slug }, { name: slug, visibility: 'public' });
  await fillOrganization(registry.refs, make, { resources, versions: 1 });
  const change = { actor: 'operator:bench', origin: null, action: 'fill' };
  for (let from = resources; from < changes; from += 1000) {
    const some = Array.from({ length: 1000 }, (_, index) => {
      const coordinate = make(`api-${String((from + index) % resources).padStart(6, '0')}`);
      return registry.refs.update<Resource>(resourceRef(coordinate), (current) => ({
        value: { ...current!.value, description: `After change ${from + index}.` },
        change,
      }));
    });
    await Promise.all(some);
  }
}

/** The 99th percentile of reads in milliseconds while the work is done. */
async function readsDuring(work: () => Promise<unknown>): Promise<number> {
  const agent = new Agent({ keepAlive: true });
  const times: number[] = [];
  const reads: Promise<void>[] = [];
  let isOver = false;
  const working = (async () => {
    while (!isOver) {
      await work();
      await delay(pause);
    }
  })();
  const startedAt = performance.now();
  for (let due = startedAt; due < startedAt + seconds * 1000; due += every) {
    const left = due - performance.now();
    if (left > 0) await delay(left);
    reads.push(readOnce(agent).then((milliseconds) => void times.push(milliseconds)));
  }
  await Promise.all(reads);
  isOver = true;
  await working;
  agent.destroy();
  return quantile(times, 0.99);
}

function readOnce(agent: Agent): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const startedAt = performance.now();
  get(`${server.url}/@bench/apis/small@1.0.0`, { agent }, (response) => {
    response.resume().on('end', () => resolve(performance.now() - startedAt));
  }).on('error', reject);
  return promise;
}

async function ask(path: string, accept = '*/*', key: string | null = null): Promise<void> {
  const headers = { accept, ...(key !== null && { authorization: `Bearer ${key}` }) };
  const answer = await fetch(server.url + path, { headers });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  await answer.arrayBuffer();
}

/** Sends a document from a process of its own, so that this one can read meanwhile. */
async function publish(slug: string, text: string, url = server.url): Promise<void> {
  const sent = join(wire.folder, `${slug}.body`);
  await writeFile(sent, text);
  const fields = ['-H', `Authorization: Bearer ${publishKey}`, '-H', 'Content-Type: application/json'];
  await wire.run`curl -sS --fail-with-body -o ${sent}.answer ${fields} --data-binary @${sent} ${url}/v1/apis/${slug}/spec`;
}

/** The longest delay of the server's event loop since the last call, in milliseconds. */
async function longest(): Promise<number> {
  await rm(file, { force: true });
  process.kill(server.pids[0]!, 'SIGUSR2');
  return retry(100, '100ms', async () => Number(await readFile(file, 'utf8')));
}
