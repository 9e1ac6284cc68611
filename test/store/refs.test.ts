import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isRegistryError, RegistryError } from '../../src/model/errors.ts';
import type { Bucket } from '../../src/store/bucket.ts';
import { createMemoryBucket, type Fault, type MemoryBucket } from '../memory-store.ts';
import { encodeJson } from '../../src/model/json.ts';
import { encodeEntry, entryKey, parseEntryKey } from '../../src/store/log/entry.ts';
import { createRefs, type Refs } from '../../src/store/refs.ts';
import { parseWorkKey, workKey } from '../../src/store/work.ts';
import { bytesOf } from '../contract/bucket.ts';
import { changeOf, createClock, createIds, increment, refsContract } from '../contract/refs.ts';
import { localBuckets } from './buckets.ts';

for (const { name, open } of localBuckets) refsContract(name, open);

const clock = createClock();

function openRefs(bucket: Bucket, owner = 'own'): Refs {
  return createRefs(bucket, { ...clock, uniqueId: createIds(owner) });
}

/** A record that is kept in a log, and one that expires: the first key that a change of it writes, and what a rival wrote there. */
const kinds = [
  {
    what: 'a log',
    one: 'things/one',
    two: 'things/two',
    key: entryKey('registry', 1),
    rival(value: number): Uint8Array {
      const change = {
        name: 'things/one',
        generation: 1,
        last: null,
        writeId: 'rival-1',
        ...changeOf('increment'),
        value,
      };
      const head = { sequence: 1, previous: null, at: '2026-01-01T00:00:00.000Z', writer: 'rival', index: null };
      return encodeEntry(head, [JSON.stringify(change)]).bytes;
    },
  },
  {
    what: 'records that expire',
    one: 'runs/acme/one',
    two: 'runs/acme/two',
    key: workKey('runs/acme/one', 1),
    rival: (value: number): Uint8Array =>
      encodeJson({
        generation: 1,
        writeId: 'rival-1',
        at: '2026-01-01T00:00:00.000Z',
        ...changeOf('increment'),
        value,
      }),
  },
];

describe('keys', () => {
  const number = fc.integer({ min: 1, max: 4095 * 10 ** 9 });

  test('of the newer sort first', () => {
    fc.assert(
      fc.property(number, number, (a, b) => {
        fc.pre(a !== b);
        const [older, newer] = [Math.min(a, b), Math.max(a, b)];
        expect(workKey('a/b', newer) < workKey('a/b', older)).toBe(true);
        expect(entryKey('a', newer) < entryKey('a', older)).toBe(true);
      }),
    );
  });

  test('are read back', () => {
    fc.assert(
      fc.property(number, (each) => {
        expect(parseWorkKey(workKey('a/b/c', each))).toEqual({ name: 'a/b/c', generation: each });
        expect(parseEntryKey(entryKey('@a-b', each))).toEqual({ partition: '@a-b', sequence: each });
      }),
    );
  });

  test('of 4,096 entries share a folder', () => {
    const folders = Array.from({ length: 8192 }, (_, index) => entryKey('a', index).split('/')[2]);
    expect(new Set(folders.slice(0, 4096)).size).toBe(1);
    expect(new Set(folders).size).toBe(2);
  });
});

