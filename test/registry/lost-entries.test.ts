import { describe, expect, test } from 'vitest';
import { parseCoordinate } from '../../src/model/address.ts';
import { digestOf } from '../../src/model/digest.ts';
import { type Resource, resourceRef } from '../../src/model/resource.ts';
import { fsck, type Checked } from '../../src/registry/fsck.ts';
import { performOnce } from '../../src/registry/idempotency.ts';
import { acceptLoss, type Repaired, repairStore } from '../../src/registry/maintenance/repair.ts';
import { backup, restore } from '../../src/registry/maintenance/backup.ts';
import { collectGarbage } from '../../src/registry/maintenance/gc.ts';
import { newId, type Registry } from '../../src/registry/registry.ts';
import { listAll, type Bucket } from '../../src/store/bucket.ts';
import { assertFormat } from '../../src/store/format.ts';
import { headKey } from '../../src/store/log/heads.ts';
import { newestSequence } from '../../src/store/log/follow-log.ts';
import { entryKey } from '../../src/store/log/entry.ts';
import { createMemoryBucket } from '../memory-store.ts';
import { createObjects } from '../../src/store/objects.ts';
import { createRefs } from '../../src/store/refs.ts';
import { createTestRegistry, publishVersion } from '../server/registry.ts';

const author = { actor: 'operator:test', origin: null };
const plain = createTestRegistry();
const hour = 3_600_000;

interface Opened extends Registry {
  refs: ReturnType<typeof createRefs>;
}

/** A process on a bucket that notes how far the logs reach. */
function open(bucket: Bucket): Opened {
  const refs = createRefs(bucket, { ...plain, uniqueId: () => newId(plain), maxAge: 0, headEvery: hour });
  return { ...plain, bucket, objects: createObjects(bucket), refs };
}

const publishOnce = (registry: Registry, key: string, label: string) =>
  performOnce(
    registry,
    { org: 'acme', actor: 'key:a', key, request: digestOf(label), secret: 'secret' },
    async () => (await publishVersion(registry, '@acme/apis/one', label)).version.label,
  );

/** Three versions, the last two each in an answer that can be repeated; and another organization. */
async function createStore(): Promise<Bucket> {
  const registry = open(createMemoryBucket());
  await assertFormat(registry.bucket);
  await publishVersion(registry, '@acme/apis/one', '1.0.0');
  await publishVersion(registry, '@beta/apis/two', '1.0.0');
  await publishOnce(registry, 'first', '1.1.0');
  await publishOnce(registry, 'second', '1.2.0');
  await registry.refs.settle();
  return registry.bucket;
}

async function labels(registry: Registry): Promise<string[]> {
  const name = resourceRef(parseCoordinate('@acme/apis/one')!.coordinate);
  return ((await registry.refs.read<Resource>(name))?.value.versions ?? []).map(({ label }) => label);
}

const drop = async (bucket: Bucket, prefix: string): Promise<void> => {
  for await (const key of listAll(bucket, prefix)) await bucket.delete(key);
};

async function repaired(bucket: Bucket, from: Bucket | null): Promise<{ checked: Checked; reports: Repaired[] }> {
  const reports: Repaired[] = [];
  const options = { from, giveUp: true, author, report: (each: Repaired) => void reports.push(each) };
  return { checked: await repairStore(open(bucket), () => fsck(open(bucket)), options), reports };
}

const keysOf = ({ damages }: Checked) => damages.map(({ key }) => key);
const newest = entryKey('@acme', 3);

