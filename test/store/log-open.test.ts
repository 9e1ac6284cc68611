import { describe, expect, test, vi } from 'vitest';
import type { Bucket } from '../../src/store/bucket.ts';
import { checkLog } from '../../src/store/log/check-log.ts';
import { entryKey } from '../../src/store/log/entry.ts';
import { frameSize } from '../../src/store/log/summary.ts';
import { createMemoryBucket, type MemoryBucket } from '../memory-store.ts';
import { createObjects } from '../../src/store/objects.ts';
import { createRefs, type Refs } from '../../src/store/refs.ts';
import { changeOf, createClock, createIds, increment } from '../contract/refs.ts';

const clock = createClock();
const one = 'repositories/acme/one';

function open(bucket: Bucket, options: Partial<Parameters<typeof createRefs>[1]> = {}): Refs {
  return createRefs(bucket, { ...clock, uniqueId: createIds('own'), ...options });
}

/** The bucket, with a wait before each write of a key. */
function slowWrites(bucket: Bucket, wait: (key: string) => Promise<unknown>): Bucket {
  return {
    ...bucket,
    async putIfAbsent(key, bytes) {
      await wait(key);
      return bucket.putIfAbsent(key, bytes);
    },
  };
}

async function reads(bucket: MemoryBucket, work: () => Promise<unknown>): Promise<number> {
  const before = bucket.calls();
  await work();
  const after = bucket.calls();
  return after.get - before.get + (after.list - before.list);
}

describe('logs in memory', () => {
  test('one that is about to be changed is not forgotten: own writes are seen at once', async () => {
    const bucket = createMemoryBucket();
    const gate = Promise.withResolvers<void>();
    let isHolding = false;
    const refs = open(
      slowWrites(bucket, () => (isHolding ? gate.promise : Promise.resolve())),
      { memory: 1 },
    );
    const two = 'repositories/beta/two';
    for (const name of [one, two]) await increment(refs, name);
    isHolding = true;
    const early = increment(refs, one);
    await new Promise(setImmediate);
    await refs.read(two);
    const changes = [early, increment(refs, one), increment(refs, two)];
    await new Promise(setImmediate);
    await refs.read(two);
    gate.resolve();
    await Promise.all(changes);
    expect((await refs.read(two))?.value).toBe(2);
  });

  test('count by what they hold, however often that was changed', async () => {
    const bucket = createMemoryBucket();
    const refs = open(bucket, { memory: 100_000 });
    await increment(refs, one);
    await increment(refs, 'repositories/beta/two');
    for (let index = 0; index < 1000; index++) await increment(refs, one);
    expect(await reads(bucket, () => refs.read('repositories/beta/two'))).toBe(0);
  });

  test('of organizations that nobody has are forgotten too', async () => {
    const bucket = createMemoryBucket();
    const refs = open(bucket, { memory: 1_000_000 });
    await refs.read('repositories/nobody/one');
    for (let index = 0; index < 2000; index++) await refs.read(`repositories/nobody${index}/one`);
    expect(await reads(bucket, () => refs.read('repositories/nobody/one'))).toBeGreaterThan(0);
  });

  test('are not read to list what comes after the names in them', async () => {
    const bucket = createMemoryBucket();
    const writer = open(bucket);
    for (let index = 10; index < 60; index++) await increment(writer, `repositories/org${index}/one`);
    const cold = open(bucket);
    const work = async () => {
      const names = await Array.fromAsync(cold.list('repositories/', 'repositories/org57/one'));
      expect(names).toEqual(['repositories/org58/one', 'repositories/org59/one']);
    };
    expect(await reads(bucket, work)).toBeLessThan(80);
  });
});

