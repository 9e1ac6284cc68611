import { expect, test } from 'vitest';
import { parseCoordinate } from '../../src/model/address.ts';
import { digestOf, type Digest } from '../../src/model/digest.ts';
import { changeStatus } from '../../src/registry/change-version.ts';
import { fsck } from '../../src/registry/fsck.ts';
import { collectGarbage, type GcOptions } from '../../src/registry/maintenance/gc.ts';
import type { Version } from '../../src/model/resource.ts';
import { neededComparison, standingOf } from '../../src/registry/maintenance/references.ts';
import { newId, type Registry } from '../../src/registry/registry.ts';
import { listAll, type Bucket } from '../../src/store/bucket.ts';
import { entryKey } from '../../src/store/log/entry.ts';
import { createObjects, objectKey } from '../../src/store/objects.ts';
import { createRefs } from '../../src/store/refs.ts';
import { createTestRegistry, publishVersion } from '../server/registry.ts';

const author = { actor: 'operator:test', origin: null };
const hour = 60 * 60_000;
const options: GcOptions = { grace: hour, quarantine: 10 * hour };
const document = { info: { title: 'Same', version: '1.0.0' } };
const large = { ...document, filler: 'x'.repeat(2_200_000) };

/** A registry whose clock only a test moves, and another process on its bucket. */
function createWorld() {
  const plain = createTestRegistry();
  let time = Date.parse('2026-03-01T00:00:00Z');
  const open = (bucket: Bucket = plain.bucket) => {
    const given = { ...plain, now: () => new Date(time), bucket };
    const refs = createRefs(bucket, { ...given, uniqueId: () => newId(plain), maxAge: 0 });
    return { ...given, objects: createObjects(bucket), refs } satisfies Registry;
  };
  const registry = open();
  return {
    registry,
    open,
    pass: (milliseconds: number) => void (time += milliseconds),
    gc: (more: Partial<GcOptions> = {}, by: Registry = open()) => collectGarbage(by, { ...options, ...more }),
  };
}

type World = ReturnType<typeof createWorld>;

/** Leaves the bytes of a version that nothing names, as a publish that was killed does. */
async function leaveGarbage({ open }: World, content: object = large): Promise<void> {
  const registry = open();
  const refs: Registry['refs'] = {
    ...registry.refs,
    async update() {
      throw new Error('The power is gone.');
    },
  };
  const publishing = publishVersion({ ...registry, refs }, '@acme/apis/two', '1.0.0', { document: content });
  await expect(publishing).rejects.toThrow('power');
}

const keysOf = (bucket: Bucket, prefix: string) => Array.fromAsync(listAll(bucket, prefix));
const dataOf = async (bucket: Bucket) => [...(await keysOf(bucket, 'objects/')), ...(await keysOf(bucket, 'packs/'))];

/** Nothing is damaged or missing, as another process reads it. */
async function expectSound({ open }: World): Promise<void> {
  expect((await fsck(open())).damages).toEqual([]);
}

test('what nothing refers to goes into quarantine after the grace period, and then for good', async () => {
  const world = createWorld();
  const { registry, gc, pass } = world;
  await publishVersion(registry, '@acme/apis/one', '1.0.0', { document: { filler: 'y'.repeat(2_200_000) } });
  const kept = await dataOf(registry.bucket);
  await leaveGarbage(world);
  const garbage = (await dataOf(registry.bucket)).length - kept.length;
  expect(garbage).toBeGreaterThan(1);
  expect(await gc()).toMatchObject({ kept: kept.length, waiting: garbage, quarantined: 0 });
  pass(hour - 1);
  expect(await gc()).toMatchObject({ waiting: garbage, quarantined: 0 });
  pass(1);
  expect(await gc({ dryRun: true })).toMatchObject({ quarantined: garbage });
  expect(await gc()).toMatchObject({ waiting: 0, quarantined: garbage, broughtBack: 0 });
  expect(await dataOf(registry.bucket)).toEqual(kept);
  expect(await keysOf(registry.bucket, 'quarantine/')).toHaveLength(garbage);
  pass(10 * hour - 1);
  expect(await gc()).toMatchObject({ deleted: 0 });
  pass(1);
  expect(await gc()).toMatchObject({ deleted: garbage });
  expect(await keysOf(registry.bucket, 'quarantine/')).toEqual([]);
  expect(await keysOf(registry.bucket, 'gc/')).toHaveLength(1);
  expect(await dataOf(registry.bucket)).toEqual(kept);
  await expectSound(world);
});

