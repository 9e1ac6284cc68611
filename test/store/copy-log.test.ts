import { describe, expect, test } from 'vitest';
import { encodeJson } from '../../src/model/json.ts';
import { copyLog, copyStore } from '../../src/store/copy-store.ts';
import { assertFormat } from '../../src/store/format.ts';
import { entryKey } from '../../src/store/log/entry.ts';
import { headKey, listHeadKeys, newestHead } from '../../src/store/log/heads.ts';
import { newestSequence } from '../../src/store/log/follow-log.ts';
import { createMemoryBucket } from '../memory-store.ts';
import { createRefs } from '../../src/store/refs.ts';
import { createClock, createIds, increment } from '../contract/refs.ts';

const log = '@acme';

/** A store with so many entries of one organization, a minute after each other, and a head of each. */
async function createStore(owner: string, entries: number) {
  const bucket = createMemoryBucket();
  const clock = createClock();
  const refs = createRefs(bucket, { ...clock, uniqueId: createIds(owner) });
  await assertFormat(bucket);
  const times: string[] = [];
  for (let sequence = 1; sequence <= entries; sequence++) {
    clock.advance(60_000);
    times.push(clock.now().toISOString());
    await increment(refs, 'repositories/acme/one');
    await bucket.putIfAbsent(headKey({ log, sequence }), encodeJson({ generation: sequence }));
  }
  return { bucket, times };
}

const whole = { takes: () => true, isOpen: false };
const nobody = { copied: () => undefined, damaged: () => undefined };

describe('a copy of a log', () => {
  test('ends before an entry that does not follow the one before it, and reports it', async () => {
    const [{ bucket: from }, { bucket: other }] = [await createStore('one', 2), await createStore('two', 3)];
    const key = entryKey(log, 3);
    await from.putIfAbsent(key, (await other.get(key))!);
    const damages: string[] = [];
    const listener = { ...nobody, damaged: (each: string) => void damages.push(each) };
    expect(await copyLog(from, createMemoryBucket(), log, { ...whole, tip: 3 }, listener)).toBe(2);
    expect(damages).toEqual([key]);
  });

  test('has its last entries again where one that was stopped left some out', async () => {
    const { bucket: from } = await createStore('one', 3);
    const into = createMemoryBucket();
    for (const sequence of [1, 3])
      await into.putIfAbsent(entryKey(log, sequence), (await from.get(entryKey(log, sequence)))!);
    expect(await copyLog(from, into, log, { ...whole, tip: 3 }, nobody)).toBe(1);
    expect(await into.get(entryKey(log, 2))).not.toBeNull();
  });

  test('up to a time has what was appended then', async () => {
    const { bucket, times } = await createStore('one', 3);
    const into = createMemoryBucket();
    await copyStore(bucket, into, { until: [{ at: times[1]! }] });
    expect(await newestSequence(into, log)).toBe(2);
  });
});

test('a copy has the head of what it has, whatever those of the store are', async () => {
  const { bucket } = await createStore('one', 3);
  const into = createMemoryBucket();
  const headsIn = async () => (await Array.fromAsync(listHeadKeys(into))).filter((key) => key.includes(log));
  await copyStore(bucket, into, { until: [{ log, sequence: 2 }] });
  expect(await headsIn()).toEqual([headKey({ log, sequence: 2 })]);
  for await (const key of listHeadKeys(bucket)) {
    await bucket.delete(key);
    await bucket.putIfAbsent(key, Buffer.from('damaged'));
  }
  await copyStore(bucket, into);
  expect(await headsIn()).toEqual([headKey({ log, sequence: 3 })]);
  expect(await newestHead(into, log)).toMatchObject({ log, sequence: 3 });
});
