/**
 * What a store costs as it grows: one line for each goal of design §5, with what was measured. No peers: each row is a ratio to its own first
 * column, or a bound.
 *
 *   node scripts/bench/log.ts [--resources 10000] [--versions 20] [--publishes 40] [--only growth|readers|many]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv } from 'zx';
import { checkConfig } from '../../src/config/load-config.ts';
import { resourceRef, type Resource } from '../../src/model/resource.ts';
import { openRegistry } from '../../src/open.ts';
import { readAudit } from '../../src/registry/audit.ts';
import { newResource } from '../../src/registry/change-resource.ts';
import { publish } from '../../src/registry/publish.ts';
import { readableResources, readReadable } from '../../src/registry/readable.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { createUpload } from '../../src/source/upload.ts';
import type { Bucket } from '../../src/store/bucket.ts';
import { openFsBucket } from '../../src/store/fs.ts';
import { createRefs, type Refs } from '../../src/store/refs.ts';
import { fill, fillOrganization } from './fill.ts';

const resources = Number(argv['resources'] ?? 10_000);
const versionsEach = Number(argv['versions'] ?? 20);
const publishes = Number(argv['publishes'] ?? 40);
const only = argv['only'] === undefined ? null : String(argv['only']);
const author = { actor: 'operator:bench', origin: null };
const change = { ...author, action: 'fill' };
const folder = await mkdtemp(join(tmpdir(), 'stele-bench-'));

try {
  const rows = { growth, readers, many };
  for (const [name, measure] of Object.entries(rows)) if (only === null || only === name) await measure();
} finally {
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

/** CPU and bytes of a publish into a resource that has few, and many, versions. */
async function growth(): Promise<void> {
  const registry = await openRegistry(
    checkConfig({ log: { level: 'silent' } }, { base: folder, data: join(folder, 'a') }),
  );
  const written = countBytes(registry.bucket);
  const counts = [10, 1000, 20_000];
  const results = counts.map(() => ({ cpu: [] as number[], bytes: [] as number[] }));
  // Each has a log of its own, so that it pays for its own versions only.
  const coordinates = counts.map((count) => ({ org: `acme-${count}`, type: 'apis' as const, slug: 'pay' }));
  for (const [at, coordinate] of coordinates.entries()) {
    await fill(registry.refs, newResource(registry, coordinate, { name: 'A', visibility: 'public' }), counts[at]!);
  }
  // In turn, and the first ones are not counted.
  for (let index = -5; index < publishes; index++) {
    for (const [at, coordinate] of coordinates.entries()) {
      const info = { title: 'Pay', version: `9.${at}.${index + 5}` };
      const text = JSON.stringify({ openapi: '3.1.0', info, paths: {} });
      const before = written();
      const started = process.cpuUsage();
      await publish(registry, {
        coordinate,
        snapshot: createUpload('a.json', Buffer.from(text)),
        entry: 'a.json',
        version: null,
        onConflict: 'reject',
        latest: true,
        dryRun: false,
        create: null,
        author,
      });
      const { user, system } = process.cpuUsage(started);
      if (index < 0) continue;
      results[at]!.cpu.push((user + system) / 1000);
      results[at]!.bytes.push(written() - before);
    }
  }
  await registry.close();
  const medians = results.map(({ cpu, bytes }) => ({ cpu: median(cpu), bytes: median(bytes) }));
  const [first] = medians;
  print(
    'publish into 10 / 1,000 / 20,000 versions: CPU of this process',
    medians.map(({ cpu }) => `${cpu.toFixed(1)} ms`),
  );
  print(
    '  … ratio to the first (goal 1.2)',
    medians.map(({ cpu }) => (cpu / first!.cpu).toFixed(2)),
  );
  print(
    '  … bytes written',
    medians.map(({ bytes }) => String(bytes)),
  );
  print(
    '  … ratio to the first (goal 1.2)',
    medians.map(({ bytes }) => (bytes / first!.bytes).toFixed(2)),
  );
}

/** Reads of a resource with a long history against reads of an absent name. */
async function readers(): Promise<void> {
  const bucket = await openFsBucket(join(folder, 'b'));
  const { refs, registry } = bare(bucket);
  const coordinate = { org: 'acme', type: 'apis' as const, slug: 'old' };
  const absent = { ...coordinate, slug: 'absent' };
  for (let index = 0; index < 1500; index++) {
    await refs.update<Resource>(resourceRef(coordinate), (current) => ({
      value: { ...(current?.value ?? newResource(registry, coordinate, { name: 'A' })), description: String(index) },
      change,
    }));
  }
  const anonymous = { kind: 'anonymous' } as const;
  for (const isCold of [false, true]) {
    const times: [number[], number[]] = [[], []];
    for (let index = 0; index < (isCold ? 400 : 4000); index++) {
      const which = Math.random() < 0.5 ? 0 : 1;
      const reader = isCold ? bare(bucket).registry : registry;
      const started = performance.now();
      await readReadable(reader, anonymous, which === 0 ? coordinate : absent);
      times[which]!.push(performance.now() - started);
    }
    const statistic = kolmogorovSmirnov(times[0], times[1]);
    const [n, m] = [times[0].length, times[1].length];
    const critical = 1.358 * Math.sqrt((n + m) / (n * m));
    print(`${isCold ? 'cold' : 'warm'} read, private with 1,500 changes against absent: KS (critical value at 5 %)`, [
      `${statistic.toFixed(3)} (${critical.toFixed(3)})`,
      `${median(times[0]).toFixed(3)} and ${median(times[1]).toFixed(3)} ms`,
    ]);
  }
}

