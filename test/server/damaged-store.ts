import { encodeLeaf } from '../../src/model/transparency/leaf.ts';
import { publicLogOf } from '../../src/registry/transparency/public-log.ts';
import { batchesFolder, tilesFolder, treeName } from '../../src/store/tree/batch.ts';
import { openTreeLog } from '../../src/store/tree/tree-log.ts';
import { createKey } from '../../src/registry/keys/keys.ts';
import { performOnce } from '../../src/registry/idempotency.ts';
import { createAnswerCache } from '../../src/registry/answer-cache.ts';
import { newId, type Registry } from '../../src/registry/registry.ts';
import { digestOf } from '../../src/model/digest.ts';
import { encodeJson } from '../../src/model/json.ts';
import type { Resource } from '../../src/model/resource.ts';
import { listAll, type Bucket } from '../../src/store/bucket.ts';
import { assertFormat } from '../../src/store/format.ts';
import { entryKey } from '../../src/store/log/entry.ts';
import { headKey } from '../../src/store/log/heads.ts';
import { createMemoryCache, createMemoryBucket, type MemoryBucket } from '../memory-store.ts';
import { createObjects, objectKey, packKey } from '../../src/store/objects.ts';
import { keepPreview } from '../../src/store/previews.ts';
import { createRefs } from '../../src/store/refs.ts';
import { createTestRegistry, publishVersion } from './registry.ts';

// A store with each kind of key, for tests that damage it. `scripts/faults/damage.ts` does so at large.

export type Files = ReadonlyMap<string, Uint8Array>;

/** What happens to a key: its bytes are gone, empty, those of another key, exchanged with those, cut in half, or one bit is another. */
export const damages = ['delete', 'empty', 'duplicate', 'swap', 'truncate', 'flip'] as const;
export type Damage = (typeof damages)[number];

export const kindsOfKeys = [
  'pack',
  'large object',
  'comparison',
  'first entry',
  'entry in the middle',
  'newest entry',
  'newest entry of registry',
  'head',
  'answer',
  'preview',
  'larger preview',
  'part of a preview',
  'batch of the public log',
  'newest batch of the public log',
  'bundle of the public log',
  'head of the public log',
] as const;
type Pair = [key: string, other: string];

export async function filesOf(bucket: Bucket): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>();
  for await (const key of listAll(bucket, '')) files.set(key, (await bucket.get(key))!);
  return files;
}

export async function bucketOf(files: Files): Promise<MemoryBucket> {
  const bucket = createMemoryBucket();
  for (const [key, bytes] of files) await bucket.putIfAbsent(key, bytes);
  return bucket;
}

export interface OpenedStore extends Registry {
  refs: ReturnType<typeof createRefs>;
}

const made = createTestRegistry({ rateLimit: { address: 1e9 }, url: 'https://registry.test' });
const plain = { ...made, config: { ...made.config, store: { kind: 'fs', path: '/nowhere' } as const } };

/** A process on a bucket. `monotonic`: its clock. */
export function openStore(bucket: Bucket, monotonic = () => performance.now()): OpenedStore {
  const options = { ...plain, monotonic, uniqueId: () => newId(plain), maxAge: 0, headEvery: 3_600_000 };
  const refs = createRefs(bucket, options);
  return {
    ...plain,
    cache: createMemoryCache(),
    monotonic,
    bucket,
    objects: createObjects(bucket),
    refs,
    answers: createAnswerCache(refs),
  };
}

export const author = { actor: 'operator:test', origin: null };

/** Publishes a version of `@acme/apis/one` as the answer to a request that can be repeated. */
export function publishOnce(registry: Registry, label: string): Promise<{ answer: string; isReplay: boolean }> {
  const request = { org: 'acme', actor: 'key:a', key: label, request: digestOf(label), secret: 'secret' };
  return performOnce(registry, request, async () => {
    const { version } = await publishVersion(registry, '@acme/apis/one', label, { document: fillerOf(label) });
    return version.label;
  });
}

/** The plain bytes of the second version are too large for its pack. */
const fillerOf = (label: string) => (label === '1.1.0' ? { 'x-long': label.repeat(440_000) } : { 'x-label': label });