test('a dry run changes nothing', async () => {
  const world = createWorld();
  await leaveGarbage(world);
  await world.gc();
  world.pass(hour);
  const keys = await keysOf(world.registry.bucket, '');
  await world.gc({ dryRun: true });
  expect(await keysOf(world.registry.bucket, '')).toEqual(keys);
});

test('what is in quarantine is read as before, and stays when something refers to it again', async () => {
  const world = createWorld();
  const { registry, gc, pass, open } = world;
  await leaveGarbage(world);
  await gc();
  pass(hour);
  await gc();
  expect(await dataOf(registry.bucket)).toEqual([]);
  const digest = digestOf('report');
  await registry.objects.put('report');
  await registry.refs.update('repositories/acme/x', () => ({
    value: { documents: { a: { report: digest } } },
    change: { ...author, action: 'sync' },
  }));
  await registry.bucket.putIfAbsent(`quarantine/${objectKey(digest)}`, Buffer.from('report'));
  await registry.bucket.delete(objectKey(digest));
  expect(Buffer.from((await open().objects.get(digest))!).toString()).toBe('report');
  await registry.bucket.delete(objectKey(digest));
  expect(await gc()).toMatchObject({ broughtBack: 1 });
  expect(await registry.bucket.get(objectKey(digest))).not.toBeNull();
});

test.each([
  'before anything is deleted',
  'before it is deleted',
  'after it was deleted',
  'after everything was looked at again',
])('a publisher of what is collected loses nothing: %s', async (when) => {
  const world = createWorld();
  const { gc, pass, open, registry } = world;
  await leaveGarbage(world);
  await gc();
  pass(hour);
  let publishing: Promise<unknown> | null = null;
  const publishNow = async () => {
    publishing ??= publishVersion(open(), '@acme/apis/two', '1.0.0', { document: large });
    await publishing;
  };
  let deletions = 0;
  const isPack = (key: string) => key.startsWith('packs/');
  const busy: Bucket = {
    ...registry.bucket,
    async delete(key) {
      if (when === 'before anything is deleted' || (isPack(key) && when === 'before it is deleted')) await publishNow();
      await registry.bucket.delete(key);
      if (isPack(key)) deletions++;
      if (isPack(key) && when === 'after it was deleted') await publishNow();
    },
  };
  if (when !== 'after everything was looked at again') await gc({}, open(busy));
  else {
    // The publisher stores its bytes, then sleeps until the collection is over, and commits.
    const slow = open();
    let isFirst = true;
    const refs: Registry['refs'] = {
      ...slow.refs,
      async update(name, decide, more) {
        if (name.startsWith('resources/') && isFirst) {
          isFirst = false;
          await gc({}, open(busy));
        }
        return slow.refs.update(name, decide, more);
      },
    };
    await publishVersion({ ...slow, refs }, '@acme/apis/two', '1.0.0', { document: large });
  }
  expect(deletions).toBe(1);
  await expectSound(world);
});

test('nothing is lost when both the collection and the publisher are killed', async () => {
  const world = createWorld();
  const { gc, pass, open, registry } = world;
  await leaveGarbage(world);
  await gc();
  pass(hour);
  const dying: Bucket = {
    ...registry.bucket,
    async delete(key) {
      await registry.bucket.delete(key);
      if (!key.startsWith('packs/')) return;
      // The publisher found everything stored before this; it commits, and dies before it looks again.
      const bucket: Bucket = {
        ...registry.bucket,
        putIfAbsent: async (name, bytes) =>
          /^(?:objects|packs)\//.test(name) ? 'created' : registry.bucket.putIfAbsent(name, bytes),
      };
      await publishVersion(open(bucket), '@acme/apis/two', '1.0.0', { document: large });
      throw new Error('The power is gone.');
    },
  };
  await expect(gc({}, open(dying))).rejects.toThrow('power');
  const { versions } = (await open().refs.read<{ versions: { manifest: Digest }[] }>('resources/acme/apis/two'))!.value;
  expect(await open().objects.get(versions[0]!.manifest, versions[0]!.manifest)).not.toBeNull();
  await gc();
  await expectSound(world);
});

