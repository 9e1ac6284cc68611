import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { digestOf } from '../../src/model/digest.ts';
import type { Resource, Version } from '../../src/model/resource.ts';
import { fsck } from '../../src/registry/fsck.ts';
import { type Repaired, repairStore } from '../../src/registry/maintenance/repair.ts';
import { newId, type Registry } from '../../src/registry/registry.ts';
import { listAll, type Bucket } from '../../src/store/bucket.ts';
import { openFsBucket } from '../../src/store/fs.ts';
import { entryKey } from '../../src/store/log/entry.ts';
import { createMemoryBucket, type MemoryBucket } from '../memory-store.ts';
import { createObjects, objectKey } from '../../src/store/objects.ts';
import { createRefs } from '../../src/store/refs.ts';
import { createTestRegistry, publishVersion } from '../server/registry.ts';

type Files = ReadonlyMap<string, Uint8Array>;

const author = { actor: 'operator:test', origin: null };
const plain = createTestRegistry();
/** A sound store: the API one in three versions with large documents, and another organization. */
let files: Files;

beforeAll(async () => {
  for (const version of ['1.0.0', '1.1.0', '1.2.0']) {
    const filler = version.repeat(440_000);
    await publishVersion(plain, '@acme/apis/one', version, { document: { filler } });
    await publishVersion(plain, '@beta/apis/two', version);
  }
  files = await filesOf(plain.bucket);
});

async function filesOf(bucket: Bucket): Promise<Files> {
  const found = new Map<string, Uint8Array>();
  for await (const key of listAll(bucket, '')) found.set(key, (await bucket.get(key))!);
  return found;
}

/** Each file as a digest: quick to compare. */
async function textsOf(bucket: Bucket): Promise<Record<string, string>> {
  return Object.fromEntries([...(await filesOf(bucket))].map(([key, bytes]) => [key, digestOf(bytes)]));
}

async function bucketOf(from: Files): Promise<MemoryBucket> {
  const bucket = createMemoryBucket();
  for (const [key, bytes] of from) await bucket.putIfAbsent(key, bytes);
  return bucket;
}

function openOn(bucket: Bucket): Registry {
  const refs = createRefs(bucket, { ...plain, uniqueId: () => newId(plain), maxAge: 0 });
  return { ...plain, bucket, objects: createObjects(bucket), refs };
}

const flipped = (bytes: Uint8Array) => bytes.map((byte, index) => (index === bytes.length >> 1 ? byte ^ 1 : byte));

/** A store in which these keys are damaged: every other one is deleted. */
function damagedFiles(keys: readonly string[]): Files {
  const damaged = new Map(files);
  for (const [index, key] of keys.entries()) {
    if (index % 2 === 0) damaged.set(key, flipped(files.get(key)!));
    else damaged.delete(key);
  }
  return damaged;
}

const keysIn = (prefix: string) => [...files.keys()].filter((key) => key.startsWith(prefix));

async function repaired(on: Bucket, from: Bucket | null, giveUp = false): Promise<Repaired[]> {
  const done: Repaired[] = [];
  const options = { from, giveUp, author, report: (each: Repaired) => void done.push(each) };
  await repairStore(openOn(on), () => fsck(openOn(on)), options);
  return done;
}

const damagesIn = async (bucket: Bucket) => (await fsck(openOn(bucket))).damages;
const sorted = (keys: Iterable<string>) => [...keys].sort();

test('everything that is damaged is as it was again, out of a copy', async () => {
  const keys = [...keysIn('objects/'), ...keysIn('packs/'), entryKey('@acme', 1), entryKey('@acme', 3)];
  const bucket = await bucketOf(damagedFiles(keys));
  const done = await repaired(bucket, await bucketOf(files));
  expect(sorted(done.map(({ what }) => what))).toEqual(sorted(keys));
  expect(new Set(done.map(({ outcome }) => outcome))).toEqual(new Set(['repaired']));
  expect(await textsOf(bucket)).toEqual(await textsOf(await bucketOf(files)));
});

test('the newest entries of a log that were lost are written again', async () => {
  const lost = [entryKey('@acme', 2), entryKey('@acme', 3)];
  const bucket = await bucketOf(
    new Map([...files].filter(([key]) => !lost.includes(key) && key !== keysIn('packs/')[0])),
  );
  await repaired(bucket, await bucketOf(files));
  expect(await textsOf(bucket)).toEqual(await textsOf(await bucketOf(files)));
});

test('without a copy nothing is touched, and each damage is reported', async () => {
  const keys = [...keysIn('objects/').slice(0, 2), keysIn('packs/')[0]!, entryKey('@acme', 2)];
  const bucket = await bucketOf(damagedFiles(keys));
  const before = await textsOf(bucket);
  const done = await repaired(bucket, null);
  expect(new Set(done.map(({ outcome }) => outcome))).toEqual(new Set(['left']));
  expect(done.find(({ what }) => what === entryKey('@acme', 2))!.detail).toContain('--to @acme:1');
  expect(await textsOf(bucket)).toEqual(before);
});

