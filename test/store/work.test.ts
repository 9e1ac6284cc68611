import { describe, expect, test } from 'vitest';
import type { Bucket } from '../../src/store/bucket.ts';
import { createMemoryBucket } from '../memory-store.ts';
import { createRefs, type Refs } from '../../src/store/refs.ts';
import { workKey } from '../../src/store/work.ts';
import { createClock, createIds, increment, type TestClock } from '../contract/refs.ts';

const one = 'runs/acme/one';

function open(bucket: Bucket, clock: TestClock, owner = 'own'): Refs {
  return createRefs(bucket, { ...clock, uniqueId: createIds(owner) });
}

describe('records that expire', () => {
  test('reserve no memory before there are any', () => {
    const before = process.memoryUsage().arrayBuffers;
    const opened = Array.from({ length: 50 }, () => open(createMemoryBucket(), createClock()));
    expect(opened).toHaveLength(50);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(1_000_000);
  });

  test('that another process swept and made again are read as they are', async () => {
    const bucket = createMemoryBucket();
    const clock = createClock();
    const [reader, other] = [open(bucket, clock), open(bucket, clock, 'other')];
    for (const _ of [1, 2, 3]) await increment(other, one);
    expect((await reader.read(one))?.value).toBe(3);
    clock.advance(1000);
    await other.sweep('runs', clock.now().getTime());
    await increment(other, one);
    clock.advance(1000);
    expect(await reader.read(one)).toMatchObject({ generation: 1, value: 1 });
    expect(await increment(reader, one)).toMatchObject({ generation: 2, value: 2 });
  });

  test('what a list names is read, also before its writer knows that it is written', async () => {
    const bucket = createMemoryBucket();
    const [written, known] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const putIfAbsent: Bucket['putIfAbsent'] = async (...given) => {
      const outcome = await bucket.putIfAbsent(...given);
      written.resolve();
      await known.promise;
      return outcome;
    };
    const refs = open({ ...bucket, putIfAbsent }, createClock());
    const writing = increment(refs, one);
    await written.promise;
    expect(await Array.fromAsync(refs.list('runs/'))).toEqual([one]);
    expect((await refs.read(one))?.value).toBe(1);
    known.resolve();
    await writing;
  });

  test('an answer that was long on its way does not hide the first write', async () => {
    const bucket = createMemoryBucket();
    const held = Promise.withResolvers<void>();
    let isHolding = true;
    const slow: Bucket = {
      ...bucket,
      async list(prefix, options) {
        const isHeld = isHolding;
        isHolding = false;
        const keys = await bucket.list(prefix, options);
        if (isHeld) await held.promise;
        return keys;
      },
    };
    const refs = open(slow, createClock());
    const early = refs.read(one);
    await new Promise(setImmediate);
    await increment(refs, one);
    held.resolve();
    await early;
    expect((await refs.read(one))?.value).toBe(1);
  });

  test('a sweep that ends early leaves the newest, never what it superseded', async () => {
    const bucket = createMemoryBucket();
    const clock = createClock();
    const refs = open(bucket, clock);
    for (const _ of [1, 2, 3]) await increment(refs, one);
    clock.advance(1000);
    let deletes = 0;
    const dying: Bucket = {
      ...bucket,
      delete: async (key) => (deletes++ === 1 ? Promise.reject(new Error('killed')) : bucket.delete(key)),
    };
    await expect(open(dying, clock).sweep('runs', clock.now().getTime())).rejects.toThrow('killed');
    expect((await open(bucket, clock).read(one))?.value).toBe(3);
  });

  test('that are damaged are not swept: what they were is unknown', async () => {
    const bucket = createMemoryBucket();
    const clock = createClock();
    await bucket.putIfAbsent(workKey(one, 1), Buffer.from('{"generation":1,'));
    expect(await open(bucket, clock).sweep('runs', clock.now().getTime())).toBe(0);
    await expect(open(bucket, clock).read(one)).rejects.toMatchObject({ code: 'corrupt' });
  });
});
