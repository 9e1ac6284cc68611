import { expect, test } from 'vitest';
import { parseCoordinate } from '../../src/model/address.ts';
import { resourceRef, type Resource } from '../../src/model/resource.ts';
import { changeStatus } from '../../src/registry/change-version.ts';
import { fsck } from '../../src/registry/fsck.ts';
import { backup, restore } from '../../src/registry/maintenance/backup.ts';
import { collectGarbage } from '../../src/registry/maintenance/gc.ts';
import { createKey } from '../../src/registry/keys/keys.ts';
import { newId, type Registry } from '../../src/registry/registry.ts';
import { listAll, type Bucket } from '../../src/store/bucket.ts';
import { assertFormat } from '../../src/store/format.ts';
import { entryKey } from '../../src/store/log/entry.ts';
import { newestSequence } from '../../src/store/log/follow-log.ts';
import { createMemoryBucket, type MemoryBucket } from '../memory-store.ts';
import { createObjects, packKey, putIntoQuarantine, quarantineKey } from '../../src/store/objects.ts';
import { createRefs } from '../../src/store/refs.ts';
import { workKey } from '../../src/store/work.ts';
import { createTestRegistry, publishVersion, type TestRegistry } from '../server/registry.ts';

const author = { actor: 'operator:test', origin: null };

async function createStore(): Promise<TestRegistry> {
  const registry = createTestRegistry();
  await assertFormat(registry.bucket);
  await publishVersion(registry, '@acme/apis/one', '1.0.0');
  await publishVersion(registry, '@acme/apis/one', '1.1.0');
  await publishVersion(registry, '@beta/apis/two', '1.0.0');
  await createKey(registry, { org: 'acme', name: 'k', scopes: ['read'] }, author);
  return registry;
}

/** Another process on a bucket. */
function openAgain(plain: Registry, bucket: Bucket): Registry {
  const refs = createRefs(bucket, { ...plain, uniqueId: () => newId(plain), maxAge: 0 });
  return { ...plain, bucket, objects: createObjects(bucket), refs };
}

/** Everything but the heads of logs, which a copy of a store without them has. */
async function filesOf(bucket: Bucket): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for await (const key of listAll(bucket, ''))
    if (!key.startsWith('work/heads/')) files[key] = Buffer.from((await bucket.get(key))!).toString('base64');
  return files;
}

async function labelsIn(registry: Registry, name: string): Promise<string[]> {
  const resource = await registry.refs.read<Resource>(resourceRef(parseCoordinate(name)!.coordinate));
  return (resource?.value.versions ?? []).map(({ label }) => label);
}

/** Nothing is damaged or missing in the store of a bucket. */
async function expectSound(plain: Registry, bucket: Bucket): Promise<void> {
  expect((await fsck(openAgain(plain, bucket))).damages).toEqual([]);
}

test('a backup is the store, and a second one copies only what is new', async () => {
  const registry = await createStore();
  const into = createMemoryBucket();
  const first = await backup(registry, into);
  expect(await filesOf(into)).toEqual(await filesOf(registry.bucket));
  expect(first).toMatchObject({ entries: 6, damages: [] });
  await publishVersion(registry, '@acme/apis/one', '1.2.0');
  const before = into.calls().putIfAbsent;
  const second = await backup(registry, into);
  expect(second.entries).toBe(1);
  expect(second.objects).toBeGreaterThan(0);
  // What may be missing of the last entries is written again.
  expect(into.calls().putIfAbsent - before).toBeLessThan(first.entries + second.entries + second.objects + 3);
  expect(await filesOf(into)).toEqual(await filesOf(registry.bucket));
  await expectSound(registry, into);
});

test('a backup can be opened as a store and written to', async () => {
  const registry = await createStore();
  const into = createMemoryBucket();
  await backup(registry, into);
  await assertFormat(into);
  const opened = openAgain(registry, into);
  await publishVersion(opened, '@acme/apis/one', '1.2.0');
  expect(await labelsIn(opened, '@acme/apis/one')).toEqual(['1.0.0', '1.1.0', '1.2.0']);
});