describe('what is new', () => {
  test.each([one, 'runs/acme/one'])('is seen in time, though an own write took long: %s', async (name) => {
    const bucket = createMemoryBucket();
    const own = createClock();
    let takes = 0;
    // The answer takes long; the bytes are there at once.
    const slow: Bucket = {
      ...bucket,
      async putIfAbsent(key, bytes) {
        const answer = await bucket.putIfAbsent(key, bytes);
        if (takes > 0) {
          await increment(createRefs(bucket, { ...own, uniqueId: createIds('other') }), name);
          own.advance(takes);
        }
        return answer;
      },
    };
    const refs = createRefs(slow, { ...own, uniqueId: createIds('slow') });
    await increment(refs, name);
    takes = 2000;
    await increment(refs, name);
    expect((await refs.read(name))?.value).toBe(3);
  });

  test('a damaged entry is read once in the age, not for each reader', async () => {
    const bucket = createMemoryBucket();
    const own = createClock();
    const refs = createRefs(bucket, { ...own, uniqueId: createIds('own') });
    await increment(refs, one);
    await bucket.putIfAbsent(entryKey('@acme', 2), Buffer.from('damaged'));
    own.advance(500);
    const work = async () => {
      for (let index = 0; index < 20; index++) expect((await refs.read(one))?.value).toBe(1);
    };
    expect(await reads(bucket, work)).toBe(1);
    own.advance(500);
    expect(await reads(bucket, work)).toBe(1);
  });
});

describe('a summary', () => {
  test('that cannot be written is tried again after as many entries as make one, and logged once each time', async () => {
    const bucket = createMemoryBucket();
    let told = 0;
    const refusing: Bucket = { ...bucket, putIfAbsent: refusingObjects(bucket) };
    const refs = open(refusing, { failed: () => told++ });
    for (let index = 0; index < 600; index++) {
      await increment(refs, one);
      if (index % 50 === 0) await new Promise(setImmediate);
    }
    await vi.waitFor(() => expect(told).toBeGreaterThan(0));
    expect(told).toBeLessThanOrEqual(3);
  });

  test('is made and named also where each process writes once', async () => {
    const bucket = createMemoryBucket();
    const refs = open(bucket);
    for (let index = 0; index < 255; index++) await increment(refs, one);
    for (let index = 0; index < 4; index++) {
      await increment(open(bucket), one);
    }
    const objects = (await bucket.list('objects/')).length;
    expect(await reads(bucket, () => open(bucket).read(one))).toBeLessThan(20);
    for (let index = 0; index < 4; index++) await increment(open(bucket), one);
    expect(await bucket.list('objects/')).toHaveLength(objects);
  });

  test('of which any piece is lost is made again, so that later starts are as quick as before', async () => {
    for (let piece = 0, count = 1; piece < count; piece++) {
      const bucket = createMemoryBucket();
      const refs = open(bucket);
      for (let index = 0; index < 600; index++) await increment(refs, one);
      for (let index = 0; index < 2; index++) await increment(open(bucket), one);
      const keys = await bucket.list('objects/');
      count = keys.length;
      await bucket.delete(keys[piece]!);
      for (let index = 0; index < 2; index++) await increment(open(bucket), one);
      expect(await reads(bucket, () => open(bucket).read(one)), keys[piece]).toBeLessThan(20);
    }
  });

  test('is cut into segments by size, so that long entries do not make one that cannot be read', async () => {
    const bucket = createMemoryBucket();
    const written: number[] = [];
    const refuse = { ...bucket, putIfAbsent: refusingObjects(bucket) };
    const refs = open(refuse);
    let seed = 1;
    const noise = () =>
      Array.from({ length: 1000 }, () => (seed = (seed * 48_271) % 2_147_483_647).toString(36)).join('');
    for (let index = 0; index < 300; index++) {
      const text = Array.from({ length: 5 }, noise).join('');
      await refs.update(one, () => ({ value: text, change: changeOf('set') }));
    }
    const next = open({
      ...bucket,
      putIfAbsent(key, bytes) {
        if (key.startsWith('objects/')) written.push(bytes.byteLength);
        return bucket.putIfAbsent(key, bytes);
      },
    });
    await increment(next, 'repositories/acme/two');
    expect(written.length).toBeGreaterThan(5);
    expect(Math.max(...written)).toBeLessThan(2 * 1024 * 1024);
    expect(await open(bucket).read(one)).toEqual(await refs.read(one));
    expect(await damagesIn(bucket, '@acme')).toEqual([]);
  });
});

