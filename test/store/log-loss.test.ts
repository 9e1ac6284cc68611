import { describe, expect, test } from 'vitest';
import { listAll, type Bucket } from '../../src/store/bucket.ts';
import { entryKey } from '../../src/store/log/entry.ts';
import { headKey } from '../../src/store/log/heads.ts';
import { createMemoryBucket, type MemoryBucket } from '../memory-store.ts';
import { createRefs } from '../../src/store/refs.ts';
import { createClock, createIds, increment } from '../contract/refs.ts';

// A log that lost entries (design §5): what stands is served, and nothing is built on it.

const one = 'repositories/acme/one';
const clock = createClock();
const entry = (sequence: number) => entryKey('@acme', sequence);

interface Opened extends ReturnType<typeof createRefs> {
  told: unknown[];
}

function open(bucket: Bucket, own = clock): Opened {
  const told: unknown[] = [];
  const options = { headEvery: 3_600_000, failed: (error: unknown) => void told.push(error) };
  return { ...createRefs(bucket, { ...own, uniqueId: createIds('own'), ...options }), told };
}

/** A log of nine entries, of which each makes the record one larger, and its head. */
async function createLog(): Promise<MemoryBucket> {
  const bucket = createMemoryBucket();
  const refs = open(bucket);
  for (let count = 0; count < 9; count++) await increment(refs, one);
  await refs.settle();
  return bucket;
}

async function withoutHeads(bucket: Bucket): Promise<void> {
  for await (const key of listAll(bucket, 'work/')) await bucket.delete(key);
}

/** What stands is served, changes are refused, the damage is known and told once. */
async function expectDamaged(refs: Opened, { value, at }: { value: number | null; at: number }): Promise<void> {
  for (let round = 0; round < 3; round++) {
    expect((await refs.read<number>(one))?.value ?? null).toBe(value);
    await expect(increment(refs, one)).rejects.toMatchObject({ code: 'corrupt' });
    await expect(refs.readFresh(one)).rejects.toMatchObject({ code: 'corrupt' });
    await expect(refs.refresh('repositories/')).rejects.toMatchObject({ code: 'corrupt' });
  }
  expect(refs.damages()).toMatchObject([{ log: '@acme', entry: at }]);
  expect(refs.told).toHaveLength(1);
  await increment(refs, 'repositories/beta/other');
}

/** The record of a sound log, which takes changes again. */
async function afterRepair(refs: Opened): Promise<number | undefined> {
  const found = (await refs.read<number>(one))?.value;
  await increment(refs, one);
  expect(refs.damages()).toEqual([]);
  return found;
}

describe('a missing entry is no end of a log', () => {
  test.each([1, 5, 8])('entry %i of 9 at the start, and it is sound again once the entry is back', async (sequence) => {
    const bucket = await createLog();
    await withoutHeads(bucket);
    const bytes = (await bucket.get(entry(sequence)))!;
    await bucket.delete(entry(sequence));
    const own = createClock();
    const refs = open(bucket, own);
    await expectDamaged(refs, { value: sequence === 1 ? null : sequence - 1, at: sequence });
    await bucket.putIfAbsent(entry(sequence), bytes);
    own.advance(1000);
    expect(await afterRepair(refs)).toBe(9);
  });

  test.each([
    ['removed', null],
    ['damaged', Buffer.from('{}')],
  ])('the newest one that is %s under a process that goes on: nothing is acknowledged behind it', async (_, bytes) => {
    const bucket = await createLog();
    const own = createClock();
    const refs = open(bucket, own);
    expect((await refs.read<number>(one))?.value).toBe(9);
    const kept = (await bucket.get(entry(9)))!;
    await bucket.delete(entry(9));
    if (bytes !== null) await bucket.putIfAbsent(entry(9), bytes);
    own.advance(1000);
    await expect(increment(refs, one)).rejects.toMatchObject({ code: 'outcome_unknown' });
    await expect(increment(refs, one)).rejects.toMatchObject({ code: 'corrupt' });
    own.advance(2000);
    await expect(increment(refs, one)).rejects.toMatchObject({ code: 'corrupt' });
    expect(refs.damages()).toMatchObject([{ log: '@acme', entry: 9 }]);
    // With it, what was unknown is there, too.
    await bucket.delete(entry(9));
    await bucket.putIfAbsent(entry(9), kept);
    own.advance(2000);
    expect(await afterRepair(refs)).toBe(10);
    expect((await open(bucket).read<number>(one))?.value).toBe(11);
  });

  test('one of the newest that is removed under a process that writes all the time is noticed within a minute', async () => {
    const bucket = await createLog();
    const own = createClock();
    const refs = open(bucket, own);
    await increment(refs, one);
    const kept = (await bucket.get(entry(7)))!;
    await bucket.delete(entry(7));
    await increment(refs, one);
    own.advance(60_000);
    await increment(refs, one);
    own.advance(1000);
    await expect(increment(refs, one)).rejects.toMatchObject({ code: 'corrupt' });
    expect(refs.damages()).toMatchObject([{ log: '@acme', entry: 7 }]);
    await bucket.putIfAbsent(entry(7), kept);
    own.advance(2000);
    expect(await afterRepair(refs)).toBe(12);
  });

  test('in a process that runs: an entry that comes before a later one is there', async () => {
    const bucket = await createLog();
    const own = createClock();
    const refs = open(bucket, own);
    const other = open(bucket);
    expect((await refs.read<number>(one))?.value).toBe(9);
    for (let count = 0; count < 3; count++) await increment(other, one);
    await bucket.delete(entry(10));
    // Found by a list once a minute: a request for each change would cost too much.
    own.advance(60_000);
    await refs.read(one);
    await new Promise(setImmediate);
    own.advance(1000);
    await expectDamaged(refs, { value: 9, at: 10 });
  });
});

