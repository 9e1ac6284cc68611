import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { digestOf } from '../../src/model/digest.ts';
import type { Bucket } from '../../src/store/bucket.ts';
import { generationKey, newestGenerations } from '../../src/store/generations.ts';
import { createRefs, type Refs } from '../../src/store/refs.ts';
import { bytesOf, notKeys, type OpenedBucket } from './bucket.ts';

/** The clocks of a process, which stand until they are moved. */
export interface TestClock {
  now: () => Date;
  monotonic: () => number;
  /** Lets time pass, on both. */
  advance: (milliseconds: number) => void;
  /** Sets the clock on the wall. */
  step: (milliseconds: number) => void;
}

export function createClock(): TestClock {
  let time = Date.parse('2026-01-01T00:00:00Z');
  let passed = 0;
  return {
    now: () => new Date(time),
    monotonic: () => passed,
    advance(milliseconds) {
      time += milliseconds;
      passed += milliseconds;
    },
    step: (milliseconds) => void (time += milliseconds),
  };
}

/** Ids in order, with who gave them. */
export function createIds(owner: string): () => string {
  let count = 0;
  return () => `${owner}-${++count}`;
}

/** Who did it, for tests in which it does not matter. */
export function changeOf(action: string): { actor: string; origin: null; action: string } {
  return { actor: 'test', origin: null, action };
}

/** Adds one to the counter that the ref holds. */
export function increment(refs: Refs, name: string, actor = 'test'): ReturnType<Refs['update']> {
  return refs.update<number>(name, (current) => ({
    value: (current?.value ?? 0) + 1,
    change: { actor, origin: null, action: 'increment' },
  }));
}