describe('fsck finds that a log lost its newest entries', () => {
  test.each([
    ['by a head', 'work/idempotency/'],
    ['by an answer to a request', 'work/heads/'],
  ])('%s', async (_by, others) => {
    const bucket = await createStore();
    expect((await fsck(open(bucket))).damages).toEqual([]);
    await drop(bucket, others);
    await bucket.delete(newest);
    const checked = await fsck(open(bucket));
    expect(checked.damages).toMatchObject([{ key: newest, lostOf: '@acme' }]);
    expect(checked.damages[0]!.detail).toContain('lost its entries after 2');
  });

  test('by heads that somebody kept, and one that tells of another entry', async () => {
    const bucket = await createStore();
    const { heads } = await fsck(open(bucket));
    expect(heads.map(({ log, sequence }) => [log, sequence])).toEqual([
      ['@acme', 3],
      ['@beta', 1],
      ['registry', 2],
    ]);
    const before = heads.map((head) => ({ ...head, sequence: head.sequence - 1, digest: digestOf('other') }));
    expect((await fsck(open(bucket), undefined, heads)).damages).toEqual([]);
    expect(keysOf(await fsck(open(bucket), undefined, before))).toEqual([
      entryKey('@acme', 2),
      entryKey('registry', 1),
    ]);
    await drop(bucket, 'work/');
    await bucket.delete(newest);
    expect(keysOf(await fsck(open(bucket)))).toEqual([]);
    expect(keysOf(await fsck(open(bucket), undefined, heads))).toEqual([newest]);
  });

  test('wholly, one log and all of them', async () => {
    const bucket = await createStore();
    await drop(bucket, 'log/@acme/');
    expect(keysOf(await fsck(open(bucket)))).toEqual([entryKey('@acme', 1)]);
    await drop(bucket, 'log/');
    const keys = ['@acme', '@beta', 'registry'].map((log) => entryKey(log, 1));
    expect(keysOf(await fsck(open(bucket))).sort()).toEqual(keys.sort());
    await drop(bucket, 'work/');
    expect((await fsck(open(bucket))).damages).toEqual([]);
  });

  test('and says which logs the registry names that have no entries, where nothing tells that they had', async () => {
    const bucket = await createStore();
    await drop(bucket, 'work/');
    await drop(bucket, 'log/@beta/');
    expect(await fsck(open(bucket))).toMatchObject({ damages: [], empty: ['@beta'] });
  });
});

