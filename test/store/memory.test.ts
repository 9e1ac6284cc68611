import { describe, expect, test } from 'vitest';
import { createMemoryBucket } from '../memory-store.ts';
import { bucketContract, bytesOf } from '../contract/bucket.ts';

bucketContract('memory', async () => ({ bucket: createMemoryBucket(), close: async () => {} }));

describe('planned failures of the memory bucket', () => {
  test('fail: rejects without effect, as often as planned', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('putIfAbsent', 'fail', { count: 2 });
    await expect(bucket.putIfAbsent('a', bytesOf('x'))).rejects.toThrow('Planned failure');
    expect(await bucket.get('a')).toBeNull();
    await expect(bucket.putIfAbsent('b', bytesOf('x'))).rejects.toThrow('Planned failure');
    expect(await bucket.putIfAbsent('a', bytesOf('x'))).toBe('created');
  });

  test('fail-after: rejects after taking effect', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('putIfAbsent', 'fail-after');
    await expect(bucket.putIfAbsent('a', bytesOf('x'))).rejects.toThrow('Planned loss');
    expect(await bucket.get('a')).not.toBeNull();
    bucket.fault('delete', 'fail-after');
    await expect(bucket.delete('a')).rejects.toThrow('Planned loss');
    expect(await bucket.get('a')).toBeNull();
  });

  test('lose: another writer is faster', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('putIfAbsent', 'lose', { rival: bytesOf('rival') });
    expect(await bucket.putIfAbsent('a', bytesOf('mine'))).toBe('exists');
    expect(Buffer.from((await bucket.get('a'))!).toString()).toBe('rival');
  });

  test('apply only to the chosen method and keys', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('get', 'fail', { when: (key) => key.startsWith('b') });
    expect(await bucket.putIfAbsent('b', bytesOf('x'))).toBe('created');
    expect(await bucket.get('a')).toBeNull();
    await expect(bucket.get('b')).rejects.toThrow('Planned failure');
    expect(await bucket.get('b')).not.toBeNull();
    expect(bucket.calls()).toEqual({ get: 3, getPart: 0, putIfAbsent: 1, list: 0, delete: 0, check: 0 });
  });
});