describe('a log that lost its newest entries', () => {
  test('at the start, where a head tells of them', async () => {
    const bucket = await createLog();
    const lost = [8, 9].map(entry);
    const bytes = await Promise.all(lost.map(async (key) => (await bucket.get(key))!));
    for (const key of lost) await bucket.delete(key);
    const own = createClock();
    const refs = open(bucket, own);
    await expectDamaged(refs, { value: 7, at: 8 });
    for (const [index, key] of lost.entries()) await bucket.putIfAbsent(key, bytes[index]!);
    own.advance(1000);
    expect(await afterRepair(refs)).toBe(9);
  });

  test('wholly, and the registry does not name it either', async () => {
    const bucket = await createLog();
    for await (const key of listAll(bucket, 'log/')) await bucket.delete(key);
    const refs = open(bucket);
    await refs.examine();
    expect(refs.damages()).toMatchObject([
      { log: 'registry', entry: 1 },
      { log: '@acme', entry: 1 },
    ]);
    await expect(increment(refs, one)).rejects.toMatchObject({ code: 'corrupt' });
    await expect(increment(refs, 'repositories/beta/other')).rejects.toMatchObject({ code: 'corrupt' });
    await expect(refs.refresh('resources/')).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('while a process runs, which has them still', async () => {
    const bucket = await createLog();
    await withoutHeads(bucket);
    const own = createClock();
    const refs = open(bucket, own);
    await refs.read(one);
    const bytes = (await bucket.get(entry(9)))!;
    await bucket.delete(entry(9));
    own.advance(60_000);
    await refs.read(one);
    await new Promise(setImmediate);
    own.advance(1000);
    await expectDamaged(refs, { value: 9, at: 9 });
    await bucket.putIfAbsent(entry(9), bytes);
    own.advance(1000);
    expect(await afterRepair(refs)).toBe(9);
  });

  test('and was forgotten by this process meanwhile', async () => {
    const bucket = await createLog();
    await withoutHeads(bucket);
    const own = createClock();
    const small = createRefs(bucket, { ...own, uniqueId: createIds('own'), memory: 1 });
    await small.read(one);
    await small.read('repositories/beta/other');
    await bucket.delete(entry(9));
    own.advance(500);
    await expect(increment(small, one)).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('is found by an answer that tells of them', async () => {
    const bucket = await createLog();
    await withoutHeads(bucket);
    const writer = open(bucket);
    await writer.read(one);
    const heads = writer.heads('acme');
    expect(heads).toMatchObject([{ log: '@acme', sequence: 9 }]);
    await bucket.delete(entry(9));
    const refs = open(bucket);
    expect((await refs.read<number>(one))?.value).toBe(8);
    await expect(refs.assertReached(heads)).rejects.toMatchObject({ code: 'corrupt' });
    await expectDamaged(refs, { value: 8, at: 9 });
  });
});

describe('heads', () => {
  const headsOf = (bucket: Bucket) => Array.fromAsync(listAll(bucket, 'work/heads/'));

  test('name the newest entry of each log, once for all changes in between, and the older ones leave', async () => {
    const bucket = await createLog();
    expect(await headsOf(bucket)).toEqual([
      headKey({ log: '@acme', sequence: 9 }),
      headKey({ log: 'registry', sequence: 1 }),
    ]);
    const refs = open(bucket);
    const before = bucket.calls();
    for (let count = 0; count < 20; count++) await increment(refs, one);
    await refs.settle();
    expect((await headsOf(bucket))[0]).toBe(headKey({ log: '@acme', sequence: 29 }));
    expect(await headsOf(bucket)).toHaveLength(2);
    const after = bucket.calls();
    expect(after.putIfAbsent - before.putIfAbsent).toBe(21);
    expect(after.delete - before.delete).toBe(1);
  });

  test('of a log that has none are written after it was read', async () => {
    const bucket = await createLog();
    const heads = await headsOf(bucket);
    await withoutHeads(bucket);
    const refs = open(bucket);
    await refs.examine();
    await refs.settle();
    expect(await headsOf(bucket)).toEqual(heads);
  });

  test('that cannot be written are told, and stop nothing', async () => {
    const bucket = await createLog();
    const refs = open(bucket);
    bucket.fault('putIfAbsent', 'fail', { when: (key) => key.startsWith('work/heads/') });
    await increment(refs, one);
    await refs.settle();
    expect(refs.told).toHaveLength(1);
    await increment(refs, one);
    await refs.settle();
    expect((await headsOf(bucket))[0]).toBe(headKey({ log: '@acme', sequence: 11 }));
  });
});