test('what is given up is withdrawn with a reason, and nothing else', async () => {
  const one = (await plain.refs.read<Resource>('resources/acme/apis/one'))!.value.versions.at(-1)!;
  const pack = keysIn('packs/').find((key) => key.endsWith(one.manifest.slice(9)))!;
  const bytes = Buffer.from(files.get(pack)!);
  const bucket = await bucketOf(new Map(files).set(pack, bytes.with(bytes.indexOf('schemaVersion'), 0)));
  const done = await repaired(bucket, null, true);
  expect(done).toEqual([
    { outcome: 'given up', what: '@acme/apis/one@1.2.0', detail: `Withdrawn, because ${one.manifest} is lost.` },
    { outcome: 'given up', what: pack, detail: 'Deleted, because it is damaged.' },
  ]);
  const registry = openOn(bucket);
  const { value, action, actor } = (await registry.refs.read<Resource>('resources/acme/apis/one'))!;
  expect([value.latest, actor]).toEqual(['1.1.0', 'operator:test']);
  expect(action).toContain('withdraw 1.2.0');
  expect(value.versions.map(({ status }) => status.state)).toEqual(['active', 'active', 'withdrawn']);
  expect(value.versions[2]!.status).toMatchObject({ reason: expect.stringContaining('lost') });
  expect((await registry.refs.read<Resource>('resources/beta/apis/two'))!.generation).toBe(3);
  expect(await damagesIn(bucket)).toEqual([]);
  await publishVersion(registry, '@acme/apis/one', '2.0.0');
});

test('a lost comparison is removed from the record of its version, which stays', async () => {
  const { value } = (await plain.refs.read<Resource>('resources/acme/apis/one'))!;
  const { digest } = value.versions[1]!.changes!;
  const key = objectKey(digest);
  const lost = new Map(files);
  lost.delete(key);
  for (const broken of [lost, new Map(files).set(key, flipped(files.get(key)!))]) {
    const bucket = await bucketOf(broken);
    const done = await repaired(bucket, null, true);
    expect(done.filter(({ outcome }) => outcome === 'left')).toEqual([]);
    expect(done.map(({ what }) => what)).toContain('@acme/apis/one@1.1.0');
    const after = (await openOn(bucket).refs.read<Resource>('resources/acme/apis/one'))!.value;
    expect(after.versions.map(({ changes }) => changes?.digest)).not.toContain(digest);
    expect(after).toEqual({ ...value, versions: value.versions.map(withoutComparison) });
    expect(await damagesIn(bucket)).toEqual([]);
  }
  function withoutComparison({ changes, ...version }: Version): Version {
    return { ...version, ...(changes && changes.digest !== digest && { changes }) };
  }
});

test('what is in quarantine is brought back', async () => {
  const [key] = keysIn('objects/') as [string];
  const moved = new Map(files);
  moved.delete(key);
  const bucket = await bucketOf(moved.set(`quarantine/${key}`, files.get(key)!));
  expect(await repaired(bucket, null)).toEqual([
    { outcome: 'repaired', what: key, detail: 'Replaced from quarantine.' },
  ]);
  expect(await damagesIn(bucket)).toEqual([]);
});

test('damage of the copy is not copied, and another store is not taken for a copy', async () => {
  const other = createTestRegistry();
  for (const version of ['1.0.0', '1.1.0', '1.2.0']) await publishVersion(other, '@acme/apis/one', version);
  const theirs = await other.bucket.list('objects/');
  const key = keysIn('objects/').find((each) => !theirs.includes(each))!;
  const bucket = await bucketOf(damagedFiles([key, entryKey('@acme', 2)]));
  const copy = await bucketOf(damagedFiles([key]));
  for (const from of [copy, other.bucket]) {
    const done = await repaired(bucket, from);
    expect(done.find(({ what }) => what === key)).toMatchObject({ outcome: 'left' });
    expect(Buffer.from((await bucket.get(key))!).equals(flipped(files.get(key)!))).toBe(true);
  }
  expect(await bucket.get(entryKey('@acme', 2))).toEqual(files.get(entryKey('@acme', 2)));
});

test('a folder in the place of an object is left, and the repair ends', async () => {
  const root = await mkdtemp(join(tmpdir(), 'stele-repair-'));
  try {
    const bucket = await openFsBucket(root);
    const [key] = keysIn('objects/');
    for (const [each, bytes] of files) if (each !== key) await bucket.putIfAbsent(each, bytes);
    await mkdir(join(root, key!), { recursive: true });
    const done = await repaired(bucket, await bucketOf(files));
    expect(done).toEqual([{ outcome: 'left', what: key, detail: expect.stringContaining('Move it away') as string }]);
  } finally {
    await rm(root, { recursive: true });
  }
});