test('what is published while a backup runs is not half in it', async () => {
  const registry = await createStore();
  const into = createMemoryBucket();
  let number = 0;
  const busy: Bucket = {
    ...registry.bucket,
    async get(key) {
      // While objects are copied, and while entries are.
      if (/^(?:packs|log)\//.test(key)) await publishVersion(registry, '@acme/apis/busy', `1.0.${++number}`);
      return registry.bucket.get(key);
    },
  };
  await backup({ ...registry, bucket: busy }, into);
  expect(await labelsIn(registry, '@acme/apis/busy')).not.toEqual([]);
  expect(await labelsIn(openAgain(registry, into), '@acme/apis/busy')).toEqual([]);
  expect(await labelsIn(openAgain(registry, into), '@acme/apis/one')).toEqual(['1.0.0', '1.1.0']);
  await expectSound(registry, into);
});

test('a version that is withdrawn while a backup runs is withdrawn in it', async () => {
  const registry = await createStore();
  const into = createMemoryBucket();
  let isFirst = true;
  const busy: Bucket = {
    ...registry.bucket,
    async list(prefix, options) {
      if (prefix === 'packs/sha256/' && isFirst) {
        isFirst = false;
        const { coordinate } = parseCoordinate('@acme/apis/one')!;
        await changeStatus(registry, coordinate, '1.0.0', { state: 'withdrawn', reason: 'leak' }, author);
      }
      return registry.bucket.list(prefix, options);
    },
  };
  await backup({ ...registry, bucket: busy }, into);
  expect(isFirst).toBe(false);
  await expectSound(registry, into);
  const { value } = (await openAgain(registry, into).refs.read<Resource>('resources/acme/apis/one'))!;
  expect(value.versions[0]!.status.state).toBe('withdrawn');
});

test.each([1, 3, 7])(
  'a backup that was stopped after %i writes is no store, and the next one completes it',
  async (count) => {
    const registry = await createStore();
    const into = createMemoryBucket();
    let writes = 0;
    const failing: Bucket = {
      ...into,
      async putIfAbsent(key, bytes) {
        if (++writes > count) throw new Error('The power is gone.');
        return into.putIfAbsent(key, bytes);
      },
    };
    await expect(backup(registry, failing)).rejects.toThrow('power');
    await expect(assertFormat(into)).rejects.toThrow('incomplete copy');
    await backup(registry, into);
    expect(await filesOf(into)).toEqual(await filesOf(registry.bucket));
  },
);

/** A bucket that fails at the first key that a test names, and from then on. What is under way then, entries of a log, is still written. */
function stoppedAt(into: Bucket, isLast: (key: string) => boolean): Bucket {
  let isOver = false;
  return {
    ...into,
    async putIfAbsent(key, bytes) {
      const isFirst = !isOver && isLast(key);
      isOver ||= isFirst;
      if (isFirst || (isOver && !key.startsWith('log/'))) throw new Error('The power is gone.');
      return into.putIfAbsent(key, bytes);
    },
  };
}

test('a later backup that is stopped leaves no gap in a log', async () => {
  const registry = await createStore();
  const into = createMemoryBucket();
  await backup(registry, into);
  const first = entryKey('@acme', 1 + (await newestSequence(into, '@acme')));
  for (const label of ['1.2.0', '1.3.0', '1.4.0']) await publishVersion(registry, '@acme/apis/one', label);
  await expect(
    backup(
      registry,
      stoppedAt(into, (key) => key === first),
    ),
  ).rejects.toThrow('power');
  await expectSound(registry, into);
  await backup(registry, into);
  expect(await filesOf(into)).toEqual(await filesOf(registry.bucket));
});

test('a later backup that is stopped still has what it had in quarantine only', async () => {
  const registry = await createStore();
  const into = createMemoryBucket();
  const { manifest } = (await registry.refs.read<Resource>('resources/acme/apis/one'))!.value.versions[0]!;
  const key = packKey(manifest);
  await putIntoQuarantine(registry.bucket, key);
  await backup(registry, into);
  // Somebody reads it, and the collection forgets it.
  await openAgain(registry, registry.bucket).objects.get(manifest, manifest);
  await registry.bucket.delete(quarantineKey(key));
  await expect(
    backup(
      registry,
      stoppedAt(into, (each) => each === key),
    ),
  ).rejects.toThrow('power');
  expect(await openAgain(registry, into).objects.get(manifest, manifest)).not.toBeNull();
});

test('a backup whose update was stopped is restored without what tells of later changes', async () => {
  const registry = await createStore();
  const [copy, into, whole] = [createMemoryBucket(), createMemoryBucket(), createMemoryBucket()];
  await backup(registry, copy);
  await publishVersion(registry, '@acme/apis/one', '1.2.0');
  const record = { value: {}, change: { ...author, action: 'x' } };
  for (const name of ['idempotency/acme/x', 'sessions/one']) await registry.refs.update(name, () => record);
  await expect(
    backup(
      registry,
      stoppedAt(copy, (key) => key.startsWith('packs/')),
    ),
  ).rejects.toThrow('power');
  await restore(copy, into, []);
  expect(await labelsIn(openAgain(registry, into), '@acme/apis/one')).toEqual(['1.0.0', '1.1.0']);
  expect(Object.keys(await filesOf(into)).filter((key) => key.startsWith('work/'))).toEqual([
    workKey('sessions/one', 1),
  ]);
  await backup(registry, copy);
  await restore(copy, whole, []);
  expect(await filesOf(whole)).toEqual(await filesOf(registry.bucket));
});

test('a restore that was stopped in its last step ends when it is repeated', async () => {
  const registry = await createStore();
  const [copy, into] = [createMemoryBucket(), createMemoryBucket()];
  await backup(registry, copy);
  const failing: Bucket = { ...into, delete: () => Promise.reject(new Error('The power is gone.')) };
  await expect(restore(copy, failing, [])).rejects.toThrow('power');
  await expect(restore(copy, into, [{ log: '@acme', sequence: 1 }])).rejects.toMatchObject({ code: 'conflict' });
  await restore(copy, into, []);
  expect(await filesOf(into)).toEqual(await filesOf(registry.bucket));
  await expect(restore(copy, into, [])).rejects.toThrow('not empty');
});

test('entries that a stopped backup left out among others are copied by the next', async () => {
  const registry = await createStore();
  const into = createMemoryBucket();
  await backup(registry, into);
  await into.delete(entryKey('@acme', 2));
  await backup(registry, into);
  expect(await filesOf(into)).toEqual(await filesOf(registry.bucket));
});

test('leases are not copied, and records that have expired leave the backup', async () => {
  const registry = await createStore();
  const into = createMemoryBucket();
  const record = (name: string) =>
    registry.refs.update(name, () => ({ value: {}, change: { ...author, action: 'x' } }));
  await record('runs/acme/1');
  await record('leases/acme/x');
  await backup(registry, into);
  const keys = async () => Object.keys(await filesOf(into)).filter((key) => key.startsWith('work/'));
  expect(await keys()).toEqual([workKey('runs/acme/1', 1)]);
  await registry.bucket.delete(workKey('runs/acme/1', 1));
  await backup(registry, into);
  expect(await keys()).toEqual([]);
});

/** A key with bytes of a version. */
async function someObject(bucket: Bucket): Promise<string> {
  for (const prefix of ['objects/', 'packs/']) for (const key of await bucket.list(prefix, { limit: 1 })) return key;
  throw new Error('There are no objects.');
}

async function damage(bucket: MemoryBucket, key: string): Promise<void> {
  const bytes = (await bucket.get(key))!;
  await bucket.delete(key);
  await bucket.putIfAbsent(
    key,
    bytes.map((byte, index) => (index === 30 ? byte ^ 1 : byte)),
  );
}

test('what is damaged is reported and not copied, and everything else is copied', async () => {
  const registry = await createStore();
  const sound = await filesOf(registry.bucket);
  const object = await someObject(registry.bucket);
  await damage(registry.bucket, object);
  await damage(registry.bucket, entryKey('@acme', 2));
  const into = createMemoryBucket();
  const { damages } = await backup(openAgain(registry, registry.bucket), into);
  expect(damages.map(({ key }) => key)).toEqual([object, entryKey('@acme', 2)]);
  const missing = [object, entryKey('@acme', 2), entryKey('@acme', 3)];
  const expected = Object.entries(sound).filter(([key]) => !missing.includes(key));
  expect(await filesOf(into)).toMatchObject(
    Object.fromEntries(expected.filter(([key]) => !key.startsWith('log/@acme'))),
  );
  expect(Object.keys(await filesOf(into))).not.toEqual(expect.arrayContaining([object]));
});

test('a backup of another store, and one that knows more than the store, are refused', async () => {
  const [one, two] = [await createStore(), await createStore()];
  const into = createMemoryBucket();
  await backup(one, into);
  await expect(backup(two, into)).rejects.toMatchObject({ code: 'conflict' });
  await publishVersion(one, '@acme/apis/one', '2.0.0');
  await backup(one, into);
  await one.bucket.delete((await one.bucket.list('log/@acme/', { limit: 1 }))[0]!);
  await expect(backup(openAgain(one, one.bucket), into)).rejects.toThrow('the store lost its newest entries');
  const foreign = createMemoryBucket();
  await foreign.putIfAbsent('objects/x', Buffer.from('x'));
  await expect(backup(one, foreign)).rejects.toThrow('not empty');
});

test('a backup that is refused is left as it was, also by a store that is empty now', async () => {
  const one = await createStore();
  const into = createMemoryBucket();
  const session = { value: {}, change: { ...author, action: 'sign in' } };
  await one.refs.update('sessions/one', () => session);
  await backup(one, into);
  const before = await filesOf(into);
  const empty = createTestRegistry();
  await assertFormat(empty.bucket);
  for (const other of [await createStore(), empty]) {
    await expect(backup(other, into)).rejects.toMatchObject({ code: 'conflict' });
    expect(await filesOf(into)).toEqual(before);
  }
});

test('a restored store is the backup, and a store that is not empty is not restored into', async () => {
  const registry = await createStore();
  const [copy, into] = [createMemoryBucket(), createMemoryBucket()];
  await backup(registry, copy);
  await restore(copy, into, []);
  expect(await filesOf(into)).toEqual(await filesOf(registry.bucket));
  await expect(restore(copy, into, [])).rejects.toMatchObject({ code: 'conflict' });
  await expect(restore(createMemoryBucket(), createMemoryBucket(), [])).rejects.toMatchObject({ code: 'malformed' });
});

test('a store is restored to an entry of a log, or to a time', async () => {
  const plain = createTestRegistry();
  let time = Date.parse('2026-03-01T00:00:00Z');
  const registry = openAgain({ ...plain, now: () => new Date((time += 60_000)) }, plain.bucket);
  await assertFormat(registry.bucket);
  await publishVersion(registry, '@acme/apis/one', '1.0.0');
  await publishVersion(registry, '@beta/apis/two', '1.0.0');
  const between = new Date(time).toISOString();
  await publishVersion(registry, '@acme/apis/one', '1.1.0');
  await publishVersion(registry, '@beta/apis/two', '1.1.0');
  const copy = createMemoryBucket();
  await backup(registry, copy);
  const restoredTo = async (...until: Parameters<typeof restore>[2]) => {
    const into = createMemoryBucket();
    await restore(copy, into, until);
    await expectSound(plain, into);
    const opened = openAgain(plain, into);
    return Promise.all(['@acme/apis/one', '@beta/apis/two'].map((name) => labelsIn(opened, name)));
  };
  const [old, all] = [['1.0.0'], ['1.0.0', '1.1.0']];
  expect(await restoredTo({ log: '@acme', sequence: 1 })).toEqual([old, all]);
  expect(await restoredTo({ at: between })).toEqual([old, old]);
  const [into, beyond] = [createMemoryBucket(), 'The backup has no entry 999 of the log @acme; its last one is 2.'];
  await expect(restore(copy, into, [{ log: '@acme', sequence: 999 }])).rejects.toThrow(beyond);
  await expect(restore(copy, into, [{ log: '@none', sequence: 1 }])).rejects.toThrow('is 0');
  expect(await filesOf(into)).toEqual({});
  expect(await restoredTo({ at: '2200-01-01T00:00:00.000Z' })).toEqual([all, all]);
  expect(await restoredTo({ at: '2200-01-01T00:00:00.000Z' }, { log: '@beta', sequence: 1 })).toEqual([all, old]);
});

test('what is in quarantine and still needed is in a backup, and leaves it later', async () => {
  const registry = await createStore();
  const [copy, into] = [createMemoryBucket(), createMemoryBucket()];
  const resource = await registry.refs.read<Resource>('resources/acme/apis/one');
  const { manifest } = resource!.value.versions[0]!;
  const key = packKey(manifest);
  await putIntoQuarantine(registry.bucket, key);
  await backup(registry, copy);
  await restore(copy, into, []);
  expect(await openAgain(registry, into).objects.get(manifest, manifest)).not.toBeNull();
  await registry.bucket.delete(quarantineKey(key));
  await backup(registry, copy);
  expect(await copy.get(quarantineKey(key))).toBeNull();
});

test('a restore that was stopped goes on to the same point only', async () => {
  const registry = await createStore();
  const [copy, into] = [createMemoryBucket(), createMemoryBucket()];
  await backup(registry, copy);
  const failing: Bucket = {
    ...into,
    async putIfAbsent(key, bytes) {
      if (key === 'format') throw new Error('The power is gone.');
      return into.putIfAbsent(key, bytes);
    },
  };
  const first = [{ log: '@acme', sequence: 2 }];
  await expect(restore(copy, failing, first)).rejects.toThrow('power');
  for (const other of [[], [{ log: '@acme', sequence: 1 }]])
    await expect(restore(copy, into, other)).rejects.toMatchObject({ code: 'conflict' });
  await restore(copy, into, first);
  expect(await labelsIn(openAgain(registry, into), '@acme/apis/one')).toEqual(['1.0.0', '1.1.0']);
});

test('a check, a collection of garbage and a backup count the same objects', async () => {
  const registry = await createStore();
  const { objects, bytes } = await fsck(registry);
  const { kept, waiting } = await collectGarbage(registry, {});
  expect(kept + waiting).toBe(objects);
  expect(await backup(registry, createMemoryBucket())).toMatchObject({ objects, bytes });
});
