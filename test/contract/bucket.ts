import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { listAll, type Bucket } from '../../src/store/bucket.ts';

/** What a contract suite is run against: an empty bucket and the end of it. */
export interface OpenedBucket {
  bucket: Bucket;
  close(): Promise<void>;
}

/** Bytes that say where they are from. */
export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Texts that are no key, each for a reason of its own. */
export const notKeys = [
  '',
  '/',
  'a/',
  '/a',
  'a//b',
  '.',
  '..',
  'a/./b',
  'a/../b',
  '../a',
  '.hidden',
  'a/.tmp',
  'a b',
  'a\0b',
  'a\\b',
  'a%2fb',
  'a~b',
  'ä',
  'a\n',
  '‮a',
  'a'.repeat(201),
  `${'a/'.repeat(512)}aa`,
];

const segment = fc.stringMatching(/^[AZaz09_+=@-][AZaz09._+=@-]{0,3}$/);
/** Keys of few characters, so that many share prefixes and differ in case, in dots and in where a segment ends. */
const key = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => segments.join('/'));
/** Sets of keys of which none is the folder of another. */
const keySet = fc
  .uniqueArray(key, { maxLength: 30 })
  .map((keys) => keys.filter((one) => !keys.some((other) => other.startsWith(`${one}/`))));

