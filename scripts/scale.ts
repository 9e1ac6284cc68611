/**
 * What a registry of a million resources would ask of a bucket on S3, and what that costs: the figures behind docs/scale.md. Counts the requests of
 * the real log, objects and publish over a bucket in memory; lets writers compete over one that is as slow as S3; and computes the rest from what is
 * given.
 *
 *   node scripts/scale.ts [--resources 20000] [--versions 10] [--seconds 3]
 *     [--orgs 1000] [--nodes 10] [--reads 100000] [--hit 0.98] [--publishes 20] [--kilobytes 25]
 *
 * The second line of options describes the registry that the last table is about. Prices are those of US regions in 2025; the plan is about their
 * proportions.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { argv } from 'zx';
import { checkConfig } from '../src/config/load-config.ts';
import { digestOf } from '../src/model/digest.ts';
import { resourceRef, type Resource, type Version } from '../src/model/resource.ts';
import { openLocalCompiler } from '../src/compile/sandbox/local-compiler.ts';
import { newResource } from '../src/registry/change-resource.ts';
import { publish } from '../src/registry/publish.ts';
import type { Registry } from '../src/registry/registry.ts';
import { createUpload } from '../src/source/upload.ts';
import type { Bucket } from '../src/store/bucket.ts';
import { createMemoryBucket } from '../test/memory-store.ts';
import { createObjects } from '../src/store/objects.ts';
import { createRefs, type Refs } from '../src/store/refs.ts';

const given = (name: string, fallback: number) => Number(argv[name] ?? fallback);
const resources = given('resources', 20_000);
const versionsEach = given('versions', 10);
const seconds = given('seconds', 3);
const plan = {
  orgs: given('orgs', 1000),
  nodes: given('nodes', 10),
  reads: given('reads', 100_000),
  hit: given('hit', 0.98),
  publishes: given('publishes', 20),
  kilobytes: given('kilobytes', 25),
};
/** Dollars: for 1,000 writes or lists, 1,000 reads, a GB for a month, and of a CDN 10,000 requests and a GB sent. */
const prices = { write: 0.005, read: 0.0004, store: 0.023, cdnRequests: 0.0075, cdnBytes: 0.02 };
/** Milliseconds that a request to S3 takes in its region. */
const latency = { get: 20, put: 45 };
const month = 30 * 24 * 3600;
const author = { actor: 'operator:scale', origin: null };
const change = { ...author, action: 'fill' };
const folder = await mkdtemp(join(tmpdir(), 'stele-scale-'));