/** Lists, audit, quiet and start with many resources. */
async function many(): Promise<void> {
  const bucket = await openFsBucket(join(folder, 'c'));
  const { refs, registry } = bare(bucket);
  const filled = performance.now();
  const make = (slug: string) =>
    newResource(registry, { org: 'acme', type: 'apis', slug }, { name: slug, visibility: 'public' });
  await fillOrganization(refs, make, { resources, versions: versionsEach });
  print(`filled ${resources} resources with ${versionsEach} versions each`, [`${seconds(filled)} s`]);
  const principal = { kind: 'operator', id: 'bench' } as const;
  const page = await cpuOf(async () => {
    let count = 0;
    for await (const _ of readableResources(registry, principal, 'acme', 'apis', `api-00${resources / 2000}`)) {
      if (++count === 100) break;
    }
  });
  print('page of 100 resources (goal 50 ms CPU)', [`${page.toFixed(2)} ms`]);
  const changes = Math.max(0, 100_000 - resources);
  for (let from = 0; from < changes; from += 1000) {
    await Promise.all(
      Array.from({ length: 1000 }, (_, index) =>
        refs.update<number>(`repositories/acme/r${(from + index) % 997}`, (current) => ({
          value: (current?.value ?? 0) + 1,
          change: { ...change, actor: `key:${index % 50}` },
        })),
      ),
    );
  }
  const audit = () =>
    cpuOf(async () => {
      let count = 0;
      for await (const _ of readAudit(registry, 'acme', { actor: 'operator:bench' })) if (++count === 100) break;
    });
  print('audit by actor, 100,000 changes: first, then (goal 50 ms CPU)', [
    `${(await audit()).toFixed(0)} ms`,
    `${(await audit()).toFixed(1)} ms`,
  ]);
  const calls = countCalls(bucket);
  const quiet = bare(bucket);
  await quiet.refs.read('resources/acme/apis/api-000001');
  const before = calls();
  for (let index = 0; index < 2000; index++)
    await quiet.refs.read(`resources/acme/apis/api-${String(index).padStart(6, '0')}`);
  await new Promise((resolve) => setTimeout(resolve, 600));
  for (let index = 0; index < 2000; index++)
    await quiet.refs.read(`resources/acme/apis/api-${String(index).padStart(6, '0')}`);
  print('nothing new, 4,000 reads over half a second: calls of the store (goal 1 get)', [String(calls() - before)]);
  await new Promise((resolve) => setTimeout(resolve, 3000));
  globalThis.gc?.();
  const memory = process.memoryUsage().rss;
  const started = performance.now();
  const fresh = bare(bucket);
  await fresh.refs.read('resources/acme/apis/api-000001');
  print(`start with ${resources} × ${versionsEach} (goal 2 s)`, [
    `${seconds(started)} s`,
    `${Math.round((process.memoryUsage().rss - memory) / 1e6)} MB more in a process of ${Math.round(memory / 1e6)} MB`,
  ]);
}

function bare(bucket: Bucket): { refs: Refs; registry: Registry } {
  let count = 0;
  const refs = createRefs(bucket, {
    now: () => new Date(),
    monotonic: () => performance.now(),
    uniqueId: () => `bench-${process.pid}-${++count}`,
    failed: (error) => console.error(error),
  });
  const config = checkConfig({}, { base: folder, data: folder });
  return { refs, registry: { refs, config, now: () => new Date(), log: () => undefined } as unknown as Registry };
}

function countBytes(bucket: Bucket): () => number {
  let bytes = 0;
  const { putIfAbsent } = bucket;
  bucket.putIfAbsent = (key, content) => {
    bytes += content.byteLength;
    return putIfAbsent(key, content);
  };
  return () => bytes;
}

function countCalls(bucket: Bucket): () => number {
  let calls = 0;
  const { get, list } = bucket;
  bucket.get = (key) => (calls++, get(key));
  bucket.list = (...given) => (calls++, list(...given));
  return () => calls;
}

async function cpuOf(work: () => Promise<void>): Promise<number> {
  const started = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000;
}

/** The largest distance between two empirical distributions. */
function kolmogorovSmirnov(a: number[], b: number[]): number {
  const [x, y] = [a.toSorted((p, q) => p - q), b.toSorted((p, q) => p - q)];
  let [i, j, largest] = [0, 0, 0];
  while (i < x.length && j < y.length) {
    if (x[i]! <= y[j]!) i++;
    else j++;
    largest = Math.max(largest, Math.abs(i / x.length - j / y.length));
  }
  return largest;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

function seconds(started: number): string {
  return ((performance.now() - started) / 1000).toFixed(2);
}

function print(what: string, figures: string[]): void {
  console.log(`${what}: ${figures.join(' | ')}`);
}