/** Checks every promise of the Bucket port (`src/store/bucket.ts`). `open` gives an empty bucket each time. */
export function bucketContract(name: string, open: () => Promise<OpenedBucket>): void {
  describe(`${name} keeps the bucket's promises`, () => {
    let opened: OpenedBucket;
    let bucket: Bucket;
    beforeEach(async () => {
      opened = await open();
      bucket = opened.bucket;
    });
    afterEach(() => opened.close());

    async function fill(keys: readonly string[]): Promise<void> {
      await Promise.all(keys.map((one) => bucket.putIfAbsent(one, bytesOf(one))));
    }

    test('what was written is read, byte for byte', async () => {
      const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 7919) % 256);
      expect(await bucket.get('a/b')).toBeNull();
      expect(await bucket.putIfAbsent('a/b', bytes)).toBe('created');
      expect(await bucket.putIfAbsent('a/empty', new Uint8Array())).toBe('created');
      expect(await bucket.putIfAbsent('a/part', bytes.subarray(1000, 1003))).toBe('created');
      expect(Buffer.from((await bucket.get('a/b'))!).equals(bytes)).toBe(true);
      expect([...(await bucket.get('a/empty'))!]).toEqual([]);
      expect([...(await bucket.get('a/part'))!]).toEqual([...bytes.subarray(1000, 1003)]);
    });

    test('a part is what lies between two places, as far as there is anything', async () => {
      const bytes = Uint8Array.from({ length: 300_000 }, (_, index) => (index * 7919) % 256);
      await bucket.putIfAbsent('a/b', bytes);
      await bucket.putIfAbsent('a/empty', new Uint8Array());
      const part = async (start: number, end: number) => Buffer.from((await bucket.getPart('a/b', start, end))!);
      expect((await part(0, 10)).equals(bytes.subarray(0, 10))).toBe(true);
      expect((await part(70_000, 270_001)).equals(bytes.subarray(70_000, 270_001))).toBe(true);
      expect((await part(299_990, 900_000)).equals(bytes.subarray(299_990))).toBe(true);
      expect((await part(0, 1e9)).equals(bytes)).toBe(true);
      expect((await part(300_000, 300_010)).byteLength).toBe(0);
      expect((await part(900_000, 900_010)).byteLength).toBe(0);
      expect((await bucket.getPart('a/empty', 0, 10))!.byteLength).toBe(0);
      expect(await bucket.getPart('a/absent', 0, 10)).toBeNull();
      expect(await bucket.getPart('a', 0, 10)).toBeNull();
      for (const bad of notKeys) await expect(bucket.getPart(bad, 0, 1)).rejects.toThrow(TypeError);
    });

    test('the first bytes stay', async () => {
      expect(await bucket.putIfAbsent('a', bytesOf('first'))).toBe('created');
      expect(await bucket.putIfAbsent('a', bytesOf('second'))).toBe('exists');
      expect(await bucket.putIfAbsent('a', bytesOf('first'))).toBe('exists');
      expect(Buffer.from((await bucket.get('a'))!).toString()).toBe('first');
    });

    test('what the caller does to its bytes later changes nothing', async () => {
      const mine = bytesOf('mine');
      await bucket.putIfAbsent('a', mine);
      mine.fill(0);
      (await bucket.get('a'))!.fill(1);
      expect(Buffer.from((await bucket.get('a'))!).toString()).toBe('mine');
    });

    test('of many writers one wins, and its bytes are there', async () => {
      for (let race = 0; race < 10; race++) {
        const path = `races/${race}`;
        const answers = await Promise.all(
          Array.from({ length: 32 }, (_, writer) => bucket.putIfAbsent(path, bytesOf(`writer ${writer}`))),
        );
        expect(answers.filter((answer) => answer === 'created')).toHaveLength(1);
        const winner = answers.indexOf('created');
        expect(Buffer.from((await bucket.get(path))!).toString()).toBe(`writer ${winner}`);
      }
    });

    test('a reader sees all of the bytes or none', async () => {
      const bytes = new Uint8Array(4 * 1024 * 1024).fill(7);
      for (let round = 0; round < 5; round++) {
        const path = `large/${round}`;
        let written = false;
        const writing = bucket.putIfAbsent(path, bytes).finally(() => (written = true));
        const sizes = new Set<number>();
        while (!written) sizes.add((await bucket.get(path))?.byteLength ?? 0);
        expect(await writing).toBe('created');
        sizes.add((await bucket.get(path))!.byteLength);
        expect([...sizes].filter((size) => size !== 0)).toEqual([bytes.byteLength]);
      }
    });

    test('what is written is in the very next list', async () => {
      for (let index = 0; index < 20; index++) {
        const path = `seen/${index % 3}/${index}`;
        await bucket.putIfAbsent(path, bytesOf('x'));
        expect(await bucket.list(path)).toEqual([path]);
      }
    });

    test('a list is in the order of whole keys: a folder where its slash sorts', async () => {
      const keys = ['a+', 'a-b', 'a.b', 'a/b', 'a0', 'aA/x', 'a_', 'aa', 'B', 'b/-', 'b/0/1', 'b/0-'];
      await fill(keys);
      expect(await bucket.list('')).toEqual([...keys].sort());
      expect(await bucket.list('a')).toEqual([...keys].filter((one) => one.startsWith('a')).sort());
      expect(await bucket.list('a/')).toEqual(['a/b']);
      expect(await bucket.list('a/b')).toEqual(['a/b']);
      expect(await bucket.list('b/0')).toEqual(['b/0-', 'b/0/1']);
      expect(await bucket.list('b/0/1/')).toEqual([]);
      expect(await bucket.list('c')).toEqual([]);
      expect(await bucket.list('', { after: 'a.b', limit: 2 })).toEqual(['a/b', 'a0']);
      expect(await bucket.list('', { after: 'a/', limit: 1 })).toEqual(['a/b']);
      expect(await bucket.list('a', { after: '0' })).toHaveLength(8);
      expect(await bucket.list('a', { after: 'b' })).toEqual([]);
    });

    test('a page holds 1,000 keys by default', async () => {
      const keys = Array.from({ length: 1003 }, (_, index) => `many/${String(index).padStart(4, '0')}`);
      for (let start = 0; start < keys.length; start += 100) await fill(keys.slice(start, start + 100));
      expect(await bucket.list('many/')).toEqual(keys.slice(0, 1000));
      expect(await Array.fromAsync(listAll(bucket, 'many/'))).toEqual(keys);
    });

    test('a key may be long', async () => {
      const long = Array.from({ length: 5 }, () => 'k'.repeat(200)).join('/');
      await fill([long]);
      expect(await bucket.list('k')).toEqual([long]);
      expect(Buffer.from((await bucket.get(long))!).toString()).toBe(long);
    });

    test.each(notKeys.map((text) => [JSON.stringify(text.slice(0, 40)), text]))(
      'refuses the key %s',
      async (_, text) => {
        await expect(bucket.get(text)).rejects.toThrow(TypeError);
        await expect(bucket.putIfAbsent(text, bytesOf('x'))).rejects.toThrow(TypeError);
        await expect(bucket.delete(text)).rejects.toThrow(TypeError);
        expect(await bucket.list('')).toEqual([]);
      },
    );

    test.each(['../', '/', '.', './', '..', '\0', 'a/../'])('no prefix leads out of the bucket: %j', async (prefix) => {
      await fill(['a/b']);
      expect(await bucket.list(prefix)).toEqual([]);
      expect(await bucket.list('', { after: prefix, limit: 5 })).toEqual(prefix > 'a/b' ? [] : ['a/b']);
    });

    test('what is deleted is gone, and its key is free', async () => {
      await fill(['d/a', 'd/b']);
      await bucket.delete('d/a');
      await bucket.delete('d/a');
      await bucket.delete('never/was');
      expect(await bucket.get('d/a')).toBeNull();
      expect(await bucket.list('')).toEqual(['d/b']);
      expect(await bucket.putIfAbsent('d/a', bytesOf('again'))).toBe('created');
      expect(await bucket.list('')).toEqual(['d/a', 'd/b']);
    });

    test('keys created before a walk are in it once, whatever is written meanwhile', async () => {
      const before = Array.from({ length: 60 }, (_, index) => `walk/${index % 7}/k${index}`);
      await fill(before);
      let walking = true;
      const writing = (async () => {
        for (let index = 0; walking; index++) await bucket.putIfAbsent(`walk/${index % 9}/n${index}`, bytesOf('x'));
      })();
      for (let walk = 0; walk < 5; walk++) {
        const seen: string[] = [];
        for (let page = await bucket.list('walk/', { limit: 7 }); page.length > 0;) {
          seen.push(...page);
          page = await bucket.list('walk/', { limit: 7, after: page.at(-1)! });
        }
        expect(seen).toEqual([...new Set(seen)].sort());
        expect(seen.filter((one) => /\/k\d+$/.test(one))).toEqual([...before].sort());
      }
      walking = false;
      await writing;
    });

    test('any keys, any prefix, any page: as a sorted list would', async () => {
      const step = fc.record({
        cut: fc.nat(12),
        after: fc.option(fc.oneof(key, fc.constant(''), fc.stringMatching(/^[-./0AZa~]{0,6}$/))),
        limit: fc.integer({ min: 1, max: 12 }),
      });
      await fc.assert(
        fc.asyncProperty(
          keySet,
          fc.array(step, { minLength: 1, maxLength: 6 }),
          fc.nat(),
          async (keys, steps, gone) => {
            const own = await open();
            try {
              await Promise.all(keys.map((one) => own.bucket.putIfAbsent(one, bytesOf(one))));
              const deleted = keys.length === 0 ? null : keys[gone % keys.length]!;
              if (deleted !== null) await own.bucket.delete(deleted);
              const left = keys.filter((one) => one !== deleted).sort();
              expect(await own.bucket.list('')).toEqual(left);
              for (const { cut, after, limit } of steps) {
                const prefix = (keys[cut % Math.max(keys.length, 1)] ?? '').slice(0, cut);
                const expected = left.filter((one) => one.startsWith(prefix) && one > (after ?? '')).slice(0, limit);
                expect(await own.bucket.list(prefix, after === null ? { limit } : { after, limit })).toEqual(expected);
              }
            } finally {
              await own.close();
            }
          },
        ),
        { numRuns: 15 },
      );
    });
  });
}
