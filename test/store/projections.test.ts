import { describe, expect, test, vi } from 'vitest';
import type { Projection } from '../../src/store/log/state.ts';
import { createMemoryBucket } from '../memory-store.ts';
import { createRefs, type Refs } from '../../src/store/refs.ts';
import type { Bucket } from '../../src/store/bucket.ts';

interface Thing {
  size: number;
  versions: { label: string; size: number }[];
}

/** Adds up the sizes of records and of their items. */
const sizes: Projection<{ records: number; items: number; size: number }> = {
  create: () => ({ records: 0, items: 0, size: 0 }),
  change(view, name, before, after) {
    const size = (value: unknown) => (value as { size?: number } | undefined)?.size ?? 0;
    if (before === undefined) view[name.startsWith('versions/') ? 'items' : 'records']++;
    view.size += size(after) - size(before);
  },
};

const change = { actor: 'operator:test', origin: null, action: 'change' };

function open(bucket: Bucket, owner: string): Refs {
  let count = 0;
  return createRefs(bucket, {
    now: () => new Date(1_800_000_000_000),
    monotonic: () => performance.now(),
    uniqueId: () => `${owner}${count++}`,
    maxAge: 0,
  });
}

/** The same as `sizes`, by reading every record. */
async function walk(refs: Refs) {
  const all = await refs.all<Thing>('resources/acme/');
  const items = all.flatMap(({ value }) => value.versions);
  const sum = (list: readonly { size: number }[]) => list.reduce((total, { size }) => total + size, 0);
  return { records: all.length, items: items.length, size: sum(all.map(({ value }) => value)) + sum(items) };
}

function createRandom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

describe('what is made of the records of a log', () => {
  test.each([1, 2, 3, 4, 5])('is exact after changes of two processes, and after a restart (%i)', async (seed) => {
    const bucket = createMemoryBucket();
    const random = createRandom(seed);
    const nodes = [open(bucket, 'a'), open(bucket, 'b')];
    const changeOne = (refs: Refs) =>
      refs.update<Thing>(`resources/acme/apis/r${random(5)}`, (current) => {
        const { versions, size } = current?.value ?? { versions: [], size: 0 };
        const next = versions.map((each) => (random(3) === 0 ? { ...each, size: random(100) } : each));
        const added = random(2) === 0 ? [{ label: `${versions.length + 1}`, size: random(100) }] : [];
        return { value: { size: random(3) === 0 ? random(100) : size, versions: [...next, ...added] }, change };
      });
    for (let round = 0; round < 30; round++) {
      await Promise.all(Array.from({ length: 1 + random(6) }, () => changeOne(nodes[random(2)]!)));
      if (round === 10) await nodes[0]!.projected('acme', sizes);
    }
    const known = await walk(nodes[0]!);
    for (const refs of [...nodes, open(bucket, 'c')])
      expect({ ...(await refs.projected('acme', sizes)) }).toEqual(known);
    expect(await nodes[0]!.projected('other', sizes)).toEqual({ records: 0, items: 0, size: 0 });
  });

  test('costs what has changed: an item of a record with many is one call', async () => {
    const bucket = createMemoryBucket();
    const refs = open(bucket, 'a');
    const versions = Array.from({ length: 1000 }, (_, index) => ({ label: String(index), size: 1 }));
    await refs.update<Thing>('resources/acme/apis/pay', () => ({ value: { size: 1, versions }, change }));
    const spy = vi.fn(sizes.change);
    const counted = { ...sizes, change: spy };
    expect(await refs.projected('acme', counted)).toEqual({ records: 1, items: 1000, size: 1001 });
    spy.mockClear();
    await refs.update<Thing>('resources/acme/apis/pay', (current) => ({
      value: { size: 2, versions: [...current!.value.versions, { label: 'new', size: 5 }] },
      change,
    }));
    expect(await refs.projected('acme', counted)).toEqual({ records: 1, items: 1001, size: 1007 });
    expect(spy).toHaveBeenCalledTimes(2);
  });
});
