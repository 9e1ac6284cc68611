import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Bucket } from '../../src/store/bucket.ts';
import { checkLog } from '../../src/store/log/check-log.ts';
import { decodeEntry, encodeEntry, entryKey, type RecordChange } from '../../src/store/log/entry.ts';
import { readFrames, readIndex, writeFrames, writeIndex } from '../../src/store/log/summary.ts';
import { createMemoryBucket } from '../memory-store.ts';
import { createObjects, objectKey } from '../../src/store/objects.ts';
import { createRefs, type Refs } from '../../src/store/refs.ts';
import { changeOf, createClock, createIds, increment } from '../contract/refs.ts';

interface Item {
  label: string;
  state: string;
}
interface Thing {
  name: string;
  versions: Item[];
}

const clock = createClock();
const name = 'resources/acme/apis/pay';

function open(bucket: Bucket, owner = 'own'): ReturnType<typeof createRefs> {
  return createRefs(bucket, { ...clock, uniqueId: createIds(owner) });
}

function set(refs: Refs, value: (current: Thing) => Thing, of = name): Promise<unknown> {
  return refs.update<Thing>(of, (current) => ({
    value: value(current?.value ?? { name: 'Pay', versions: [] }),
    change: changeOf('set'),
  }));
}

/** Adds a version: at the end, or before the item with an index. */
function add(refs: Refs, label: string, index?: number): Promise<unknown> {
  return set(refs, (thing) => ({
    ...thing,
    versions: thing.versions.toSpliced(index ?? thing.versions.length, 0, { label, state: 'active' }),
  }));
}

async function damagesIn(bucket: Bucket, log: string): Promise<string[]> {
  const damages: string[] = [];
  const listener = { entry: () => undefined, damaged: (key: string) => void damages.push(key) };
  await checkLog(bucket, createObjects(bucket), log, listener);
  return damages;
}

