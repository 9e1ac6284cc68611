/**
 * Runs garbage collection every second beside publishers on one folder, with a grace period and a quarantine of a few seconds. The publishers
 * leave garbage, as publishes that are killed do, publish the same bytes again some seconds later, and withdraw. Checks after each publish and at the
 * end that every version that is not withdrawn can be read byte by byte, and that garbage was deleted.
 *
 *   node scripts/faults/gc.ts [--seconds 60] [--publishers 4] [--seed 1]
 *
 * Exit code 1: one of that did not hold.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { argv, echo, tmpdir } from 'zx';
import { parseCoordinate } from '../../src/model/address.ts';
import { digestOf } from '../../src/model/digest.ts';
import { isRegistryError } from '../../src/model/errors.ts';
import { type Manifest, findLayer } from '../../src/model/artifact.ts';
import { changeStatus } from '../../src/registry/change-version.ts';
import { fsck } from '../../src/registry/fsck.ts';
import { collectGarbage, type Collected } from '../../src/registry/maintenance/gc.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { readJson, readObject } from '../../src/registry/stored.ts';
import { createObjects } from '../../src/store/objects.ts';
import { publishVersion } from '../../test/server/registry.ts';
import { openFolderRegistry } from './operations.ts';

const seconds = Number(argv['seconds'] ?? 60);
const publishers = Number(argv['publishers'] ?? 4);
let seed = Number(argv['seed'] ?? 1);
const folder = tmpdir();
const wrong: string[] = [];
const author = { actor: 'operator:faults', origin: null };
const end = performance.now() + seconds * 1000;
const isOver = () => performance.now() > end;

/** A number from 0 to below `most`; a linear congruential generator. */
function random(most: number): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((seed / 2 ** 32) * most);
}

/** What was acknowledged: the manifest and the digest of the document by coordinate. */
const acknowledged = new Map<string, { manifest: `sha256:${string}`; digest: string }>();
const counts = { published: 0, withdrawn: 0, left: 0, read: 0, runs: 0 };

/** Reads a version as another process would: past every cache. */
async function check(registry: Registry, name: string): Promise<void> {
  const known = acknowledged.get(name);
  if (known === undefined) return;
  const fresh = { objects: createObjects(registry.bucket, { cacheBytes: 1 }) };
  try {
    const manifest = await readJson<Manifest>(fresh, known.manifest, known.manifest);
    const { digest } = findLayer(manifest, 'json', 'identity')!;
    const bytes = await readObject(fresh, digest, known.manifest);
    if (digestOf(bytes) !== known.digest) wrong.push(`${name} has other bytes`);
    counts.read++;
  } catch (error) {
    // It may have been withdrawn meanwhile.
    if (acknowledged.has(name)) wrong.push(`${name} cannot be read: ${String(error)}`);
  }
}

async function publishOne(registry: Registry, name: string, content: object): Promise<void> {
  const { version, text } = await publishVersion(registry, name, '1.0.0', { document: content });
  acknowledged.set(`${name}@1.0.0`, { manifest: version.manifest, digest: digestOf(text) });
  await check(registry, `${name}@1.0.0`);
}

/** Stores the bytes of a publish and does not commit it. */
async function leave(registry: Registry, name: string, content: object): Promise<void> {
  const refs: Registry['refs'] = {
    ...registry.refs,
    async update() {
      throw new Error('killed');
    },
  };
  await publishVersion({ ...registry, refs }, name, '1.0.0', { document: content }).catch((error: unknown) => {
    if (!(error as Error).message.includes('killed')) throw error;
  });
}

async function publisher(number: number): Promise<void> {
  const registry = await openFolderRegistry(folder);
  for (let round = 0; !isOver(); round++) {
    const name = `@acme/apis/api-${number}-${round}`;
    // Of every kind some have a layer that is an object of its own.
    const content = { filler: `${number} ${round} `.repeat([10, 10, 8000, 50_000, 400_000][random(5)]!) };
    const kind = random(4);
    if (kind < 3) {
      await leave(registry, name, content);
      counts.left++;
    }
    // Some are never published: they are garbage.
    if (kind === 0) continue;
    await sleep(random(4000));
    await publishOne(registry, name, content);
    counts.published++;
    if (kind === 1) {
      // The same bytes under another name, and the first withdrawn.
      const withdrawn = `${name}@1.0.0`;
      await sleep(random(1000));
      acknowledged.delete(withdrawn);
      const { coordinate } = parseCoordinate(name)!;
      await changeStatus(registry, coordinate, '1.0.0', { state: 'withdrawn', reason: 'fault' }, author);
      counts.withdrawn++;
    }
  }
}

async function collector(): Promise<Collected> {
  const registry = await openFolderRegistry(folder);
  const total: Collected = { kept: 0, waiting: 0, quarantined: 0, bytes: 0, deleted: 0, broughtBack: 0 };
  // Some runs after the end take the rest.
  for (let late = 0; late < 8; late += isOver() ? 1 : 0) {
    await sleep(1000);
    try {
      const each = await collectGarbage(registry, { grace: 1000, quarantine: 3000 });
      for (const key of ['quarantined', 'bytes', 'deleted', 'broughtBack'] as const) total[key] += each[key];
      ({ kept: total.kept, waiting: total.waiting } = each);
      counts.runs++;
    } catch (error) {
      if (!isRegistryError(error)) throw error;
      wrong.push(`gc: ${error.message}`);
    }
  }
  return total;
}

const working = Promise.all(Array.from({ length: publishers }, (_, number) => publisher(number)));
const [total] = await Promise.all([collector(), working]);
const registry = await openFolderRegistry(folder);
for (const name of acknowledged.keys()) await check(registry, name);
wrong.push(...(await fsck(registry)).damages.map(({ key, detail }) => `${key}: ${detail}`));
if (total.deleted === 0) wrong.push('no garbage was deleted');
echo(JSON.stringify({ ...counts, ...total }));
echo(wrong.length === 0 ? 'No live object was deleted.' : wrong.slice(0, 40).join('\n'));
if (wrong.length > 0) process.exitCode = 1;
