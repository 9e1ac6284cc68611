import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Digest } from '../../src/model/digest.ts';
import { isRegistryError, RegistryError } from '../../src/model/errors.ts';
import type { Bucket } from '../../src/store/bucket.ts';
import { createMemoryBucket, type Fault, type MemoryBucket } from '../../src/store/memory.ts';
import { generationKey, parseGenerationKey, type Generation } from '../../src/store/generations.ts';
import { createRefs, type Refs } from '../../src/store/refs.ts';
import { bytesOf } from '../contract/bucket.ts';
import { changeOf, createClock, createIds, increment, refsContract } from '../contract/refs.ts';
import { localBuckets } from './buckets.ts';

for (const { name, open } of localBuckets) refsContract(name, open);

const clock = createClock();

function openRefs(bucket: Bucket, owner = 'own'): Refs {
  return createRefs(bucket, { ...clock, uniqueId: createIds(owner) });
}

function rivalOf(generation: number, previous: Digest | null, value: number): Uint8Array {
  const rival: Generation<number> = {
    generation,
    previous,
    writeId: 'rival-1',
    at: '2026-01-01T00:00:00.000Z',
    ...changeOf('increment'),
    value,
  };
  return bytesOf(JSON.stringify(rival));
}

describe('generation keys', () => {
  const generation = fc.integer({ min: 1, max: 10 ** 15 - 1 });

  test('sort the newest first', () => {
    fc.assert(
      fc.property(generation, generation, (a, b) => {
        fc.pre(a !== b);
        expect(generationKey('a/b', Math.max(a, b)) < generationKey('a/b', Math.min(a, b))).toBe(true);
      }),
    );
  });

  test('can be parsed', () => {
    fc.assert(
      fc.property(generation, (one) => {
        expect(parseGenerationKey(generationKey('a/b/c', one))).toEqual({ name: 'a/b/c', generation: one });
      }),
    );
  });
});