test('a log is read in frames, whatever its entries and its checkpoint weigh, so that others are answered meanwhile', async () => {
  const bucket = createMemoryBucket();
  const sizes: number[] = [];
  const refs = open({
    ...bucket,
    putIfAbsent(key, bytes) {
      if (key.startsWith('log/')) sizes.push(bytes.byteLength);
      return bucket.putIfAbsent(key, bytes);
    },
  });
  const value = 'x'.repeat(8 * 1024);
  const names = Array.from({ length: 250 }, (_, index) => `repositories/acme/r${index}`);
  await Promise.all(names.map((name) => refs.update(name, () => ({ value, change: changeOf('set') }))));
  expect(Math.max(...sizes)).toBeLessThan(frameSize + 2 * value.length);
  const readWhole = async () => expect(await open(bucket).all('repositories/acme/')).toHaveLength(names.length);
  expect(await maxParsedInOneTurn(readWhole)).toBeLessThan(2 * frameSize + 2 * value.length);
  for (let index = 0; index < 256; index++) await increment(refs, 'connections/acme/apis/one');
  // Makes a checkpoint, and names it.
  await increment(open(bucket), 'connections/acme/apis/one');
  expect(await reads(bucket, readWhole)).toBeLessThan(20);
  expect(await maxParsedInOneTurn(readWhole)).toBeLessThan(2 * frameSize + 2 * value.length);
});

describe('a stray entry', () => {
  test('far after the newest one is not looked for one by one', async () => {
    const bucket = createMemoryBucket();
    const refs = open(bucket);
    for (const _ of [1, 2, 3]) await increment(refs, one);
    await bucket.putIfAbsent(entryKey('@acme', 3_000_000), Buffer.from('damaged'));
    const work = async () => expect((await open(bucket).read(one))?.value).toBe(3);
    expect(await reads(bucket, work)).toBeLessThan(40);
    const damages = await damagesIn(bucket, '@acme');
    expect(damages.length).toBeLessThan(5);
    expect(damages).toContain(entryKey('@acme', 3_000_000));
  });
});

test('an entry that stands in the place of one of another log is found', async () => {
  const bucket = createMemoryBucket();
  const refs = open(bucket);
  for (const org of ['acme', 'beta']) await increment(refs, `repositories/${org}/one`);
  const keys = ['@acme', '@beta'].map((log) => entryKey(log, 1));
  const entries = await Promise.all(keys.map(async (key) => (await bucket.get(key))!));
  for (const [index, key] of keys.entries()) {
    await bucket.delete(key);
    await bucket.putIfAbsent(key, entries[1 - index]!);
  }
  expect(await damagesIn(bucket, '@acme')).toContain(keys[0]);
  expect(await damagesIn(bucket, '@beta')).toContain(keys[1]);
});

/** Characters of JSON that the work parses at most before the event loop goes on. */
async function maxParsedInOneTurn(work: () => Promise<unknown>): Promise<number> {
  let [most, parsed, isOver] = [0, 0, false];
  const { parse } = JSON;
  using spy = vi.spyOn(JSON, 'parse');
  spy.mockImplementation((text, reviver) => {
    parsed += text.length;
    most = Math.max(most, parsed);
    return parse(text, reviver) as unknown;
  });
  const turns = (async () => {
    for (; !isOver; parsed = 0) await new Promise(setImmediate);
  })();
  await work();
  isOver = true;
  await turns;
  return most;
}

/** Takes entries of logs only. */
function refusingObjects(bucket: Bucket): Bucket['putIfAbsent'] {
  return async (key, bytes) => {
    if (key.startsWith('objects/')) throw new Error('full');
    return bucket.putIfAbsent(key, bytes);
  };
}

async function damagesIn(bucket: Bucket, log: string): Promise<string[]> {
  const damages: string[] = [];
  const listener = { entry: () => undefined, damaged: (key: string) => void damages.push(key) };
  await checkLog(bucket, createObjects(bucket), log, listener);
  return damages;
}
