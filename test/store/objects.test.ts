import { describe, expect, test } from 'vitest';
import { digestOf } from '../../src/model/digest.ts';
import { createMemoryBucket } from '../../src/store/memory.ts';
import { createObjects } from '../../src/store/objects.ts';
import { objectsContract } from '../contract/objects.ts';
import { localBuckets } from './buckets.ts';

for (const { name, open } of localBuckets) objectsContract(name, open);

describe('objects on a bucket that goes wrong', () => {
  test('a lost answer is a stored object', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('putIfAbsent', 'fail-after');
    expect(await createObjects(bucket).put('x')).toBe(digestOf('x'));
    expect(await bucket.list('')).toHaveLength(1);
  });

  test('a failed write says so as a refusal, and doing it again works', async () => {
    const bucket = createMemoryBucket();
    const objects = createObjects(bucket);
    bucket.fault('putIfAbsent', 'fail');
    await expect(objects.put('x')).rejects.toMatchObject({ code: 'unavailable' });
    expect(await objects.get(digestOf('x'))).toBeNull();
    expect(await objects.put('x')).toBe(digestOf('x'));
  });

  test('a write whose fate cannot be read is no success', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('putIfAbsent', 'fail-after');
    bucket.fault('get', 'fail');
    await expect(createObjects(bucket).put('x')).rejects.toMatchObject({ code: 'unavailable' });
  });

  test('a rival that wrote other bytes under the digest is corruption', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('putIfAbsent', 'lose', { rival: Buffer.from('not x') });
    await expect(createObjects(bucket).put('x')).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('what cannot be read is not absent', async () => {
    const bucket = createMemoryBucket();
    const digest = await createObjects(bucket).put('x');
    bucket.fault('get', 'fail');
    await expect(createObjects(bucket).get(digest)).rejects.toThrow('Planned failure');
  });

  test('verified bytes are not asked for again', async () => {
    const bucket = createMemoryBucket();
    const objects = createObjects(bucket);
    const digest = await objects.put('x');
    for (let index = 0; index < 5; index++) await objects.get(digest);
    expect(bucket.calls().get).toBe(1);
  });
});