describe('refs on a failing bucket', () => {
  test('a failed write is retried once', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('putIfAbsent', 'fail', { count: 2 });
    expect(await increment(openRefs(bucket), 'things/one')).toMatchObject({ generation: 1, value: 1 });
    expect(await bucket.list('')).toEqual([generationKey('things/one', 1)]);
  });

  test('a write with a lost response is recognized as our own', async () => {
    const bucket = createMemoryBucket();
    const refs = openRefs(bucket);
    bucket.fault('putIfAbsent', 'fail-after');
    let decisions = 0;
    const written = await refs.update('things/one', () => {
      decisions++;
      return { value: 'mine', change: changeOf('create') };
    });
    expect(written).toMatchObject({ generation: 1, writeId: 'own-1', value: 'mine' });
    expect(decisions).toBe(1);
    expect(await increment(refs, 'things/two')).toMatchObject({ generation: 1 });
    expect(await bucket.list('refs/things/one/')).toHaveLength(1);
  });

  test('so is a lost response after a failure', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('putIfAbsent', 'fail');
    bucket.fault('putIfAbsent', 'fail-after');
    expect(await increment(openRefs(bucket), 'things/one')).toMatchObject({ generation: 1, value: 1 });
    expect(await bucket.list('')).toHaveLength(1);
  });

  test('the loser of a race decides again from what the winner wrote', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('putIfAbsent', 'lose', { rival: rivalOf(1, null, 40) });
    expect(await increment(openRefs(bucket), 'things/one')).toMatchObject({ generation: 2, value: 41 });
  });

  test('a rival write between a failure and its retry is not taken for our own', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('putIfAbsent', 'fail');
    bucket.fault('putIfAbsent', 'lose', { rival: rivalOf(1, null, 40) });
    expect(await increment(openRefs(bucket), 'things/one')).toMatchObject({ generation: 2, value: 41 });
  });

  test('a loser that then decides to change nothing writes nothing', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('putIfAbsent', 'lose', { rival: rivalOf(1, null, 40) });
    const result = await openRefs(bucket).update<number>('things/one', (current) =>
      current === null ? { value: 1, change: changeOf('create') } : null,
    );
    expect(result).toMatchObject({ generation: 1, writeId: 'rival-1', value: 40 });
    expect(await bucket.list('')).toHaveLength(1);
  });

  test('invalid bytes from a rival are reported as corruption', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('putIfAbsent', 'lose', { rival: bytesOf('null') });
    await expect(increment(openRefs(bucket), 'things/one')).rejects.toMatchObject({ code: 'corrupt' });
  });

  test.each<[string, (bucket: MemoryBucket) => void]>([
    ['every write fails', (bucket) => bucket.fault('putIfAbsent', 'fail', { count: 100 })],
    [
      'the answer is lost and cannot be read back',
      (bucket) => {
        bucket.fault('putIfAbsent', 'fail-after');
        bucket.fault('get', 'fail');
      },
    ],
    [
      'the write fails and cannot be read back',
      (bucket) => {
        bucket.fault('putIfAbsent', 'fail');
        bucket.fault('get', 'fail');
      },
    ],
  ])('when %s, the update throws outcome_unknown', async (_, plan) => {
    const bucket = createMemoryBucket();
    plan(bucket);
    const attempt = increment(openRefs(bucket), 'things/one');
    await expect(attempt).rejects.toMatchObject({ code: 'outcome_unknown' });
    // The message must not reveal names in the store.
    await expect(attempt).rejects.not.toMatchObject({ message: expect.stringContaining('things/one') });
    await expect(attempt).rejects.not.toMatchObject({ cause: undefined });
  });

  test('a full disk is reported as unavailable, not as an unknown outcome', async () => {
    const bucket = createMemoryBucket();
    const full = new RegistryError('unavailable', 'full');
    const refs = openRefs({ ...bucket, putIfAbsent: async () => Promise.reject(full) });
    await expect(increment(refs, 'things/one')).rejects.toBe(full);
    let writes = 0;
    const late = openRefs({
      ...bucket,
      putIfAbsent: async () => Promise.reject(writes++ === 0 ? new Error('reset') : full),
    });
    await expect(increment(late, 'things/one')).rejects.toMatchObject({ code: 'outcome_unknown' });
  });

  test('after an unknown outcome the next read bypasses the cache', async () => {
    const bucket = createMemoryBucket();
    const refs = openRefs(bucket);
    await increment(refs, 'things/one');
    bucket.fault('putIfAbsent', 'fail-after');
    bucket.fault('get', 'fail');
    await expect(increment(refs, 'things/one')).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(await increment(refs, 'things/one')).toMatchObject({ generation: 3, value: 3 });
  });

  test.each(['list', 'get'] as const)('a ref that cannot be read is not reported as absent: %s', async (method) => {
    const bucket = createMemoryBucket();
    await increment(openRefs(bucket), 'things/one');
    const refs = openRefs(bucket);
    for (const call of [() => refs.read('things/one'), () => increment(refs, 'things/one')]) {
      bucket.fault(method, 'fail');
      await expect(call()).rejects.toThrow('Planned failure');
    }
    expect((await refs.read('things/one'))?.value).toBe(1);
  });

  test('with random failures, every acknowledged change exists once, and none twice', async () => {
    const fault = fc.record({
      method: fc.constantFrom<'get' | 'putIfAbsent' | 'list'>('get', 'putIfAbsent', 'list'),
      kind: fc.constantFrom<Fault>('fail', 'fail-after'),
      skip: fc.nat(5),
      count: fc.integer({ min: 1, max: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(fault), { minLength: 6, maxLength: 14 }), async (plans) => {
        const bucket = createMemoryBucket();
        const writers = [openRefs(bucket, 'one'), openRefs(bucket, 'two')];
        const acknowledged: number[] = [];
        for (const [token, plan] of plans.entries()) {
          if (plan) {
            let { skip } = plan;
            bucket.fault(plan.method, plan.kind, { count: plan.count, when: () => skip-- <= 0 });
          }
          await Promise.all(
            writers.map((refs, writer) =>
              refs
                .update<number[]>('things/one', (current) => {
                  const tokens = current?.value ?? [];
                  return tokens.includes(token * 2 + writer)
                    ? null
                    : { value: [...tokens, token * 2 + writer], change: changeOf('add') };
                })
                .then(
                  () => acknowledged.push(token * 2 + writer),
                  (error: Error) => {
                    if (!isRegistryError(error, 'outcome_unknown') && !error.message.startsWith('Planned '))
                      throw error;
                  },
                ),
            ),
          );
        }
        for (const method of ['get', 'putIfAbsent', 'list'] as const) await drain(bucket, method);
        const history = await Array.fromAsync(openRefs(bucket).history<number[]>('things/one'));
        const tokens = history[0]?.value ?? [];
        expect(new Set(tokens).size).toBe(tokens.length);
        expect(tokens).toEqual(expect.arrayContaining(acknowledged));
        for (const [index, { value }] of history.entries())
          expect(value).toEqual(tokens.slice(0, tokens.length - index));
      }),
      { numRuns: 150 },
    );
  });

  /** Uses up what is still planned to go wrong. */
  async function drain(bucket: MemoryBucket, method: 'get' | 'putIfAbsent' | 'list'): Promise<void> {
    for (let quiet = 0; quiet < 8;) {
      const call = method === 'putIfAbsent' ? bucket.putIfAbsent('drain', new Uint8Array()) : bucket[method]('drain');
      quiet = await call.then(
        () => quiet + 1,
        () => 0,
      );
    }
  }
});