try {
  const each = await ofOneOrganization();
  const requests = await ofOnePublish();
  await ofWriters();
  costs(each, requests);
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

/** Bytes in the bucket and in memory for a resource, and what a start reads. */
async function ofOneOrganization() {
  const bucket = createMemoryBucket();
  const counted = count(bucket);
  const { refs, registry } = bare(counted.bucket);
  for (let from = 0; from < resources; from += 500) {
    await Promise.all(
      Array.from({ length: Math.min(500, resources - from) }, (_, index) => {
        const coordinate = { org: 'acme', type: 'apis' as const, slug: `api-${from + index}` };
        return fill(refs, newResource(registry, coordinate, { name: coordinate.slug, visibility: 'public' }));
      }),
    );
  }
  await delay(3000);
  const logBytes = counted.calls.putBytes;
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  Object.assign(counted.calls, none());
  const started = process.cpuUsage();
  await bare(counted.bucket).refs.read('resources/acme/apis/api-1');
  const { user, system } = process.cpuUsage(started);
  const took = (user + system) / 1000;
  const { get, list, getBytes } = counted.calls;
  const memory = process.memoryUsage().rss - before;
  console.log(`## One organization of ${resources} resources with ${versionsEach} versions each\n`);
  console.log(`log: ${round(logBytes / resources / versionsEach)} bytes a version`);
  console.log(
    `start: ${get} get, ${list} list, ${round(getBytes / 1e6)} MB, ${round(took)} ms of CPU, ` +
      `${round(memory / 1e6)} MB of memory (${round(memory / resources / versionsEach)} bytes a version)\n`,
  );
  return {
    memory: memory / resources / versionsEach,
    start: took / resources / versionsEach,
    log: logBytes / resources / versionsEach,
  };
}

/** Requests of a publish, with the real compiler. */
async function ofOnePublish() {
  const counted = count(createMemoryBucket());
  const { registry } = bare(counted.bucket);
  const compiler = openLocalCompiler('auto', { hasSpare: false });
  const whole = { ...registry, compiler, objects: createObjects(counted.bucket) } as Registry;
  const publishes: { put: number; get: number; list: number; bytes: number }[] = [];
  for (let index = 0; index < 12; index++) {
    const document = {
      openapi: '3.1.0',
      info: { title: 'Pay', version: `1.0.${index}` },
      paths: {},
      'x-text': 'pay '.repeat(6000),
    };
    Object.assign(counted.calls, none());
    await publish(whole, {
      coordinate: { org: 'acme', type: 'apis', slug: 'pay' },
      snapshot: createUpload('a.json', Buffer.from(JSON.stringify(document))),
      entry: 'a.json',
      version: null,
      onConflict: 'reject',
      latest: true,
      dryRun: false,
      create: index === 0 ? { visibility: 'public' } : null,
      author,
    });
    const { put, get, list, putBytes } = counted.calls;
    publishes.push({ put, get, list, bytes: putBytes });
  }
  await compiler.close();
  const last = publishes.at(-1)!;
  console.log('## One publish of 25 KB (the kernel; HTTP with an idempotency key adds two puts)\n');
  console.log(`${last.put} put, ${last.get} get, ${last.list} list, ${last.bytes} bytes\n`);
  return last;
}

/** Changes a second of one organization, by nodes and by writers of each, over a bucket as slow as S3. */
async function ofWriters(): Promise<void> {
  console.log(`## Changes a second of one organization (get ${latency.get} ms, put ${latency.put} ms)\n`);
  console.log('| nodes | writers of each | changes a second | median ms | puts a change |');
  console.log('| --: | --: | --: | --: | --: |');
  for (const [nodes, writers] of [
    [1, 1],
    [1, 16],
    [1, 64],
    [3, 1],
    [3, 16],
    [10, 4],
  ] as const) {
    const counted = count(slow(createMemoryBucket()));
    const every = Array.from({ length: nodes }, () => bare(counted.bucket).refs);
    await every[0]!.update('repositories/acme/warm', () => ({ value: 0, change }));
    Object.assign(counted.calls, none());
    const times: number[] = [];
    const end = performance.now() + seconds * 1000;
    await Promise.all(
      every.flatMap((refs, node) =>
        Array.from({ length: writers }, async (_, writer) => {
          for (let serial = 0; performance.now() < end; serial++) {
            const started = performance.now();
            await refs.update<number>(`repositories/acme/n${node}-${writer}`, () => ({ value: serial, change }));
            times.push(performance.now() - started);
          }
        }),
      ),
    );
    const median = times.sort((a, b) => a - b)[times.length >> 1]!;
    console.log(
      `| ${nodes} | ${writers} | ${round(times.length / seconds)} | ${round(median)} | ${(counted.calls.put / times.length).toFixed(2)} |`,
    );
  }
  console.log();
}

function costs(
  each: { memory: number; start: number; log: number },
  requests: { put: number; get: number; bytes: number },
): void {
  const { orgs, nodes, reads, hit, publishes, kilobytes } = plan;
  const versions = 1_000_000 * versionsEach;
  const misses = reads * (1 - hit);
  // Every node asks for the next entry of every organization that somebody reads, each half second.
  const polls = 2 * orgs * nodes;
  const row = (name: string, rate: number, price: number) => {
    console.log(`| ${name} | ${round(rate)} | ${round((rate * month * price) / 1000)} |`);
  };
  console.log(`## A million resources with ${versionsEach} versions, ${orgs} organizations, ${nodes} nodes\n`);
  console.log(
    `${reads} reads a second of ${kilobytes} KB, ${hit * 100} % answered by the CDN; ${publishes} publishes a second.\n`,
  );
  console.log('| what | a second | dollars a month |');
  console.log('| --- | --: | --: |');
  row('CDN: requests', reads, prices.cdnRequests / 10);
  row('CDN: GB sent', (reads * kilobytes) / 1e6, prices.cdnBytes * 1000);
  row('nodes: reads that reach them', misses, 0);
  row('S3: gets for what no node has in memory (a tenth of those)', misses / 10, prices.read);
  row('S3: gets that ask for news', polls, prices.read);
  row('S3: puts of publishes', publishes * (requests.put + 2), prices.write);
  row('S3: gets of publishes', publishes * requests.get, prices.read);
  const terabytes = (versions * (requests.bytes + each.log)) / 1e12;
  console.log(`| S3: TB kept | ${round(terabytes)} | ${round(terabytes * 1000 * prices.store)} |`);
  console.log(
    `\nstate of all organizations in memory: ${round((versions * each.memory) / 1e9)} GB; ` +
      `read at a cold start, all of them: ${round((versions * each.start) / 1000)} s of CPU`,
  );
}

function bare(bucket: Bucket): { refs: Refs; registry: Registry } {
  let serial = 0;
  const name = Math.random().toString(36).slice(2);
  const uniqueId = () => `scale-${name}-${++serial}`;
  const [now, monotonic] = [() => new Date(), () => performance.now()];
  const refs = createRefs(bucket, { now, monotonic, uniqueId, failed: (error) => console.error(error) });
  const config = checkConfig({ log: { level: 'silent' } }, { base: folder, data: folder });
  return { refs, registry: { refs, bucket, config, now, monotonic, log: () => undefined } as unknown as Registry };
}

async function fill(refs: Refs, made: Resource): Promise<void> {
  const versions = Array.from({ length: versionsEach }, (_, index): Version => {
    const label = `1.${index}.0`;
    const digest = digestOf(`${made.slug} ${label}`);
    return { label, manifest: digest, content: digest, publishedAt: made.createdAt, status: { state: 'active' } };
  });
  const value = { ...made, versions, latest: versions.at(-1)!.label };
  await refs.update<Resource>(resourceRef(made), () => ({ value, change }));
}

function none() {
  return { get: 0, put: 0, list: 0, getBytes: 0, putBytes: 0 };
}

function count(inner: Bucket): { bucket: Bucket; calls: ReturnType<typeof none> } {
  const calls = none();
  const bucket: Bucket = {
    ...inner,
    async get(key) {
      calls.get++;
      const bytes = await inner.get(key);
      calls.getBytes += bytes?.byteLength ?? 0;
      return bytes;
    },
    putIfAbsent(key, bytes) {
      calls.put++;
      calls.putBytes += bytes.byteLength;
      return inner.putIfAbsent(key, bytes);
    },
    list(prefix, options) {
      calls.list++;
      return inner.list(prefix, options);
    },
  };
  return { bucket, calls };
}

/** Takes between half and one and a half of the latency. */
function slow(inner: Bucket): Bucket {
  const wait = (milliseconds: number) => delay(milliseconds * (0.5 + Math.random()));
  return {
    ...inner,
    get: (key) => wait(latency.get).then(() => inner.get(key)),
    putIfAbsent: (key, bytes) => wait(latency.put).then(() => inner.putIfAbsent(key, bytes)),
    list: (prefix, options) => wait(latency.put).then(() => inner.list(prefix, options)),
  };
}

function round(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString('en-US') : value.toPrecision(2);
}
