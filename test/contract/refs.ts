import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Bucket } from '../../src/store/bucket.ts';
import { entryKey } from '../../src/store/log/entry.ts';
import type { Reads } from '../../src/store/log/reads.ts';
import { createRefs, type Refs } from '../../src/store/refs.ts';
import { workKey } from '../../src/store/work.ts';
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
  const kinds = [
    { what: "the registry's log", kind: 'things' },
    { what: 'a log of an organization', kind: 'repositories/acme' },
    { what: 'records that expire', kind: 'runs/acme' },
  ];
  describe.each(kinds)(`refs on ${name}: $what`, ({ kind }) => {
    const isLogged = kind !== 'runs/acme';
    const [one, two, three] = [`${kind}/one`, `${kind}/two`, `${kind}/three`];
    let opened: OpenedBucket;
    let bucket: Bucket;
    let clock: ReturnType<typeof createClock>;
    const all: ReturnType<typeof createRefs>[] = [];
    beforeEach(async () => {
      opened = await open();
      bucket = opened.bucket;
      clock = createClock();
    });
    afterEach(async () => {
      await Promise.all(all.splice(0).map((refs) => refs.settle()));
      await opened.close();
    });

    function openRefs(maxAge = 500): Refs {
      const refs = createRefs(bucket, { ...clock, uniqueId: createIds(`instance${all.length + 1}`), maxAge });
      all.push(refs);
      return refs;
    }

    test('a watcher sees what is appended through the same object, and nothing else', async () => {
      const refs = openRefs();
      const told: string[] = [];
      const stop = refs.watch((changed) => void told.push(changed));
      await increment(refs, one);
      await refs.update(one, () => null);
      await increment(openRefs(), two);
      await increment(refs, three);
      stop();
      await increment(refs, one);
      expect(told).toEqual([one, three]);
    });

    test.each([3_600_000, -3_600_000])(
      'what others wrote is seen in time, though the clock was set by %i ms',
      async (step) => {
        const [writer, reader] = [openRefs(), openRefs()];
        await increment(writer, one);
        await reader.read(one);
        clock.step(step);
        await increment(writer, one);
        clock.advance(499);
        expect((await reader.read(one))?.value).toBe(1);
        clock.advance(1);
        expect((await reader.read(one))?.value).toBe(2);
      },
    );

    test('a file that somebody left among the records is passed over', async () => {
      await increment(openRefs(), one);
      const strays = isLogged
        ? ['log/registry/0', 'log/@acme/0', 'log/registry/999999999/0', 'log/@acme/999999999/999999999999998.bak']
        : [`work/${one}/0`, `work/${one}/999999999999998.bak`, `work/${kind}/x.txt`, `work/${two}/y.txt`];
      for (const stray of strays) await bucket.putIfAbsent(stray, bytesOf('not ours'));
      const refs = openRefs();
      expect((await refs.read(one))?.value).toBe(1);
      expect((await increment(refs, one))?.value).toBe(2);
      expect(await refs.read(two)).toBeNull();
      expect(await Array.fromAsync(refs.list(`${kind}/`))).toEqual([one]);
      expect(await Array.fromAsync(refs.newest(`${kind}/`))).toEqual([{ name: one, generation: 2 }]);
    });

    test('absent is null, and deciding on nothing writes nothing', async () => {
      const refs = openRefs();
      expect(await refs.read(one)).toBeNull();
      expect(await refs.update(one, () => null)).toBeNull();
      if (isLogged) expect(await Array.fromAsync(refs.history(one))).toEqual([]);
      const left = await bucket.list('');
      // That an organization has a log is noted before its first change.
      expect(left.filter((key) => !key.startsWith('log/registry/'))).toEqual([]);
    });

    test('a fresh read sees what another wrote a moment ago; a read may not', async () => {
      const refs = openRefs();
      expect(await refs.readFresh(one)).toBeNull();
      await increment(refs, one);
      await increment(openRefs(), one);
      expect((await refs.read<number>(one))?.value).toBe(1);
      expect((await refs.readFresh<number>(one))?.value).toBe(2);
      expect((await refs.read<number>(one))?.value).toBe(2);
    });

    test('a generation says who did what, when, and after which one', async () => {
      const refs = openRefs();
      const change = { actor: 'key:k1', origin: '192.0.2.7', action: 'publish 1.0.0' };
      const first = await refs.update(one, () => ({ value: { name: 'A' }, change }));
      clock.advance(1500);
      const second = await refs.update<{ name: string }>(one, (current) => ({
        value: { name: `${current!.value.name}B` },
        change: changeOf('rename'),
      }));
      expect(first).toEqual({
        generation: 1,
        writeId: expect.stringMatching(/^instance/),
        at: '2026-01-01T00:00:00.000Z',
        ...change,
        value: { name: 'A' },
      });
      expect(second).toMatchObject({ generation: 2, value: { name: 'AB' } });
      expect(second!.at).toBe('2026-01-01T00:00:01.500Z');
      expect(await refs.update(one, () => null)).toEqual(second);
      expect(await openRefs().read(one)).toEqual(second);
    });

    if (isLogged) historyContract();
    else {
      test.each(['', 'null', '7', '[]', '"text"', '{}', '{"generation":2,"writeId":"x"}', '\xff'])(
        'a newest generation that is %j is corrupt, and nothing is built on it',
        async (text) => {
          await bucket.putIfAbsent(workKey(one, 1), bytesOf(text));
          const refs = openRefs();
          await expect(refs.read(one)).rejects.toMatchObject({ code: 'corrupt' });
          await expect(increment(refs, one)).rejects.toMatchObject({ code: 'corrupt' });
          expect(await bucket.list('')).toHaveLength(1);
        },
      );

      test('what has expired is gone, and what is superseded with it', async () => {
        const refs = openRefs();
        for (const _ of [1, 2, 3]) await increment(refs, one);
        for (const _ of [1, 2]) await increment(refs, two);
        clock.advance(1000);
        const before = clock.now().getTime();
        await increment(refs, two);
        expect(await refs.sweep('runs', before)).toBe(4);
        clock.advance(1000);
        for (const each of [refs, openRefs()]) {
          expect(await each.read(one)).toBeNull();
          expect((await each.read(two))?.value).toBe(3);
        }
        // The first number of a record stays taken as long as the record is there.
        expect(await bucket.list('work/')).toEqual([workKey(two, 3), workKey(two, 1)]);
        expect(await increment(refs, one)).toMatchObject({ generation: 1, value: 1 });
      });
    }

    function historyContract(): void {
      const log = kind === 'things' ? 'registry' : '@acme';

      test('the history is whole, newest first', async () => {
        const refs = openRefs();
        for (let index = 0; index < 12; index++) {
          await increment(refs, one);
          await increment(refs, two);
        }
        const history = await Array.fromAsync(openRefs().history<number>(one));
        expect(history.map(({ generation, value }) => [generation, value])).toEqual(
          Array.from({ length: 12 }, (_, index) => [12 - index, 12 - index]),
        );
      });

      test.each([
        [
          'changed',
          (bytes: Uint8Array) => Buffer.from(Buffer.from(bytes).toString().replace('"value":3', '"value":9')),
        ],
        ['no JSON', () => bytesOf('{"sequence":')],
        ['gone', () => null],
      ])('a history with an entry %s is recognized, and what is in memory is still served', async (_, damage) => {
        const refs = openRefs();
        for (let index = 0; index < 5; index++) await increment(refs, one);
        const key = entryKey(log, 3);
        const damaged = damage((await bucket.get(key))!);
        await bucket.delete(key);
        if (damaged !== null) await bucket.putIfAbsent(key, damaged);
        await expect(Array.fromAsync(refs.history(one))).rejects.toMatchObject({ code: 'corrupt' });
        expect((await refs.read(one))?.value).toBe(5);
      });

      test.each(['', 'null', '7', '[]', '"text"', '{}', '{"sequence":2,"changes":[]}', '\xff'])(
        'readers stop before a newest entry that is %j, and nothing is built on it',
        async (text) => {
          await increment(openRefs(), one);
          const keys = await bucket.list('');
          await bucket.putIfAbsent(entryKey(log, 2), bytesOf(text));
          const refs = openRefs();
          expect((await refs.read(one))?.value).toBe(1);
          await expect(increment(refs, one)).rejects.toMatchObject({ code: 'corrupt' });
          expect(await bucket.list('')).toHaveLength(keys.length + 1);
        },
      );
    }

    test('of many writers none is lost and none counts twice', async () => {
      const writers = Array.from({ length: 6 }, () => openRefs());
      await Promise.all(
        writers.map(async (refs, writer) => {
          for (let index = 0; index < 10; index++) await increment(refs, one, `writer ${writer}`);
        }),
      );
      expect((await openRefs().read(one))?.value).toBe(60);
      if (!isLogged) return;
      const history = await Array.fromAsync(openRefs().history<number>(one));
      expect(history.map(({ value }) => value)).toEqual(Array.from({ length: 60 }, (_, index) => 60 - index));
      for (let writer = 0; writer < 6; writer++) {
        expect(history.filter(({ actor }) => actor === `writer ${writer}`)).toHaveLength(10);
      }
      expect(new Set(history.map(({ writeId }) => writeId)).size).toBe(60);
    });

    test('calls that one instance gets at once take turns', async () => {
      const refs = openRefs();
      const generations = await Promise.all(Array.from({ length: 40 }, () => increment(refs, one)));
      expect(generations.map((generation) => generation!.value)).toEqual(
        Array.from({ length: 40 }, (_, index) => index + 1),
      );
    });

    test('a decision that throws changes nothing and stops nobody', async () => {
      const refs = openRefs();
      await increment(refs, one);
      const refusal = refs.update(one, () => {
        throw new Error('no');
      });
      const next = increment(refs, one);
      await expect(refusal).rejects.toThrow('no');
      expect((await next)?.value).toBe(2);
    });

    test('own writes are seen at once, those of others within the age', async () => {
      const [first, other] = [openRefs(500), openRefs(500)];
      expect(await other.read(one)).toBeNull();
      await increment(first, one);
      expect((await first.read(one))?.value).toBe(1);
      clock.advance(500);
      expect((await other.read(one))?.value).toBe(1);
      await increment(first, one);
      await increment(other, one);
      expect((await other.read(one))?.value).toBe(3);
      clock.advance(500);
      expect((await first.read(one))?.value).toBe(3);
    });

    if (isLogged)
      test('what was read is the same until one of its records changes, known without waiting until it is too old', async () => {
        const refs = openRefs(500);
        const reads: Reads = new Map();
        await increment(refs, one);
        await refs.noting(reads, async () => [await refs.read(one), await refs.readFresh(three)]);
        expect(reads.size).toBe(2);
        await increment(refs, two);
        expect([refs.areSame(reads), await refs.areStillSame(reads)]).toEqual([true, true]);
        clock.advance(500);
        expect(refs.areSame(reads)).toBeNull();
        expect([await refs.areStillSame(reads), refs.areSame(reads)]).toEqual([true, true]);
        await increment(openRefs(500), three);
        expect([refs.areSame(reads), await refs.areStillSame(reads)]).toEqual([true, true]);
        clock.advance(500);
        expect(refs.areSame(reads)).toBeNull();
        expect([await refs.areStillSame(reads), refs.areSame(reads)]).toEqual([false, false]);
      });

    if (isLogged)
      test('what was read twice counts as it was at first, and what was read elsewhere does not count', async () => {
        const refs = openRefs(500);
        const reads: Reads = new Map();
        await refs.noting(reads, async () => {
          await refs.read(one);
          await refs.noting(new Map(), () => refs.read(two));
          await increment(refs, one);
          await refs.read(one);
        });
        expect([...reads.keys()]).toEqual([one]);
        expect(await refs.areStillSame(reads)).toBe(false);
        const later: Reads = new Map();
        refs.noting(later, () => refs.noteAll(reads));
        expect(later).toEqual(reads);
      });

    const wholes: [string, (refs: Refs) => Promise<unknown>][] = [
      ['a list of names', (refs) => Array.fromAsync(refs.list(`${kind}/`))],
      ['a list of records', (refs) => refs.all(`${kind}/`)],
      ['a history', (refs) => Array.fromAsync(refs.history(one))],
      ['changes', (refs) => Array.fromAsync(refs.changesSince('acme', 0))],
      ['a trail', (refs) => refs.trail('acme')],
      ['a projection', (refs) => refs.projected('acme', { create: () => [], change: () => undefined })],
      ['all organizations', (refs) => refs.all('repositories/')],
    ];
    if (isLogged)
      test.each(wholes)('%s is another one when any record of its log changes', async (what, read) => {
        const refs = openRefs(500);
        await increment(refs, one);
        const reads: Reads = new Map();
        await refs.noting(reads, () => read(refs));
        expect(refs.areSame(reads)).toBe(true);
        const isOfAcme = !/list|history/.test(what);
        await increment(refs, isOfAcme ? 'repositories/acme/other' : two);
        expect([refs.areSame(reads), await refs.areStillSame(reads)]).toEqual([false, false]);
      });

    if (isLogged)
      test('a list of all organizations is another one when there is a new one', async () => {
        const refs = openRefs(500);
        const reads: Reads = new Map();
        for (const record of [one, 'webhooks/acme/1', 'webhooks/beta/1', two]) {
          await increment(refs, record);
          expect(await refs.areStillSame(reads)).toBe(reads.size === 0);
          reads.clear();
          await refs.noting(reads, () => refs.all('repositories/'));
          expect(refs.areSame(reads)).toBe(true);
        }
      });

    if (isLogged)
      test('a list of records is as new as a read', async () => {
        const [refs, other] = [openRefs(500), openRefs(500)];
        const prefix = `${kind}/`;
        const valuesOf = async () => (await refs.all<number>(prefix)).map(({ value }) => value);
        expect(await valuesOf()).toEqual([]);
        await increment(refs, two);
        await increment(refs, one);
        const inOrder = [one, two].toSorted();
        expect(await refs.all(prefix)).toEqual(await Promise.all(inOrder.map((each) => refs.read(each))));
        const before = await refs.all<number>(prefix);
        await increment(other, one);
        expect(await valuesOf()).toEqual([1, 1]);
        clock.advance(500);
        expect(await valuesOf()).toEqual(inOrder.map((each) => (each === one ? 2 : 1)));
        expect(before.map(({ value }) => value)).toEqual([1, 1]);
      });

    test('a value changed by its holder is not changed for others', async () => {
      const refs = openRefs();
      const mine = { names: ['a'] };
      await refs.update(one, () => ({ value: mine, change: changeOf('create') }));
      mine.names.push('b');
      expect((await refs.read(one))?.value).toEqual({ names: ['a'] });
    });

    test('any JSON is a value', async () => {
      const refs = openRefs();
      const text = '{"__proto__":{"polluted":true},"constructor":null,"deep":[[[{"":""}]]],"text":"\\u0000\\u2028😀"}';
      await refs.update(one, () => ({ value: JSON.parse(text) as unknown, change: changeOf('create') }));
      expect(JSON.stringify((await openRefs().read(one))!.value)).toBe(JSON.stringify(JSON.parse(text)));
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    });

    test('names are listed in order, each once', async () => {
      const refs = openRefs();
      const names = ['a', 'ab', 'b/x', 'b/y', 'c'].map((each) => `${kind}/${each}`);
      for (const each of [...names].reverse()) for (const _ of [1, 2, 3]) await increment(refs, each);
      const list = (prefix: string, after?: string) => Array.fromAsync(refs.list(prefix, after));
      expect(await list(`${kind}/`)).toEqual(names);
      expect(await list(`${kind}/b/`)).toEqual(names.slice(2, 4));
      expect(await list(`${kind}/d/`)).toEqual([]);
      await increment(refs, names[2]!);
      const newest = names.map((each) => ({ name: each, generation: each === names[2] ? 4 : 3 }));
      expect(await Array.fromAsync(refs.newest(`${kind}/`))).toEqual(newest);
      for (const [index, each] of names.entries()) {
        expect(await list(`${kind}/`, each)).toEqual(names.slice(index + 1));
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
