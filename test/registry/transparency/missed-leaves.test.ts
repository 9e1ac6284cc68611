import { describe, expect, test } from 'vitest';
import { encodeBundle } from '../../../src/model/transparency/tree.ts';
import { fsck } from '../../../src/registry/fsck.ts';
import type { Registry } from '../../../src/registry/registry.ts';
import { keepLog, publicLogOf, type PublicLog } from '../../../src/registry/transparency/public-log.ts';
import { createLogView } from '../../../src/registry/transparency/append-leaves.ts';
import { copyStore } from '../../../src/store/copy-store.ts';
import { createMemoryBucket } from '../../memory-store.ts';
import { assertFormat } from '../../../src/store/format.ts';
import type { TreeLog } from '../../../src/store/tree/tree-log.ts';
import { createLoggedWorld, leavesIn, put, shown } from './logged.ts';

// Each public version is in the log, whatever happened on its way there.

async function logOf(registry: Registry): Promise<PublicLog> {
  const log = (await publicLogOf(registry))!;
  await log.update();
  return log;
}

const versionsIn = async (log: PublicLog): Promise<string[]> =>
  (await leavesIn(log)).map(shown).filter((leaf) => /^(?:published|listed) /.test(leaf));

describe('a public version enters the log', () => {
  test('although the first write of its leaf failed', async () => {
    const { registry, bucket } = createLoggedWorld();
    const log = await logOf(registry);
    await put(registry, '@acme/apis/pay@1.0.0');
    bucket.fault('putIfAbsent', 'fail', { count: 3, when: (key) => key.startsWith('tree/') });
    await expect(log.update()).rejects.toMatchObject({ code: 'outcome_unknown' });
    await log.update();
    await put(registry, '@acme/apis/pay@1.1.0');
    await log.update();
    expect(await versionsIn(log)).toEqual(['published @acme/apis/pay@1.0.0', 'published @acme/apis/pay@1.1.0']);
  });

  test('after the store was taken back to an earlier state, however far it went on since', async () => {
    const { registry, bucket } = createLoggedWorld();
    await assertFormat(bucket);
    for (const label of ['1.0.0', '1.1.0', '1.2.0']) await put(registry, `@acme/apis/pay@${label}`);
    await logOf(registry);
    const into = createMemoryBucket();
    const tip = await registry.refs.newestEntry('acme');
    await copyStore(bucket, into, { until: [{ log: '@acme', sequence: tip - 2 }], isAhead: true });
    const { registry: restored } = createLoggedWorld(into);
    for (const label of ['2.0.0', '2.1.0', '2.2.0']) await put(restored, `@acme/apis/pay@${label}`);
    const log = await logOf(restored);
    expect((await versionsIn(log)).slice(3).toSorted()).toEqual(
      ['2.0.0', '2.1.0', '2.2.0'].map((label) => `listed @acme/apis/pay@${label}`),
    );
    expect(await fsck(restored)).toMatchObject({
      damages: [],
      unlogged: [],
      unknown: ['@acme/apis/pay@1.1.0', '@acme/apis/pay@1.2.0'],
    });
    // Once: what was compared is noted.
    const { size } = await log.checkpoint();
    await (await logOf({ ...createLoggedWorld(into).registry })).update();
    expect((await log.checkpoint()).size).toBe(size);
  });

  test('that was left out, by the comparison that a server makes at its start and once a day', async () => {
    const { registry, another } = createLoggedWorld();
    const log = await logOf(registry);
    await put(registry, '@acme/apis/pay@1.0.0');
    // A process of before, which left the leaf out and read on.
    const lost = another();
    const { openTreeLog } = await import('../../../src/store/tree/tree-log.ts');
    const tree = await openTreeLog(lost.bucket);
    const cursors = new Map([['acme', { entry: await lost.refs.newestEntry('acme'), digest: null }]]);
    await tree.append([], { decidedOn: tree.cursors(), cursors, at: '2026-11-28T12:00:00.000Z' });
    await log.update();
    expect(await versionsIn(log)).toEqual([]);
    expect((await fsck(registry)).unlogged).toEqual(['@acme/apis/pay@1.0.0']);
    await log.update(undefined, { compares: true });
    expect(await versionsIn(log)).toEqual(['listed @acme/apis/pay@1.0.0']);
    expect((await fsck(registry)).unlogged).toEqual([]);
    const { size } = await log.checkpoint();
    await log.update(undefined, { compares: true });
    expect((await log.checkpoint()).size).toBe(size);
  });

  test('after a start at which the log could not be read', async () => {
    const { registry, bucket, pass } = createLoggedWorld();
    await put(registry, '@acme/apis/pay@1.0.0');
    bucket.fault('list', 'fail', { when: (key) => key.startsWith('tree/') });
    const kept = await keepLog(registry);
    await put(registry, '@acme/apis/pay@1.1.0');
    pass(2000);
    await kept!.close();
    const log = (await publicLogOf(registry))!;
    expect((await versionsIn(log)).length).toBe(2);
  });

  test('after a look that failed, when the server ends', async () => {
    const world = createLoggedWorld();
    const told: string[] = [];
    const registry: Registry = { ...world.registry, log: (_level, event) => void told.push(event) };
    await put(registry, '@acme/apis/pay@1.0.0');
    const log = await logOf(registry);
    let isBroken = true;
    world.bucket.fault('list', 'fail', { count: 9, when: (key) => isBroken && key.startsWith('tree/') });
    const kept = await keepLog(registry);
    await put(registry, '@acme/apis/pay@1.1.0');
    // The look at the start, and that at what was just published.
    await expect.poll(() => told).toEqual(Array(2).fill('the public log was not written'));
    isBroken = false;
    await kept!.close();
    expect((await versionsIn(log)).length).toBe(2);
  });
});

test('the first proof after a start reads many bundles at once', async () => {
  let [open, most] = [0, 0];
  const bytes = encodeBundle(Array.from({ length: 256 }, () => Buffer.from('{}')));
  const tile = async () => {
    most = Math.max(most, ++open);
    await new Promise(setImmediate);
    open--;
    return bytes;
  };
  const view = createLogView({ size: () => 100 * 256, tile } as unknown as TreeLog);
  expect(await view.find('@acme/apis/pay@1.0.0')).toBe(null);
  expect(most).toBe(16);
});