/** A store, and of each kind one key to damage with another of the same kind. */
export async function createDamageable(): Promise<{ files: Files; kinds: Record<(typeof kindsOfKeys)[number], Pair> }> {
  const registry = openStore(createMemoryBucket());
  await assertFormat(registry.bucket);
  const manifests: string[] = [];
  const comparisons: string[] = [];
  for (const label of ['1.0.0', '1.1.0', '1.2.0']) {
    await publishOnce(registry, label);
    const { value } = (await registry.refs.read<Resource>('resources/acme/apis/one'))!;
    const { manifest, changes } = value.versions.at(-1)!;
    manifests.push(packKey(manifest));
    if (changes) comparisons.push(objectKey(changes.digest));
  }
  await publishVersion(registry, '@beta/apis/two', '1.0.0');
  await createKey(registry, { org: 'acme', name: 'k', scopes: ['read'] }, author);
  await registry.refs.settle();
  for (const text of ['one', 'another'])
    await keepPreview(registry, 'acme', 7, encodeJson({ text }), new Map([[digestOf(text), Buffer.from(text)]]));
  await fillLog(registry.bucket);
  const files = await filesOf(registry.bucket);
  const keysIn = (prefix: string) => [...files.keys()].filter((key) => key.startsWith(prefix));
  const bySize = (prefix: string) => keysIn(prefix).sort((a, b) => files.get(a)!.byteLength - files.get(b)!.byteLength);
  const large = bySize('objects/').toReversed();
  const previews = bySize('previews/').filter((key) => key.split('-').length === 4);
  const acme = (sequence: number) => entryKey('@acme', sequence);
  const pairOf = ([one, other]: readonly string[]): Pair => [one!, other!];
  const kinds: Record<(typeof kindsOfKeys)[number], Pair> = {
    pack: [manifests[0]!, manifests[2]!],
    'large object': pairOf(large),
    comparison: pairOf(comparisons),
    'first entry': [acme(1), acme(3)],
    'entry in the middle': [acme(2), acme(3)],
    'newest entry': [acme(3), acme(2)],
    'newest entry of registry': [entryKey('registry', 3), entryKey('registry', 2)],
    head: [headKey({ log: '@acme', sequence: 3 }), headKey({ log: 'registry', sequence: 3 })],
    answer: pairOf(keysIn('work/idempotency/')),
    // By size: their names are random, and the byte that is flipped is another in each: one of the JSON, or one of a text.
    preview: pairOf(previews),
    'larger preview': pairOf(previews.toReversed()),
    'part of a preview': pairOf(bySize('previews/').filter((key) => !previews.includes(key))),
    'batch of the public log': pairOf(keysIn(batchesFolder).sort()),
    'newest batch of the public log': pairOf(keysIn(batchesFolder).sort().toReversed()),
    'bundle of the public log': pairOf(keysIn(tilesFolder).concat(keysIn(batchesFolder))),
    'head of the public log': [keysIn(`work/heads/${treeName}/`)[0]!, headKey({ log: 'registry', sequence: 3 })],
  };
  return { files, kinds };
}

/** Brings what is public into the public log, with so many leaves beside that a bundle is full, and signs it. */
export async function fillLog(bucket: Bucket): Promise<void> {
  const at = '2026-11-28T12:00:00.000Z';
  const leaf = encodeLeaf({ event: 'latest', coordinate: '@acme/apis/filler', label: null, at });
  const log = (await publicLogOf(openStore(bucket)))!;
  await log.update();
  const tree = await openTreeLog(bucket);
  await tree.append(Array.from({ length: 260 }, () => leaf), { decidedOn: tree.cursors(), cursors: new Map(), at }); // prettier-ignore
  await tree.noteHead();
}

/** Damages a key of a bucket. `at`: the byte that is changed, of those from 0 to 1. */
export async function damageKey(
  bucket: Bucket,
  [key, other]: readonly [string, string],
  how: Damage,
  at = 0.5,
): Promise<void> {
  const [bytes, theirs] = [(await bucket.get(key))!, (await bucket.get(other))!];
  const put = async (place: string, now: Uint8Array): Promise<void> => {
    await bucket.delete(place);
    await bucket.putIfAbsent(place, now);
  };
  if (how === 'delete') await bucket.delete(key);
  if (how === 'empty') await put(key, new Uint8Array());
  if (how === 'truncate') await put(key, bytes.subarray(0, bytes.byteLength >> 1));
  const flipped = Math.floor(at * bytes.byteLength);
  if (how === 'flip')
    await put(
      key,
      bytes.map((byte, index) => (index === flipped ? byte ^ 1 : byte)),
    );
  if (how === 'duplicate' || how === 'swap') await put(key, theirs);
  if (how === 'swap') await put(other, bytes);
}