test('a damaged log or manifest stops it before it deletes anything', async () => {
  const world = createWorld();
  const { registry, gc, pass } = world;
  const { version } = await publishVersion(registry, '@acme/apis/one', '1.0.0');
  await leaveGarbage(world);
  await gc();
  pass(hour);
  const keys = await dataOf(registry.bucket);
  await registry.bucket.putIfAbsent(entryKey('@acme', 2), Buffer.from('no entry'));
  await expect(gc()).rejects.toMatchObject({ code: 'corrupt' });
  await registry.bucket.delete(entryKey('@acme', 2));
  await registry.objects.delete(version.manifest);
  await expect(gc()).rejects.toMatchObject({ code: 'corrupt' });
  expect(await dataOf(registry.bucket)).toEqual(keys.filter((key) => !key.includes(version.manifest.slice(9))));
});

test('what is withdrawn leaves quarantine too', async () => {
  const world = createWorld();
  const { gc, pass, open, registry } = world;
  await leaveGarbage(world);
  await gc();
  pass(hour);
  await gc();
  expect(await keysOf(registry.bucket, 'quarantine/')).not.toEqual([]);
  await publishVersion(open(), '@acme/apis/two', '1.0.0', { document: large });
  const { coordinate } = parseCoordinate('@acme/apis/two')!;
  await changeStatus(open(), coordinate, '1.0.0', { state: 'withdrawn', reason: 'leak' }, author);
  expect(await dataOf(registry.bucket)).toEqual([]);
  expect(await keysOf(registry.bucket, 'quarantine/')).toEqual([]);
});

test('segments and checkpoints of logs stay; those that nobody needs go, also ones that an entry names later', async () => {
  const world = createWorld();
  const { registry, gc, pass, open } = world;
  const change = async (by: typeof registry, count: number) => {
    for (let number = 0; number < count; number++) {
      await by.refs.update('repositories/acme/x', () => ({ value: { number }, change: { ...author, action: 'sync' } }));
    }
    // It writes a summary after the last entry, and names it in the next.
    await by.refs.settle();
  };
  await change(registry, 600);
  await change(registry, 500);
  for (const milliseconds of [0, hour, 20 * hour, hour]) {
    pass(milliseconds);
    await gc();
  }
  expect(await dataOf(registry.bucket)).not.toEqual([]);
  await expectSound(world);
  await change(registry, 600);
  await change(open(), 1);
  await expectSound(world);
  expect((await open().refs.trail('acme')).length).toBe(1701);
});

test('a clock that is set back makes garbage wait for the grace period from then', async () => {
  const world = createWorld();
  await leaveGarbage(world);
  await world.gc();
  world.pass(-5 * hour);
  expect(await world.gc()).toMatchObject({ quarantined: 0 });
  world.pass(hour);
  const { quarantined, waiting } = await world.gc();
  expect([quarantined > 0, waiting]).toEqual([true, 0]);
});

test('the comparison of two versions is needed while both stand', () => {
  const [from, to] = ['1.0.0', '1.1.0'].map((label) => ({ label, status: { state: 'active' } }) as Version);
  const digest = digestOf('comparison');
  const version = { ...to!, changes: { from: '1.0.0', digest } } as Version;
  expect(neededComparison(version, standingOf([from!, version]))).toBe(digest);
  expect(neededComparison(version, standingOf([version]))).toBeNull();
  expect(neededComparison(version, standingOf([from!]))).toBeNull();
});
