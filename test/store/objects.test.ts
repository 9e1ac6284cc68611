import { describe, expect, test } from 'vitest';
import { digestOf } from '../../src/model/digest.ts';
import { createMemoryBucket } from '../memory-store.ts';
import { createObjects, packKey, type Objects } from '../../src/store/objects.ts';
import { objectsContract } from '../contract/objects.ts';
import { localBuckets } from './buckets.ts';

for (const { name, open } of localBuckets) objectsContract(name, open);

test('of a large piece that only its root has, nothing else is written, and only it is read', async () => {
  const bucket = createMemoryBucket();
  const [small, large, larger] = ['x', 'y'.repeat(500_000), 'z'.repeat(1_500_000)].map((text) => Buffer.from(text));
  const root = await createObjects(bucket).putPack(Buffer.from('root'), [], [larger!, large!, small!]);
  expect(await bucket.list('')).toEqual([packKey(root)]);
  const objects = createObjects(bucket);
  expect(Buffer.from((await objects.get(digestOf(small!), root))!)).toEqual(small);
  expect(Buffer.from((await objects.get(digestOf(larger!), root))!).equals(larger!)).toBe(true);
  expect(Buffer.from((await objects.get(digestOf(large!), root))!).equals(large!)).toBe(true);
  await objects.get(digestOf(large!), root);
  expect(bucket.calls()).toMatchObject({ get: 0, getPart: 3 });
  const whole = (await bucket.get(packKey(root)))!;
  for (const damage of [
    whole.with(whole.byteLength - 1, 0),
    whole.subarray(0, -1),
    Buffer.concat([whole.subarray(0, 400_000)]),
  ]) {
    await bucket.delete(packKey(root));
    await bucket.putIfAbsent(packKey(root), damage);
    const damaged = createObjects(bucket);
    await expect(damaged.get(digestOf(larger!), root)).rejects.toMatchObject({ code: 'corrupt' });
    expect(Buffer.from((await damaged.get(digestOf(small!), root))!)).toEqual(small);
  }
  await bucket.delete(packKey(root));
  await bucket.putIfAbsent(`quarantine/${packKey(root)}`, whole);
  expect(Buffer.from((await objects.get(digestOf(larger!), root))!).equals(larger!)).toBe(true);
});

test('of equal large pieces, such as the source of a document and one of its representations, one is written', async () => {
  const bucket = createMemoryBucket();
  const [large, again, another] = ['x', 'x', 'y'].map((text) => Buffer.from(text.repeat(100_000)));
  await createObjects(bucket).putPack(Buffer.from('root'), [large!, again!, another!]);
  expect(bucket.calls().putIfAbsent).toBe(3);
});

describe('objects on a failing bucket', () => {
  test('a lost response still means a stored object', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('putIfAbsent', 'fail-after');
    expect(await createObjects(bucket).put('x')).toBe(digestOf('x'));
    expect(await bucket.list('')).toHaveLength(1);
  });

  test('a failed write throws, and a retry succeeds', async () => {
    const bucket = createMemoryBucket();
    const objects = createObjects(bucket);
    bucket.fault('putIfAbsent', 'fail');
    await expect(objects.put('x')).rejects.toMatchObject({ code: 'unavailable' });
    expect(await objects.get(digestOf('x'))).toBeNull();
    expect(await objects.put('x')).toBe(digestOf('x'));
  });

  test('a write whose outcome cannot be read back throws', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('putIfAbsent', 'fail-after');
    bucket.fault('get', 'fail');
    await expect(createObjects(bucket).put('x')).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('other bytes under the digest are reported as corruption', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('putIfAbsent', 'lose', { rival: Buffer.from('not x') });
    await expect(createObjects(bucket).put('x')).rejects.toMatchObject({ code: 'corrupt' });
  });

  test.each(['object', 'pack'])(
    'bytes that are deleted while they are stored again are written once more: %s',
    async (kind) => {
      const bucket = createMemoryBucket();
      const put = (to: Objects) => (kind === 'pack' ? to.putPack(Buffer.from('x'), []) : to.put('x'));
      await put(createObjects(bucket));
      let deleted = false;
      const deleting = createObjects({
        ...bucket,
        async get(key) {
          if (!deleted) await bucket.delete(key);
          deleted = true;
          return bucket.get(key);
        },
      });
      await put(deleting);
      expect(deleted).toBe(true);
      expect(await bucket.list('')).toHaveLength(1);
    },
  );

  test('an object that cannot be read is not reported as absent', async () => {
    const bucket = createMemoryBucket();
    const digest = await createObjects(bucket).put('x');
    bucket.fault('get', 'fail');
    await expect(createObjects(bucket).get(digest)).rejects.toThrow('Planned failure');
  });

  test('verified bytes are served from the cache', async () => {
    const bucket = createMemoryBucket();
    const objects = createObjects(bucket);
    const digest = await objects.put('x');
    for (let index = 0; index < 5; index++) await objects.get(digest);
    expect(bucket.calls().get).toBe(1);
  });

  test('a damaged piece of a pack fails alone, and is served once it is repaired', async () => {
    const bucket = createMemoryBucket();
    const [root, good, bad] = ['the root', 'a good one', 'a bad piece'].map((text) => Buffer.from(text));
    const pack = await createObjects(bucket).putPack(root!, [good!, bad!]);
    const whole = (await bucket.get(packKey(pack)))!;
    const damaged = Uint8Array.from(whole);
    damaged[damaged.length - 1]! ^= 1;
    await replace(damaged);
    const objects = createObjects(bucket);
    expect(Buffer.from((await objects.get(pack, pack))!)).toEqual(root);
    expect(Buffer.from((await objects.get(digestOf(good!), pack))!)).toEqual(good);
    await expect(objects.get(digestOf(bad!), pack)).rejects.toMatchObject({ code: 'corrupt' });
    await replace(whole);
    expect(Buffer.from((await objects.get(digestOf(bad!), pack))!)).toEqual(bad);

    async function replace(bytes: Uint8Array): Promise<void> {
      await bucket.delete(packKey(pack));
      await bucket.putIfAbsent(packKey(pack), bytes);
    }
  });
});