describe('a list in a value', () => {
  test('is stored item by item: a change writes only what it changes', async () => {
    const bucket = createMemoryBucket();
    const refs = open(bucket);
    for (let index = 0; index < 50; index++) await add(refs, `1.${index}.0`);
    const entry = JSON.parse(Buffer.from((await bucket.get(entryKey('@acme', 50)))!).toString()) as {
      changes: { name: string }[];
    };
    expect(entry.changes.map((change) => change.name)).toEqual(['versions/acme/apis/pay/1.49.0', name]);
    const lengths = await Promise.all(
      [2, 50].map(async (sequence) => (await bucket.get(entryKey('@acme', sequence)))!.byteLength),
    );
    expect(lengths[1]! - lengths[0]!).toBeLessThan(20);
  });

  test('keeps its order, also where items were put in between', async () => {
    const bucket = createMemoryBucket();
    const refs = open(bucket);
    for (const label of ['b', 'd', 'f']) await add(refs, label);
    await add(refs, 'a', 0);
    for (let index = 0; index < 80; index++) await add(refs, `c${index}`, 2);
    const expected = ['a', 'b', ...Array.from({ length: 80 }, (_, index) => `c${79 - index}`), 'd', 'f'];
    for (const each of [refs, open(bucket)]) {
      expect((await each.read<Thing>(name))!.value.versions.map(({ label }) => label)).toEqual(expected);
    }
  });

  test('loses no item', async () => {
    const refs = open(createMemoryBucket());
    await add(refs, 'a');
    await add(refs, 'b');
    for (const versions of [[], [{ label: 'b', state: 'active' }]]) {
      await expect(set(refs, (thing) => ({ ...thing, versions }))).rejects.toThrow(TypeError);
    }
    expect((await refs.read<Thing>(name))!.value.versions).toHaveLength(2);
  });

  test('is as it was in each generation of the history', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ kind: fc.constantFrom('add', 'state', 'name'), at: fc.nat(20), together: fc.boolean() }), {
          maxLength: 25,
        }),
        async (steps) => {
          const bucket = createMemoryBucket();
          const refs = open(bucket);
          const states: Thing[] = [];
          let waiting: Promise<unknown>[] = [];
          for (const [index, { kind, at, together }] of steps.entries()) {
            waiting.push(
              refs.update<Thing>(name, (current) => {
                const thing = structuredClone(current?.value ?? { name: '', versions: [] });
                const place = Math.min(at, thing.versions.length);
                const item = thing.versions[place];
                if (kind === 'add') thing.versions.splice(place, 0, { label: `v${index}`, state: 'active' });
                else if (kind === 'state' && item) item.state = `changed ${index}`;
                else thing.name = `name ${index}`;
                states[index] = structuredClone(thing);
                return { value: thing, change: changeOf(kind) };
              }),
            );
            if (!together) {
              await Promise.all(waiting);
              waiting = [];
            }
          }
          await Promise.all(waiting);
          const history = await Array.fromAsync(open(bucket).history<Thing>(name));
          expect(history.map(({ value }) => value)).toEqual(states.toReversed());
          expect(await damagesIn(bucket, '@acme')).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('a log that was just read', () => {
  test('is appended to without reading it again', async () => {
    const bucket = createMemoryBucket();
    const refs = open(bucket);
    await add(refs, '1.0.0');
    const { get, putIfAbsent } = bucket.calls();
    for (let index = 1; index <= 10; index++) await add(refs, `1.${index}.0`);
    const after = bucket.calls();
    expect([after.get - get, after.putIfAbsent - putIfAbsent]).toEqual([0, 10]);
  });

  test('is read again for an answer that changes nothing, which another process may have made wrong', async () => {
    const bucket = createMemoryBucket();
    const [ours, theirs] = [open(bucket), open(bucket, 'their')];
    await add(ours, '1.0.0');
    await add(theirs, '2.0.0');
    const seen: string[] = [];
    const unchanged = await ours.update<Thing>(name, (current) => {
      seen.push(current!.value.versions.at(-1)!.label);
      return null;
    });
    expect(unchanged!.value.versions.map(({ label }) => label)).toEqual(['1.0.0', '2.0.0']);
    expect(seen).toEqual(['1.0.0', '2.0.0']);
    await add(theirs, '3.0.0');
    const refusal = ours.update<Thing>(name, (current) => {
      throw new Error(`after ${current!.value.versions.at(-1)!.label}`);
    });
    await expect(refusal).rejects.toThrow('after 3.0.0');
  });

  test('is read again where another process appended first, and neither change is lost', async () => {
    const bucket = createMemoryBucket();
    const [ours, theirs] = [open(bucket), open(bucket, 'their')];
    for (let index = 0; index < 5; index++)
      await Promise.all([add(ours, `1.${index}.0`), add(theirs, `2.${index}.0`), add(ours, `3.${index}.0`)]);
    const { value } = (await open(bucket, 'other').read<Thing>(name))!;
    expect(value.versions).toHaveLength(15);
    expect(await damagesIn(bucket, '@acme')).toEqual([]);
  });
});

describe('segments and checkpoints', () => {
  async function fill(refs: Refs, entries: number): Promise<void> {
    for (let index = 0; index < entries; index++) await increment(refs, `repositories/acme/r${index % 40}`);
  }

  /** The keys that are read to open the log. */
  async function readsToOpen(bucket: ReturnType<typeof createMemoryBucket>): Promise<number> {
    const before = bucket.calls();
    await open(bucket).read('repositories/acme/r0');
    const now = bucket.calls();
    return now.get - before.get + (now.list - before.list);
  }

  test('lead to the same records as the entries, and spare reading these', async () => {
    const bucket = createMemoryBucket();
    const refs = open(bucket);
    for (let index = 0; index < 30; index++) await add(refs, `1.${index}.0`);
    await fill(refs, 2000);
    await refs.settle();
    await fill(refs, 10);
    expect(await readsToOpen(bucket)).toBeLessThan(300);
    const [cold, warm] = await Promise.all(
      [open(bucket), refs].map((each) => Array.fromAsync(each.newest('repositories/'))),
    );
    expect(cold).toEqual(warm);
    expect(await open(bucket).read(name)).toEqual(await refs.read(name));
    expect(await Array.fromAsync(open(bucket).history('repositories/acme/r7'))).toHaveLength(51);
    expect(await damagesIn(bucket, '@acme')).toEqual([]);
  });

  test('are not needed: where one is gone or damaged, the entries are read', async () => {
    const bucket = createMemoryBucket();
    const refs = open(bucket);
    await fill(refs, 700);
    await refs.settle();
    await fill(refs, 1);
    const expected = await Array.fromAsync(refs.newest('repositories/'));
    expect(await refs.trail('acme')).toHaveLength(701);
    for (const [index, key] of (await bucket.list('objects/')).entries()) {
      await bucket.delete(key);
      if (index % 2 === 0) await bucket.putIfAbsent(key, Buffer.from('damaged'));
    }
    expect(await Array.fromAsync(open(bucket).newest('repositories/'))).toEqual(expected);
    expect(await open(bucket).trail('acme')).toEqual(await refs.trail('acme'));
    // And a process that goes on writing makes new ones.
    const next = open(bucket);
    await fill(next, 600);
    await next.settle();
    expect(await damagesIn(bucket, '@acme')).toEqual([]);
  });

  test('of several processes agree', async () => {
    const bucket = createMemoryBucket();
    const writers = ['one', 'two', 'three'].map((owner) => open(bucket, owner));
    await Promise.all(writers.map((refs) => fill(refs, 300)));
    await Promise.all(writers.map((refs) => refs.settle()));
    const all = await Promise.all(
      [...writers, open(bucket)].map((each) => each.readFresh<number>('repositories/acme/r3')),
    );
    expect(new Set(all.map((each) => each!.value)).size).toBe(1);
    expect(await damagesIn(bucket, '@acme')).toEqual([]);
  });

  test('that lead to other records than the entries are found by a check; those that are gone are no damage', async () => {
    const bucket = createMemoryBucket();
    const refs = open(bucket);
    const old = 'repositories/acme/old';
    await increment(refs, old);
    await fill(refs, 300);
    await refs.settle();
    await fill(refs, 1);
    const objects = createObjects(bucket);
    const key = entryKey('@acme', 302);
    const tip = decodeEntry((await bucket.get(key))!, 302, key);
    const index = await readIndex(objects, tip.index!);
    const { frames } = index.checkpoint!;
    const records = await readFrames(objects, frames);
    const held = records.get(old)!;
    records.set(old, { ...held, bare: { ...held.bare, value: 'another' } });
    const others = await writeFrames(objects, records);
    const wrong = await writeIndex(objects, { ...index, checkpoint: { ...index.checkpoint!, frames: others } });
    const head = { sequence: 303, previous: tip.digest, at: tip.at, writer: 'other', index: wrong };
    const change = { ...(tip.changes[0] as RecordChange), generation: 9, last: 302 };
    await bucket.putIfAbsent(entryKey('@acme', 303), encodeEntry(head, [JSON.stringify(change)]).bytes);
    expect(await damagesIn(bucket, '@acme')).toEqual(['log/@acme/']);
    await bucket.delete(objectKey(others[0]!.digest));
    // The entries lead to the same.
    expect(await damagesIn(bucket, '@acme')).toEqual([]);
  });
});

describe('a damaged entry', () => {
  test('stops readers of its organization before it, and nobody else', async () => {
    const bucket = createMemoryBucket();
    const refs = open(bucket);
    for (const org of ['acme', 'beta'])
      for (let index = 0; index < 3; index++) await increment(refs, `repositories/${org}/one`);
    const key = entryKey('@acme', 2);
    await bucket.delete(key);
    await bucket.putIfAbsent(key, Buffer.from('{"sequence":2,"changes":[]}'));
    const failures: unknown[] = [];
    const own = createClock();
    const reader = createRefs(bucket, { ...own, uniqueId: createIds('r'), failed: (error) => failures.push(error) });
    for (let look = 0; look < 3; look++) {
      expect((await reader.read('repositories/acme/one'))?.value).toBe(1);
      own.advance(500);
    }
    // Said once, and not for each reader.
    expect(failures).toEqual([expect.objectContaining({ code: 'corrupt' })]);
    await expect(increment(reader, 'repositories/acme/one')).rejects.toMatchObject({ code: 'corrupt' });
    expect((await increment(reader, 'repositories/beta/one'))?.value).toBe(4);
    expect(await damagesIn(bucket, '@acme')).toEqual([key]);
    expect(await damagesIn(bucket, '@beta')).toEqual([]);
  });
});

test('an entry of another history of the same log is not followed, by who runs and by who starts', async () => {
  const [bucket, other] = [createMemoryBucket(), createMemoryBucket()];
  const own = createClock();
  const running = createRefs(bucket, { ...own, uniqueId: createIds('own') });
  const key = entryKey('@acme', 2);
  for (const refs of [running, open(other, 'other')]) await increment(refs, 'repositories/acme/one');
  await increment(open(other, 'other'), 'repositories/acme/one');
  await bucket.putIfAbsent(key, (await other.get(key))!);
  own.advance(500);
  for (const refs of [running, open(bucket, 'new')]) {
    expect((await refs.read('repositories/acme/one'))?.value).toBe(1);
    await expect(increment(refs, 'repositories/acme/one')).rejects.toMatchObject({ code: 'corrupt' });
  }
  expect(await damagesIn(bucket, '@acme')).toEqual([key]);
});

describe('memory', () => {
  test('is bounded: the logs that were not read for longest are forgotten, and read again', async () => {
    const bucket = createMemoryBucket();
    const small = createRefs(bucket, { ...clock, uniqueId: createIds('own'), memory: 4000 });
    const orgs = Array.from({ length: 30 }, (_, index) => `org${index}`);
    for (const org of orgs) for (const _ of [1, 2]) await increment(small, `repositories/${org}/one`);
    const before = bucket.calls();
    for (const org of orgs) expect((await small.read(`repositories/${org}/one`))?.value).toBe(2);
    expect(bucket.calls().list - before.list).toBeGreaterThan(15);
    expect(await Array.fromAsync(small.list('repositories/'))).toHaveLength(30);
  });
});