describe('what a log lost', () => {
  test('is written again out of a copy', async () => {
    const bucket = await createStore();
    const copy = createMemoryBucket();
    await backup(open(bucket), copy);
    await drop(bucket, 'log/@acme/');
    const { checked, reports } = await repaired(bucket, copy);
    expect([checked.damages, reports.every(({ outcome }) => outcome === 'repaired')]).toEqual([[], true]);
    expect(await labels(open(bucket))).toEqual(['1.0.0', '1.1.0', '1.2.0']);
    await publishVersion(open(bucket), '@acme/apis/one', '1.3.0');
  });

  test('is left where no copy has it, with what to do', async () => {
    const bucket = await createStore();
    await bucket.delete(newest);
    const { reports } = await repaired(bucket, null);
    expect(reports).toMatchObject([{ outcome: 'left', what: newest, detail: expect.stringContaining('@acme:2') }]);
  });

  test('stops what deletes bytes', async () => {
    const bucket = await createStore();
    await drop(bucket, 'log/@acme/');
    await expect(collectGarbage(open(bucket), { grace: 0, quarantine: 0 })).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('makes its answer a refusal, and not the answer of then', async () => {
    const bucket = await createStore();
    await drop(bucket, 'work/heads/');
    expect((await publishOnce(open(bucket), 'second', '1.2.0')).isReplay).toBe(true);
    await bucket.delete(newest);
    expect((await publishOnce(open(bucket), 'first', '1.1.0')).isReplay).toBe(true);
    await expect(publishOnce(open(bucket), 'second', '1.2.0')).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('is accepted by one who says where the log ends, and the log goes on', async () => {
    const bucket = await createStore();
    await bucket.delete(newest);
    await expect(publishVersion(open(bucket), '@acme/apis/one', '1.3.0')).rejects.toMatchObject({ code: 'corrupt' });
    const reports: Repaired[] = [];
    const accept = (sequence: number) =>
      acceptLoss(open(bucket), { log: '@acme', sequence }, { author, report: (each) => void reports.push(each) });
    await expect(accept(3)).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('@acme:2') });
    await accept(2);
    expect(reports).toMatchObject([{ outcome: 'given up', what: '@acme' }]);
    expect(reports[0]!.detail).toContain('entries 3 to 3 of the log @acme are lost for good. 1 answers');
    expect((await fsck(open(bucket))).damages).toEqual([]);
    const registry = open(bucket);
    expect(await publishOnce(registry, 'second', '1.2.0')).toMatchObject({ isReplay: false, answer: '1.2.0' });
    expect(await labels(registry)).toEqual(['1.0.0', '1.1.0', '1.2.0']);
    const [noted] = await Array.fromAsync(registry.refs.history('logs/@acme'));
    expect(noted).toMatchObject({ actor: author.actor, action: 'accept the loss of entries 3 to 3 of the log @acme' });
    await expect(accept(3)).rejects.toMatchObject({ code: 'conflict' });
  });

  test.each(['@acme', 'registry'])('wholly is accepted too: %s', async (log) => {
    const bucket = await createStore();
    await drop(bucket, `log/${log}/`);
    await acceptLoss(open(bucket), { log, sequence: 0 }, { author, report: () => undefined });
    expect((await fsck(open(bucket))).damages).toEqual([]);
    const registry = open(bucket);
    await publishVersion(registry, '@acme/apis/one', '1.3.0');
    await registry.refs.settle();
    expect((await fsck(open(bucket))).damages).toEqual([]);
  });
});

describe('a store without heads, such as one of an older program, gets them when it is copied', () => {
  const lostIn = async (bucket: Bucket) => {
    await drop(bucket, 'log/');
    return keysOf(await fsck(open(bucket))).sort();
  };
  const firsts = ['@acme', '@beta', 'registry'].map((log) => entryKey(log, 1));

  test.each([
    ['now', []],
    ['at an earlier point', [{ log: '@acme', sequence: 1 }]],
  ])('as it is %s', async (_when, until) => {
    const bucket = await createStore();
    await drop(bucket, 'work/');
    const [copy, into] = [createMemoryBucket(), createMemoryBucket()];
    await backup(open(bucket), copy);
    await restore(bucket, into, until);
    expect((await fsck(open(into))).damages).toEqual([]);
    expect(await lostIn(into)).toEqual(firsts);
    expect(await lostIn(copy)).toEqual(firsts);
  });
});

// The copy looked whole and the command ended with 0, so that nobody heard of the loss.
test('a backup of a store that lost its newest entries says so', async () => {
  const bucket = await createStore();
  expect((await backup(open(bucket), createMemoryBucket())).damages).toEqual([]);
  await bucket.delete(newest);
  const { damages } = await backup(open(bucket), createMemoryBucket());
  expect(damages).toEqual([
    {
      key: newest,
      detail: expect.stringMatching(/^The log lost its entries after 2: work\/heads\/@acme\/\d+ records entry 3\.$/),
    },
  ]);
});

describe('a copy is not condemned by what its store knew later', () => {
  test('also while one is written, and when it is restored', async () => {
    const bucket = await createStore();
    const [copy, into] = [createMemoryBucket(), createMemoryBucket()];
    // The store goes on while records and logs are copied.
    let count = 3;
    const busy: Bucket = {
      ...bucket,
      async list(prefix, options) {
        if (/^(?:work|packs)\//.test(prefix)) {
          const registry = open(bucket);
          await publishOnce(registry, `more ${count}`, `1.${count++}.0`);
          await registry.refs.settle();
        }
        return bucket.list(prefix, options);
      },
    };
    await backup(open(busy), copy);
    expect(count).toBeGreaterThan(5);
    expect((await fsck(open(copy))).damages).toEqual([]);
    const { heads } = await restore(copy, into, []);
    expect(heads.map(({ log }) => log)).toEqual(['@acme', '@beta', 'registry']);
    const registry = open(into);
    await publishVersion(registry, '@acme/apis/one', '3.0.0');
    expect((await fsck(registry, undefined, heads)).damages).toEqual([]);
    expect((await Array.fromAsync(listAll(into, 'work/heads/'))).length).toBeGreaterThan(0);
  });

  test('nor one that is restored to an earlier point', async () => {
    const bucket = await createStore();
    const [copy, into] = [createMemoryBucket(), createMemoryBucket()];
    await backup(open(bucket), copy);
    await restore(copy, into, [{ log: '@acme', sequence: 1 }]);
    expect((await fsck(open(into))).damages).toEqual([]);
    await publishVersion(open(into), '@acme/apis/one', '3.0.0');
  });

  test('nor an earlier copy whose update was stopped', async () => {
    const bucket = await createStore();
    const copy = createMemoryBucket();
    await backup(open(bucket), copy);
    const registry = open(bucket);
    await publishOnce(registry, 'third', '1.3.0');
    await registry.refs.settle();
    const failing: Bucket = {
      ...copy,
      putIfAbsent: (key, bytes) =>
        key.startsWith('work/') ? copy.putIfAbsent(key, bytes) : Promise.reject(new Error('The power is gone.')),
    };
    await expect(backup(open(bucket), failing)).rejects.toThrow('power');
    expect((await fsck(open(copy))).damages).toEqual([]);
    await publishVersion(open(copy), '@acme/apis/one', '3.0.0');
  });
});

test('a head that is damaged tells by its key that entries were lost, and goes when that is accepted', async () => {
  const registry = createTestRegistry();
  await publishVersion(registry, '@acme/apis/one', '1.0.0');
  const { bucket } = registry;
  const sequence = await newestSequence(bucket, '@acme');
  const key = headKey({ log: '@acme', sequence: sequence + 5 });
  await bucket.putIfAbsent(key, Buffer.from('damaged'));
  const told: Repaired[] = [];
  await acceptLoss(registry, { log: '@acme', sequence }, { author, report: (each) => void told.push(each) });
  expect(told).toMatchObject([{ outcome: 'given up', what: '@acme' }]);
  expect(await bucket.get(key)).toBeNull();
});
