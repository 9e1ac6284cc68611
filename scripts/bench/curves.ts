/**
 * What grows with what: processor time against versions of a resource, resources of an organization, bytes of a document, and nodes that write one
 * log. `plots.ts` draws them.
 *
 *   node scripts/bench/curves.ts [--quick]
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv } from 'zx';
import { checkConfig } from '../../src/config/load-config.ts';
import { openRegistry } from '../../src/open.ts';
import { newResource } from '../../src/registry/change-resource.ts';
import { publish } from '../../src/registry/publish.ts';
import { readableResources } from '../../src/registry/readable.ts';
import { createUpload } from '../../src/source/upload.ts';
import { createMemoryBucket } from '../../test/memory-store.ts';
import { createRefs } from '../../src/store/refs.ts';
import { childrenTime } from '../load/processor-time.ts';
import { quantile } from '../load/quantile.ts';
import { fill, fillOrganization } from './fill.ts';
import type { Measured } from './history.ts';
import { reportResults } from './results.ts';
import { makeDocument } from './wire.ts';

const isQuick = argv['quick'] === true;
const repeats = isQuick ? 5 : 25;
const author = { actor: 'operator:bench', origin: null };
const change = { ...author, action: 'fill' };
const folder = await mkdtemp(join(tmpdir(), 'stele-bench-'));
const config = checkConfig({ log: { level: 'silent' } }, { base: folder, data: join(folder, 'data') });
const registry = await openRegistry(config, undefined, { hasSpare: true });
const results: Measured[] = [];

/** The first numbers, or all of them. */
const steps = (...all: number[]) => (isQuick ? all.slice(0, -1) : all);
for (const count of steps(10, 100, 1000, 10_000, 20_000)) await ofVersions(count);
for (const count of steps(100, 1000, 10_000, 30_000)) await ofResources(count);
for (const bytes of steps(1e3, 1e4, 1e5, 1e6, 5e6)) await ofBytes(bytes);
for (const nodes of steps(1, 2, 4, 8, 16)) await ofNodes(nodes);
await registry.close();
await rm(folder, { recursive: true, force: true });
await reportResults(results);
process.exit(0);

async function ofVersions(count: number): Promise<void> {
  const coordinate = { org: `versions-${count}`, type: 'apis' as const, slug: 'pay' };
  await fill(registry.refs, newResource(registry, coordinate, { name: 'Pay', visibility: 'public' }), count);
  const costs = await costsOf((index) => send(coordinate, makeDocument(1e3, `Edition ${index}`), `9.0.${index}`));
  add('publish by versions', count, quantile(costs.own, 0.5), 'ms of processor time of the server');
}

async function ofResources(count: number): Promise<void> {
  const org = `resources-${count}`;
  const make = (slug: string) =>
    newResource(registry, { org, type: 'apis', slug }, { name: slug, visibility: 'public' });
  await fillOrganization(registry.refs, make, { resources: count, versions: 1 });
  const published = await costsOf((index) =>
    send({ org, type: 'apis', slug: 'pay' }, makeDocument(1e3, `Edition ${index}`), `9.0.${index}`),
  );
  add('publish by resources', count, quantile(published.own, 0.5), 'ms of processor time of the server');
  const principal = { kind: 'operator', id: 'bench' } as const;
  const listed = await costsOf(async () => {
    let seen = 0;
    for await (const _ of readableResources(registry, principal, org, 'apis', 'api-000050')) if (++seen === 50) break;
  });
  add('list by resources', count, quantile(listed.own, 0.5), 'ms of processor time for 50 of them');
}

async function ofBytes(bytes: number): Promise<void> {
  const coordinate = { org: 'bytes', type: 'apis' as const, slug: `of-${bytes}` };
  const few = bytes >= 1e6 ? Math.ceil(repeats / 5) : repeats;
  const costs = await costsOf((index) => send(coordinate, makeDocument(bytes, `${index}`), `9.0.${index}`), few);
  add('publish by bytes', bytes, costs.all, 'ms of processor time, the sandbox included');
}

/** Nodes with one writer each change one log, in memory. */
async function ofNodes(nodes: number): Promise<void> {
  const bucket = createMemoryBucket();
  let serial = 0;
  const [now, monotonic, uniqueId] = [() => new Date(), () => performance.now(), () => `bench-${nodes}-${++serial}`];
  const all = Array.from({ length: nodes }, () =>
    createRefs(bucket, { now, monotonic, uniqueId, failed: (error) => console.error(error) }),
  );
  const each = isQuick ? 50 : 200;
  const before = process.cpuUsage();
  await Promise.all(
    all.map(async (refs, node) => {
      for (let index = 0; index < each; index++)
        await refs.update<number>(`repositories/acme/n${node}`, () => ({ value: index, change }));
    }),
  );
  const { user, system } = process.cpuUsage(before);
  add('change by nodes', nodes, (user + system) / 1000 / (nodes * each), 'ms of processor time of all nodes');
}

/** Milliseconds of processor time: of each repeat in this process, and on average with the sandboxes. */
async function costsOf(
  work: (index: number) => Promise<unknown>,
  count = repeats,
): Promise<{ own: number[]; all: number }> {
  const own: number[] = [];
  for (let index = -3; index < 0; index++) await work(index + 3);
  const [children, all] = [childrenTime(), process.cpuUsage()];
  for (let index = 3; index < count + 3; index++) {
    const before = process.cpuUsage();
    await work(index);
    const { user, system } = process.cpuUsage(before);
    own.push((user + system) / 1000);
  }
  const { user, system } = process.cpuUsage(all);
  return { own, all: ((user + system) / 1000 + (childrenTime() - children) * 1000) / count };
}

async function send(
  coordinate: { org: string; type: 'apis'; slug: string },
  text: string,
  version: string,
): Promise<void> {
  const snapshot = createUpload('a.json', Buffer.from(text));
  const given = { onConflict: 'reject', latest: true, dryRun: false, create: {}, author } as const;
  const { outcome } = await publish(registry, { coordinate, snapshot, entry: 'a.json', version, ...given });
  if (outcome !== 'published') throw new Error(`${coordinate.slug} ${version}: ${outcome}`);
}

function add(curve: string, x: number, value: number, seen: string): void {
  results.push({ row: `curve ${curve}`, x, value, seen });
}