describe.each(kinds)('$what, on a bucket that goes wrong', ({ one, two, key, rival }) => {
  test('a write that failed is done again, once', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('putIfAbsent', 'fail', { count: 2 });
    expect(await increment(openRefs(bucket), one)).toMatchObject({ generation: 1, value: 1 });
    expect(await bucket.list('')).toEqual([key]);
  });

  test('a lost answer is recognised as our own write', async () => {
    const bucket = createMemoryBucket();
    const refs = openRefs(bucket);
    bucket.fault('putIfAbsent', 'fail-after');
    let decisions = 0;
    const written = await refs.update(one, () => {
      decisions++;
      return { value: 'mine', change: changeOf('create') };
    });
    expect(written).toMatchObject({ generation: 1, writeId: expect.stringMatching(/^own/), value: 'mine' });
    expect(decisions).toBe(1);
    expect(await increment(refs, two)).toMatchObject({ generation: 1 });
    expect(await bucket.list('')).toHaveLength(2);
  });

  test('a lost answer after a failure is recognised too', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('putIfAbsent', 'fail');
    bucket.fault('putIfAbsent', 'fail-after');
    expect(await increment(openRefs(bucket), one)).toMatchObject({ generation: 1, value: 1 });
    expect(await bucket.list('')).toHaveLength(1);
  });

  test('the loser of a race decides again, on what the winner wrote', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('putIfAbsent', 'lose', { rival: rival(40) });
    expect(await increment(openRefs(bucket), one)).toMatchObject({ generation: 2, value: 41 });
  });

  test('a rival that wrote between a failure and its repetition is not taken for us', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('putIfAbsent', 'fail');
    bucket.fault('putIfAbsent', 'lose', { rival: rival(40) });
    expect(await increment(openRefs(bucket), one)).toMatchObject({ generation: 2, value: 41 });
  });

  test('a loser that then wants nothing writes nothing', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('putIfAbsent', 'lose', { rival: rival(40) });
    const result = await openRefs(bucket).update<number>(one, (current) =>
      current === null ? { value: 1, change: changeOf('create') } : null,
    );
    expect(result).toMatchObject({ generation: 1, writeId: 'rival-1', value: 40 });
    expect(await bucket.list('')).toHaveLength(1);
  });

  test('a rival whose bytes are no generation is corruption', async () => {
    const bucket = createMemoryBucket();
    bucket.fault('putIfAbsent', 'lose', { rival: bytesOf('null') });
    await expect(increment(openRefs(bucket), one)).rejects.toMatchObject({ code: 'corrupt' });
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
  ])('when %s, the outcome is said to be unknown', async (_, plan) => {
    const bucket = createMemoryBucket();
    plan(bucket);
    const attempt = increment(openRefs(bucket), one);
    await expect(attempt).rejects.toMatchObject({ code: 'outcome_unknown' });
    // The names in the store are no business of whoever asked.
    await expect(attempt).rejects.not.toMatchObject({ message: expect.stringContaining('one') });
    await expect(attempt).rejects.not.toMatchObject({ cause: undefined });
  });

  test('a full store is said to be full, not unknown', async () => {
    const bucket = createMemoryBucket();
    const full = new RegistryError('unavailable', 'full');
    const refs = openRefs({ ...bucket, putIfAbsent: async () => Promise.reject(full) });
    await expect(increment(refs, one)).rejects.toBe(full);
    let writes = 0;
    const late = openRefs({
      ...bucket,
      putIfAbsent: async () => Promise.reject(writes++ === 0 ? new Error('reset') : full),
    });
    await expect(increment(late, one)).rejects.toMatchObject({ code: 'outcome_unknown' });
  });

  test('after an unknown outcome the truth is read, not remembered', async () => {
    const bucket = createMemoryBucket();
    const refs = openRefs(bucket);
    await increment(refs, one);
    bucket.fault('putIfAbsent', 'fail-after');
    bucket.fault('get', 'fail');
    await expect(increment(refs, one)).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(await increment(refs, one)).toMatchObject({ generation: 3, value: 3 });
  });

  test.each(['list', 'get'] as const)('what cannot be read is not absent: %s', async (method) => {
    const bucket = createMemoryBucket();
    await increment(openRefs(bucket), one);
    const refs = openRefs(bucket);
    for (const call of [() => refs.read(one), () => increment(refs, one)]) {
      bucket.fault(method, 'fail');
      await expect(call()).rejects.toThrow('Planned failure');
    }
    expect((await refs.read(one))?.value).toBe(1);
  });

  test('whatever goes wrong, what was acknowledged is there once, and a token never twice', async () => {
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
                .update<number[]>(one, (current) => {
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
        const tokens = (await openRefs(bucket).read<number[]>(one))?.value ?? [];
        expect(new Set(tokens).size).toBe(tokens.length);
        expect(tokens).toEqual(expect.arrayContaining(acknowledged));
        if (one.startsWith('runs/')) return;
        const history = await Array.fromAsync(openRefs(bucket).history<number[]>(one));
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

describe('what records cost', () => {
  test('a read within the age asks nobody, and readers at once ask once', async () => {
    const bucket = createMemoryBucket();
    await increment(openRefs(bucket), 'things/one');
    const refs = openRefs(bucket);
    const before = bucket.calls();
    await Promise.all(Array.from({ length: 50 }, () => refs.read('things/one')));
    await refs.read('things/two');
    const after = bucket.calls();
    // The newest key, and the heads of all logs once; that entry, and once more to replay it.
    expect([after.list - before.list, after.get - before.get]).toEqual([2, 2]);
  });

  test('nothing new is one get for a log, however many records it has', async () => {
    const bucket = createMemoryBucket();
    const own = createClock();
    const refs = createRefs(bucket, { ...own, uniqueId: createIds('own'), maxAge: 500 });
    const names = Array.from({ length: 700 }, (_, index) => `things/${String(index).padStart(3, '0')}`);
    await Promise.all(names.map((name) => increment(refs, name)));
    const before = bucket.calls();
    for (let round = 0; round < 5; round++) {
      own.advance(500);
      await Promise.all(names.map((name) => refs.read(name)));
      expect(await Array.fromAsync(refs.list('things/'))).toEqual(names);
    }
    expect(bucket.calls()).toEqual({ ...before, get: before.get + 5 });
  });

  test('changes that wait at once share an entry', async () => {
    const bucket = createMemoryBucket();
    const refs = openRefs(bucket);
    await increment(refs, 'things/one');
    const before = bucket.calls();
    const names = Array.from({ length: 100 }, (_, index) => `things/${index}`);
    await Promise.all(names.map((name) => increment(refs, name)));
    expect(bucket.calls().putIfAbsent - before.putIfAbsent).toBeLessThanOrEqual(2);
  });

  test.each(['things/one', 'runs/acme/one'])(
    'an answer that was long on its way does not hide an own write: %s',
    async (one) => {
      const bucket = createMemoryBucket();
      const own = createClock();
      const held = Promise.withResolvers<void>();
      let isHolding = false;
      const hold = async <T>(answer: Promise<T>): Promise<T> => {
        const isHeld = isHolding;
        isHolding = false;
        const found = await answer;
        if (isHeld) await held.promise;
        return found;
      };
      const slow: Bucket = {
        ...bucket,
        list: (prefix, options) => hold(bucket.list(prefix, options)),
        get: (key) => hold(bucket.get(key)),
      };
      const refs = createRefs(slow, { ...own, uniqueId: createIds('slow'), maxAge: 500 });
      await increment(refs, one);
      own.advance(500);
      isHolding = true;
      const early = refs.read(one);
      await new Promise(setImmediate);
      expect((await increment(refs, one))?.value).toBe(2);
      held.resolve();
      expect((await early)?.value).toBe(2);
      expect((await refs.read(one))?.value).toBe(2);
    },
  );

  test.each(['things/one', 'runs/acme/one'])(
    'a reader does not take the answer to a question that was asked too long ago: %s',
    async (one) => {
      const bucket = createMemoryBucket();
      const own = createClock();
      const held = Promise.withResolvers<void>();
      let isHolding = false;
      const slow: Bucket = {
        ...bucket,
        async get(key) {
          const bytes = await bucket.get(key);
          if (isHolding) await held.promise;
          return bytes;
        },
        async list(prefix, options) {
          const keys = await bucket.list(prefix, options);
          if (isHolding) await held.promise;
          return keys;
        },
      };
      const refs = createRefs(slow, { ...own, uniqueId: createIds('slow'), maxAge: 500 });
      await increment(refs, one);
      own.advance(500);
      isHolding = true;
      const early = refs.read(one);
      await new Promise(setImmediate);
      await increment(openRefs(bucket, 'other'), one);
      own.advance(600);
      isHolding = false;
      const late = refs.read(one);
      held.resolve();
      expect((await late)?.value).toBe(2);
      await early;
      expect((await refs.read(one))?.value).toBe(2);
    },
  );
});