describe('what refs cost', () => {
  test('a read within maxAge does not ask the bucket, and concurrent readers ask once', async () => {
    const bucket = createMemoryBucket();
    await increment(openRefs(bucket), 'things/one');
    const refs = openRefs(bucket);
    const before = bucket.calls();
    await Promise.all(Array.from({ length: 50 }, () => refs.read('things/one')));
    await refs.read('things/one');
    const after = bucket.calls();
    expect([after.list - before.list, after.get - before.get]).toEqual([1, 1]);
  });

  test('listing many names takes few calls, however many generations they have', async () => {
    const bucket = createMemoryBucket();
    const refs = openRefs(bucket);
    const names = Array.from({ length: 700 }, (_, index) => `things/${String(index).padStart(3, '0')}`);
    for (const name of names) for (const _ of [1, 2]) await increment(refs, name);
    for (let index = 0; index < 1200; index++) await increment(refs, 'things/350');
    const before = bucket.calls();
    expect(await Array.fromAsync(refs.list('things/'))).toEqual(names);
    expect(bucket.calls().list - before.list).toBeLessThanOrEqual(5);
    expect(bucket.calls().get).toBe(before.get);
  });

  test('an unchanged value is listed but not read again', async () => {
    const bucket = createMemoryBucket();
    const own = createClock();
    const refs = createRefs(bucket, { ...own, uniqueId: createIds('own'), maxAge: 500 });
    await increment(refs, 'things/one');
    const before = bucket.calls();
    for (let index = 0; index < 5; index++) {
      own.advance(500);
      expect((await refs.read('things/one'))?.value).toBe(1);
    }
    expect(bucket.calls()).toEqual({ ...before, list: before.list + 5 });
  });

  test('a slow response does not hide our own later write', async () => {
    const bucket = createMemoryBucket();
    await increment(openRefs(bucket), 'things/one');
    const held = Promise.withResolvers<void>();
    let calls = 0;
    const slow: Bucket = {
      ...bucket,
      async list(prefix, options) {
        const keys = await bucket.list(prefix, options);
        if (++calls === 1) await held.promise;
        return keys;
      },
    };
    const refs = createRefs(slow, { ...clock, uniqueId: createIds('slow'), maxAge: 500 });
    const early = refs.read('things/one');
    expect((await increment(refs, 'things/one'))?.value).toBe(2);
    held.resolve();
    expect((await early)?.value).toBe(2);
    expect((await refs.read('things/one'))?.value).toBe(2);
  });

  test('a reader does not share a read that started too long ago', async () => {
    const bucket = createMemoryBucket();
    const own = createClock();
    await increment(openRefs(bucket), 'things/one');
    const held = Promise.withResolvers<void>();
    let holding = true;
    const slow: Bucket = {
      ...bucket,
      async get(key) {
        const bytes = await bucket.get(key);
        if (holding) await held.promise;
        return bytes;
      },
    };
    const refs = createRefs(slow, { ...own, uniqueId: createIds('slow'), maxAge: 500 });
    const early = refs.read('things/one');
    await new Promise((resolve) => setImmediate(resolve));
    await increment(openRefs(bucket, 'other'), 'things/one');
    own.advance(600);
    holding = false;
    const late = refs.read('things/one');
    held.resolve();
    expect((await late)?.value).toBe(2);
    await early;
    expect((await refs.read('things/one'))?.value).toBe(2);
  });
});