/** Checks every promise of Refs on a bucket. `open` gives an empty one each time. */
export function refsContract(name: string, open: () => Promise<OpenedBucket>): void {
  describe(`refs on ${name}`, () => {
    let opened: OpenedBucket;
    let bucket: Bucket;
    let clock: ReturnType<typeof createClock>;
    let instances = 0;
    beforeEach(async () => {
      opened = await open();
      bucket = opened.bucket;
      clock = createClock();
    });
    afterEach(() => opened.close());

    function openRefs(maxAge = 500): Refs {
      return createRefs(bucket, { ...clock, uniqueId: createIds(`instance${++instances}`), maxAge });
    }

    test('a watcher is told of what is appended through the same object, and of nothing else', async () => {
      const refs = openRefs();
      const told: string[] = [];
      const stop = refs.watch((changed) => void told.push(changed));
      await increment(refs, 'things/one');
      await refs.update('things/one', () => null);
      await increment(openRefs(), 'things/two');
      await increment(refs, 'things/three');
      stop();
      await increment(refs, 'things/one');
      expect(told).toEqual(['things/one', 'things/three']);
    });

    test.each([3_600_000, -3_600_000])(
      'what others wrote is seen in time, though the clock was set by %i ms',
      async (step) => {
        const [writer, reader] = [openRefs(), openRefs()];
        await increment(writer, 'things/one');
        await reader.read('things/one');
        clock.step(step);
        await increment(writer, 'things/one');
        clock.advance(499);
        expect((await reader.read('things/one'))?.value).toBe(1);
        clock.advance(1);
        expect((await reader.read('things/one'))?.value).toBe(2);
      },
    );

    test('a file that somebody left among the generations is passed over', async () => {
      await increment(openRefs(), 'things/one');
      for (const stray of [
        'things/one/0',
        'things/one/999999999999998.bak',
        'things/one/notes.txt',
        'things/x.txt',
        'things/two/y.txt',
      ])
        await bucket.putIfAbsent(`refs/${stray}`, bytesOf('not ours'));
      const refs = openRefs();
      expect((await refs.read('things/one'))?.value).toBe(1);
      expect((await increment(refs, 'things/one'))?.value).toBe(2);
      expect(await refs.read('things/two')).toBeNull();
      expect(await Array.fromAsync(refs.list('things/'))).toEqual(['things/one']);
      expect(await Array.fromAsync(newestGenerations(bucket, 'things/'))).toEqual([
        { name: 'things/one', generation: 2 },
      ]);
      expect(await Array.fromAsync(refs.history('things/one'))).toHaveLength(2);
    });

    test('absent is null, and deciding on nothing writes nothing', async () => {
      const refs = openRefs();
      expect(await refs.read('things/one')).toBeNull();
      expect(await refs.update('things/one', () => null)).toBeNull();
      expect(await Array.fromAsync(refs.history('things/one'))).toEqual([]);
      expect(await bucket.list('')).toEqual([]);
    });

    test('a fresh read sees what another wrote a moment ago; a read may not', async () => {
      const refs = openRefs();
      expect(await refs.readFresh('things/one')).toBeNull();
      await increment(refs, 'things/one');
      await increment(openRefs(), 'things/one');
      expect((await refs.read<number>('things/one'))?.value).toBe(1);
      expect((await refs.readFresh<number>('things/one'))?.value).toBe(2);
      expect((await refs.read<number>('things/one'))?.value).toBe(2);
    });

    test('a generation says who did what, when, and after which one', async () => {
      const refs = openRefs();
      const change = { actor: 'key:k1', origin: '192.0.2.7', action: 'publish 1.0.0' };
      const first = await refs.update('things/one', () => ({ value: { name: 'A' }, change }));
      clock.advance(1500);
      const second = await refs.update<{ name: string }>('things/one', (current) => ({
        value: { name: `${current!.value.name}B` },
        change: changeOf('rename'),
      }));
      const bytes = await bucket.get(generationKey('things/one', 1));
      expect(first).toEqual({
        generation: 1,
        previous: null,
        writeId: expect.stringMatching(/^instance/),
        at: '2026-01-01T00:00:00.000Z',
        ...change,
        value: { name: 'A' },
      });
      expect(JSON.parse(Buffer.from(bytes!).toString())).toEqual(first);
      expect(second).toMatchObject({ generation: 2, previous: digestOf(bytes!), value: { name: 'AB' } });
      expect(second!.at).toBe('2026-01-01T00:00:01.500Z');
      expect(await refs.update('things/one', () => null)).toEqual(second);
      expect(await openRefs().read('things/one')).toEqual(second);
    });

    test('the history is a chain, newest first', async () => {
      const refs = openRefs();
      for (let index = 0; index < 12; index++) await increment(refs, 'things/one');
      const history = await Array.fromAsync(openRefs().history<number>('things/one'));
      expect(history.map(({ generation, value }) => [generation, value])).toEqual(
        Array.from({ length: 12 }, (_, index) => [12 - index, 12 - index]),
      );
      for (const { generation, previous } of history) {
        const before = generation === 1 ? null : await bucket.get(generationKey('things/one', generation - 1));
        expect(previous).toBe(before && digestOf(before));
      }
      expect(await bucket.list('refs/things/one/', { limit: 1 })).toEqual([generationKey('things/one', 12)]);
    });

    test.each([
      ['changed', (bytes: Uint8Array) => Buffer.from(Buffer.from(bytes).toString().replace('"value":3', '"value":9'))],
      ['no JSON', () => bytesOf('{"generation":')],
      ['gone', () => null],
    ])('a history with a generation %s is told apart', async (_, damage) => {
      const refs = openRefs();
      for (let index = 0; index < 5; index++) await increment(refs, 'things/one');
      const key = generationKey('things/one', 3);
      const damaged = damage((await bucket.get(key))!);
      await bucket.delete(key);
      if (damaged !== null) await bucket.putIfAbsent(key, damaged);
      await expect(Array.fromAsync(openRefs().history('things/one'))).rejects.toMatchObject({ code: 'corrupt' });
      expect((await openRefs().read('things/one'))?.value).toBe(5);
    });

    test.each(['', 'null', '7', '[]', '"text"', '{}', '{"generation":2,"writeId":"x"}', '\xff'])(
      'a newest generation that is %j is corrupt, and nothing is built on it',
      async (text) => {
        await bucket.putIfAbsent(generationKey('things/one', 1), bytesOf(text));
        const refs = openRefs();
        await expect(refs.read('things/one')).rejects.toMatchObject({ code: 'corrupt' });
        await expect(increment(refs, 'things/one')).rejects.toMatchObject({ code: 'corrupt' });
        await expect(Array.fromAsync(refs.history('things/one'))).rejects.toMatchObject({ code: 'corrupt' });
        expect(await bucket.list('')).toHaveLength(1);
      },
    );

    test('of many writers none is lost and none counts twice', async () => {
      const writers = Array.from({ length: 6 }, () => openRefs());
      await Promise.all(
        writers.map(async (refs, writer) => {
          for (let index = 0; index < 10; index++) await increment(refs, 'things/one', `writer ${writer}`);
        }),
      );
      const history = await Array.fromAsync(openRefs().history<number>('things/one'));
      expect(history.map(({ value }) => value)).toEqual(Array.from({ length: 60 }, (_, index) => 60 - index));
      for (let writer = 0; writer < 6; writer++) {
        expect(history.filter(({ actor }) => actor === `writer ${writer}`)).toHaveLength(10);
      }
      expect(new Set(history.map(({ writeId }) => writeId)).size).toBe(60);
    });

    test('calls that one instance gets at once take turns', async () => {
      const refs = openRefs();
      const generations = await Promise.all(Array.from({ length: 40 }, () => increment(refs, 'things/one')));
      expect(generations.map((generation) => generation!.value)).toEqual(
        Array.from({ length: 40 }, (_, index) => index + 1),
      );
    });

    test('a decision that throws changes nothing and stops nobody', async () => {
      const refs = openRefs();
      await increment(refs, 'things/one');
      const refusal = refs.update('things/one', () => {
        throw new Error('no');
      });
      const next = increment(refs, 'things/one');
      await expect(refusal).rejects.toThrow('no');
      expect((await next)?.value).toBe(2);
    });

    test('own writes are seen at once, those of others within the age', async () => {
      const [one, other] = [openRefs(500), openRefs(500)];
      expect(await other.read('things/one')).toBeNull();
      await increment(one, 'things/one');
      expect((await one.read('things/one'))?.value).toBe(1);
      clock.advance(500);
      expect((await other.read('things/one'))?.value).toBe(1);
      await increment(one, 'things/one');
      await increment(other, 'things/one');
      expect((await other.read('things/one'))?.value).toBe(3);
      clock.advance(500);
      expect((await one.read('things/one'))?.value).toBe(3);
    });

    test('a value changed by its holder is not changed for others', async () => {
      const refs = openRefs();
      const mine = { names: ['a'] };
      await refs.update('things/one', () => ({ value: mine, change: changeOf('create') }));
      mine.names.push('b');
      expect((await refs.read('things/one'))?.value).toEqual({ names: ['a'] });
    });

    test('any JSON is a value', async () => {
      const refs = openRefs();
      const text = '{"__proto__":{"polluted":true},"constructor":null,"deep":[[[{"":""}]]],"text":"\\u0000\\u2028😀"}';
      await refs.update('things/one', () => ({ value: JSON.parse(text) as unknown, change: changeOf('create') }));
      expect(JSON.stringify((await openRefs().read('things/one'))!.value)).toBe(JSON.stringify(JSON.parse(text)));
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    });

    test('names are listed in order, each once', async () => {
      const refs = openRefs();
      const names = [
        'keys/acme/k1',
        'resources/a-b/apis/x',
        'resources/a/apis/x',
        'resources/a/apis/y',
        'resources/b/apis/x',
      ];
      for (const one of [...names].reverse()) for (const _ of [1, 2, 3]) await increment(refs, one);
      expect(await Array.fromAsync(refs.list(''))).toEqual(names);
      expect(await Array.fromAsync(refs.list('resources/'))).toEqual(names.slice(1));
      expect(await Array.fromAsync(refs.list('resources/a/'))).toEqual(names.slice(2, 4));
      expect(await Array.fromAsync(refs.list('resources/a/apis/'))).toEqual(names.slice(2, 4));
      expect(await Array.fromAsync(refs.list('resource/'))).toEqual([]);
      await increment(refs, names[2]!);
      const newest = names.map((each) => ({ name: each, generation: each === names[2] ? 4 : 3 }));
      expect(await Array.fromAsync(newestGenerations(bucket, ''))).toEqual(newest);
      expect(await Array.fromAsync(newestGenerations(bucket, 'resources/'))).toEqual(newest.slice(1));
      for (const [index, one] of names.entries()) {
        expect(await Array.fromAsync(refs.list('', one))).toEqual(names.slice(index + 1));
      }
    });

    test.each(['one', ...notKeys].map((text) => [JSON.stringify(text.slice(0, 40)), text]))(
      'refuses the name %s as the bug that it is',
      async (_, text) => {
        const refs = openRefs();
        await expect(refs.read(text)).rejects.toThrow(TypeError);
        await expect(increment(refs, text)).rejects.toThrow(TypeError);
        await expect(Array.fromAsync(refs.history(text))).rejects.toThrow(TypeError);
        expect(await bucket.list('')).toEqual([]);
      },
    );
  });
}
