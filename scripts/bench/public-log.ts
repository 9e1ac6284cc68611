/**
 * What the public log costs: a log of a million leaves on a disk (its bytes, and the time to a checkpoint, a proof
 * and a start), and publishing with a log beside publishing without one, by turns.
 *
 *   node scripts/bench/public-log.ts [--leaves 1000000] [--publishes 200]
 */
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { argv } from 'zx';
import { checkConfig } from '../../src/config/load-config.ts';
import { encodeLeaf } from '../../src/model/transparency/leaf.ts';
import { isIncluded, leafHash, proveInclusion, rootOf } from '../../src/model/transparency/tree.ts';
import { openRegistry } from '../../src/open.ts';
import { publish } from '../../src/registry/publish.ts';
import { keepLog } from '../../src/registry/transparency/public-log.ts';
import { createUpload } from '../../src/source/upload.ts';
import { openFsBucket } from '../../src/store/fs.ts';
import { openTreeLog } from '../../src/store/tree/tree-log.ts';

const leaves = Number(argv['leaves'] ?? 1_000_000);
const publishes = Number(argv['publishes'] ?? 200);
const folder = await mkdtemp(join(tmpdir(), 'stele-bench-'));

const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!;

async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const begin = performance.now();
  return [await work(), performance.now() - begin];
}

async function bytesBelow(path: string): Promise<{ bytes: number; blocks: number }> {
  const all = await Promise.all(
    (await readdir(path, { withFileTypes: true, recursive: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => stat(join(entry.parentPath, entry.name))),
  );
  return {
    bytes: all.reduce((sum, { size }) => sum + size, 0),
    blocks: all.reduce((sum, { blocks }) => sum + blocks * 512, 0),
  };
}

async function measureTree(): Promise<void> {
  const path = join(folder, 'tree');
  const at = '2026-11-27T12:00:00.000Z';
  const leafOf = (number: number): Buffer => {
    const digest = `sha256:${String(number).padStart(64, '0')}` as const;
    const coordinate = `@organization-${number % 1000}/apis/service-${number % 10_000}`;
    return encodeLeaf({ event: 'published', coordinate, label: `1.${Math.floor(number / 10_000)}.0`, digest, at });
  };
  const tree = await openTreeLog(await openFsBucket(path));
  const atOnce = 256 * 16;
  const [, filled] = await timed(async () => {
    for (let from = 0; from < leaves; from += atOnce) {
      const some = Array.from({ length: Math.min(atOnce, leaves - from) }, (_, index) => leafOf(from + index));
      if (
        !(await tree.append(some, {
          decidedOn: tree.cursors(),
          cursors: new Map([['acme', { entry: from + some.length, digest: null }]]),
          at,
        }))
      )
        throw new Error('Another process wrote.');
    }
  });
  const { bytes, blocks } = await bytesBelow(path);
  const [again, opened] = await timed(async () => {
    const fresh = await openTreeLog(await openFsBucket(path));
    await fresh.refresh();
    return fresh;
  });
  const [root, first] = await timed(() => rootOf(again.nodes(leaves), leaves));
  const proofs: number[] = [];
  for (let count = 0; count < 200; count++) {
    const index = Math.floor((count * leaves) / 200);
    const [proof, time] = await timed(() => proveInclusion(again.nodes(leaves), index, leaves));
    if (!isIncluded({ index, size: leaves, root }, leafHash(leafOf(index)), proof)) throw new Error('No proof.');
    proofs.push(time);
  }
  console.log(
    `${leaves} leaves: appended in ${(filled / 1000).toFixed(1)} s; ${(bytes / leaves).toFixed(0)} bytes a leaf (${(blocks / leaves).toFixed(0)} on the disk);`,
    `opened in ${opened.toFixed(0)} ms; root of a new checkpoint ${first.toFixed(1)} ms; proof ${median(proofs).toFixed(2)} ms (median), ${Math.max(...proofs).toFixed(1)} ms (longest)`,
  );
}

/** Processor time of this process for each publish, in milliseconds. */
async function publishTime(name: string, hasLog: boolean): Promise<number> {
  const base = join(folder, name);
  const url = hasLog ? { url: 'https://registry.test' } : {};
  const config = checkConfig({ ...url, log: { level: 'silent' } }, { base, data: join(base, 'data') });
  const registry = await openRegistry(config, undefined, { hasSpare: true });
  const log = await keepLog(registry, 1000);
  const put = (number: number) => {
    const text = `openapi: 3.1.0\ninfo: {title: Pay, version: "1.${number}.0"}\npaths: {}\n# ${'x'.repeat(5000)}\n`;
    return publish(registry, {
      coordinate: { org: 'acme', type: 'apis', slug: `api-${number % 20}` },
      snapshot: createUpload('a.yaml', Buffer.from(text)),
      entry: 'a.yaml',
      version: null,
      onConflict: 'reject',
      latest: true,
      dryRun: false,
      create: { visibility: 'public' },
      author: { actor: 'operator:bench', origin: null },
    });
  };
  for (let number = 0; number < 20; number++) await put(number);
  const before = process.cpuUsage();
  for (let number = 20; number < 20 + publishes; number++) await put(number);
  await log?.close();
  const { user, system } = process.cpuUsage(before);
  await registry.close();
  return (user + system) / 1000 / publishes;
}

await measureTree();
const [without, withLog]: [number[], number[]] = [[], []];
for (let round = 0; round < 5; round++) {
  without.push(await publishTime(`without-${round}`, false));
  withLog.push(await publishTime(`with-${round}`, true));
}
console.log(
  `a publish of 5 KB in the server's process: ${median(without).toFixed(2)} ms without a log, ${median(withLog).toFixed(2)} ms with one:`,
  `${(median(withLog) / median(without)).toFixed(3)} (medians of five by turns)`,
);
await rm(folder, { recursive: true, force: true });
