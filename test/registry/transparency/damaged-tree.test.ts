import { describe, expect, test } from 'vitest';
import { digestOf } from '../../../src/model/digest.ts';
import { encodeLeaf } from '../../../src/model/transparency/leaf.ts';
import { formatNote } from '../../../src/model/transparency/note.ts';
import { fsck } from '../../../src/registry/fsck.ts';
import type { Registry } from '../../../src/registry/registry.ts';
import { acceptLoss, type Repaired, repairStore } from '../../../src/registry/maintenance/repair.ts';
import { backup } from '../../../src/registry/maintenance/backup.ts';
import { publicLogDamages, publicLogOf, type PublicLog } from '../../../src/registry/transparency/public-log.ts';
import { listAll, type Bucket } from '../../../src/store/bucket.ts';
import { assertFormat } from '../../../src/store/format.ts';
import { createMemoryBucket } from '../../memory-store.ts';
import { encodeSealed } from '../../../src/store/log/entry.ts';
import { openTreeLog } from '../../../src/store/tree/tree-log.ts';
import { author, createLoggedWorld, put } from './logged.ts';

// What a damaged `tree/` leads to: no second history of a size that was signed, and nothing appended into a gap.

async function logOf(registry: Registry): Promise<PublicLog> {
  const log = (await publicLogOf(registry))!;
  await log.update();
  return log;
}

/** A world whose log has one head of several batches. */
async function createSigned(versions = 4) {
  const world = createLoggedWorld();
  const log = await logOf(world.registry);
  for (let minor = 0; minor < versions; minor++) {
    await put(world.registry, `@acme/apis/pay@1.${minor}.0`);
    await log.update();
  }
  const head = formatNote((await log.checkpoint()).note);
  /** The same log, as a process that starts now has it. */
  const restart = async (): Promise<PublicLog> => {
    const later = world.another();
    const opened = (await publicLogOf({ ...later, bucket: { ...later.bucket } }))!;
    await opened.update();
    return opened;
  };
  const batches = await Array.fromAsync(listAll(world.bucket, 'tree/batches/'));
  return { ...world, log, head, restart, batches };
}

async function rewrite(bucket: Bucket, key: string, change: (text: string) => string): Promise<void> {
  const text = Buffer.from((await bucket.get(key))!).toString();
  await bucket.delete(key);
  await bucket.putIfAbsent(key, Buffer.from(change(text)));
}

/** A batch with another leaf, and the digest of that. */
function forged(batch: Uint8Array): Uint8Array {
  const { digest: _, ...rest } = JSON.parse(Buffer.from(batch).toString().replace('1.3.0', '1.9.0')) as Record<string, unknown>; // prettier-ignore
  return encodeSealed(JSON.stringify(rest)).bytes;
}

const treeOf = async (bucket: Bucket): Promise<Map<string, string>> => {
  const files = new Map<string, string>();
  for await (const key of listAll(bucket, 'tree/')) files.set(key, digestOf((await bucket.get(key))!));
  return files;
};

const repair = (registry: Registry, from: Bucket | null, reported: Repaired[]) =>
  repairStore(registry, () => fsck(registry), { from, giveUp: false, author, report: (each) => void reported.push(each) }); // prettier-ignore

/** Appends so many leaves that the first bundle is full, and notes the head. */
async function fill(bucket: Bucket): Promise<void> {
  const tree = await openTreeLog(bucket);
  const at = '2026-11-28T12:00:00.000Z';
  const digest = `sha256:${'0'.repeat(64)}` as const;
  const leaves = Array.from({ length: 300 }, (_, minor) =>
    encodeLeaf({ event: 'published', coordinate: '@acme/apis/pay', label: `1.${minor}.0`, digest, at }),
  );
  await tree.append(leaves, { decidedOn: tree.cursors(), cursors: new Map(), at });
  await tree.noteHead();
}

const corrupt = { code: 'corrupt' };

describe('a damaged tree', () => {
  test('a digit that is flipped in the newest batch is found, and nothing is signed', async () => {
    const { bucket, batches, restart, registry } = await createSigned();
    await rewrite(bucket, batches.at(-1)!, (text) => text.replace('1.3.0', '1.9.0'));
    expect((await fsck(registry)).damages).toEqual([{ key: batches.at(-1), detail: 'It was changed or is damaged.' }]);
    await expect(restart()).rejects.toMatchObject(corrupt);
  });

  test('a batch that was written anew with its digest is not of the log that was signed', async () => {
    const { bucket, batches, restart, registry } = await createSigned();
    const own = (await bucket.get(batches.at(-1)!))!;
    await bucket.delete(batches.at(-1)!);
    await bucket.putIfAbsent(batches.at(-1)!, forged(own));
    expect((await fsck(registry)).damages).toEqual([
      {
        key: batches.at(-1),
        detail: expect.stringMatching(/^work\/heads\/tree\/\d{15} records another tree of 9 leaves\.$/),
      },
    ]);
    await expect(restart()).rejects.toMatchObject(corrupt);
  });

  test.each([
    ['the newest batch', (batches: string[]) => batches.slice(-1)],
    ['some of the newest', (batches: string[]) => batches.slice(-3)],
    ['all batches', (batches: string[]) => batches],
  ])('%s that is lost is not taken for the end', async (_, lost) => {
    const { bucket, batches, restart, registry } = await createSigned();
    for (const key of lost(batches)) await bucket.delete(key);
    expect((await fsck(registry)).damages).toEqual([expect.objectContaining({ lostOf: 'tree' })]);
    await put(registry, '@acme/apis/pay@2.0.0');
    await expect(restart()).rejects.toMatchObject(corrupt);
    // Nothing was appended into the gap.
    expect(await bucket.list('tree/batches/')).toEqual(batches.filter((key) => !lost(batches).includes(key)));
  });

  test('a folder of batches that is lost is not written into', async () => {
    const { bucket, registry, restart } = await createSigned(0);
    await fill(bucket);
    for (const key of await bucket.list('tree/batches/000000001/')) await bucket.delete(key);
    const left = await bucket.list('tree/batches/');
    await put(registry, '@acme/apis/pay@2.0.0');
    await expect(restart()).rejects.toMatchObject(corrupt);
    expect(await bucket.list('tree/batches/')).toEqual(left);
  });

  test('a batch that is lost under a running server is noticed, and nothing is appended after it', async () => {
    const { bucket, batches, log, registry, pass } = await createSigned();
    await bucket.delete(batches.at(-1)!);
    await put(registry, '@acme/apis/pay@2.0.0');
    await expect(log.update()).rejects.toMatchObject(corrupt);
    pass(1500);
    await expect(log.checkpoint()).rejects.toMatchObject(corrupt);
    expect(await bucket.list('tree/batches/')).toEqual(batches.slice(0, -1));
  });

  test('what is signed is the head that is noted', async () => {
    const { bucket, head, restart } = await createSigned();
    expect((await bucket.list('work/heads/tree/')).length).toBe(1);
    expect(formatNote((await (await restart()).checkpoint()).note)).toBe(head);
  });

  test('a tile that is damaged is not served', async () => {
    const { bucket, restart } = await createSigned(0);
    await fill(bucket);
    await rewrite(bucket, 'tree/tiles/entries/000000000', (text) => text.replace('1.77.0', '1.78.0'));
    const again = await restart();
    await expect(again.tile({ level: 'entries', index: 0, width: 256 })).rejects.toMatchObject(corrupt);
    await expect(again.tile({ level: 0, index: 0, width: 256 })).rejects.toMatchObject(corrupt);
  });

  test('a copy is never given another log, nor one that lost something', async () => {
    const { bucket, batches, registry } = await createSigned();
    await assertFormat(bucket);
    const copy = createMemoryBucket();
    expect(await backup(registry, copy)).toMatchObject({ damages: [], heads: expect.arrayContaining([expect.objectContaining({ log: 'tree', sequence: 9 })]) }); // prettier-ignore
    const before = await treeOf(copy);
    expect(before).toEqual(await treeOf(bucket));
    const newest = (await bucket.get(batches.at(-1)!))!;
    await rewrite(bucket, batches.at(-1)!, (text) => text.replace('1.3.0', '1.9.0'));
    expect((await backup(registry, copy)).damages).toEqual([{ key: 'tree/', detail: expect.stringContaining(batches.at(-1)!) }]); // prettier-ignore
    expect(await treeOf(copy)).toEqual(before);
    await bucket.delete(batches.at(-1)!);
    expect((await backup(registry, copy)).damages).not.toEqual([]);
    expect(await treeOf(copy)).toEqual(before);
    // Its own key and another history, as after a start that took the loss for a new log.
    await bucket.putIfAbsent(batches.at(-1)!, forged(newest));
    expect((await backup(registry, copy)).damages).not.toEqual([]);
    expect(await treeOf(copy)).toEqual(before);
    await bucket.delete(batches.at(-1)!);
    await bucket.putIfAbsent(batches.at(-1)!, newest);
    expect((await backup(registry, copy)).damages).toEqual([]);
  });

  test('a copy of a log that lacks any batch has what stands before it, and says so', async () => {
    const { bucket, registry } = await createSigned(2);
    await assertFormat(bucket);
    await fill(bucket);
    const before = await treeOf(bucket);
    const batches = await Array.fromAsync(listAll(bucket, 'tree/batches/'));
    for (const lost of batches) {
      const bytes = (await bucket.get(lost))!;
      await bucket.delete(lost);
      const copy = createMemoryBucket();
      expect([lost, (await backup(registry, copy)).damages]).toEqual([lost, [expect.objectContaining({ key: expect.stringMatching(/^tree\//) })]]); // prettier-ignore
      expect((await treeOf(copy)).keys().every((key) => before.has(key) && key < lost || key.startsWith('tree/tiles/'))).toBe(true); // prettier-ignore
      await bucket.putIfAbsent(lost, bytes);
      expect((await backup(registry, copy)).damages).toEqual([]);
      expect(await treeOf(copy)).toEqual(before);
    }
  });

  test('a copy that was stopped at any key of the log is completed by the next run', async () => {
    const { bucket, registry } = await createSigned(0);
    await assertFormat(bucket);
    await fill(bucket);
    const before = await treeOf(bucket);
    for (const stopped of before.keys()) {
      const copy = createMemoryBucket();
      copy.fault('putIfAbsent', 'fail', { when: (key) => key === stopped });
      await expect(backup(registry, copy)).rejects.toThrow('Planned failure');
      expect(await backup(registry, copy)).toMatchObject({ damages: [] });
      expect([stopped, await treeOf(copy)]).toEqual([stopped, before]);
    }
  });

  test('what a copy has is put back, and tiles are made again', async () => {
    const { bucket, registry, restart } = await createSigned(0);
    await assertFormat(bucket);
    await fill(bucket);
    const copy = createMemoryBucket();
    await backup(registry, copy);
    const before = await treeOf(bucket);
    const keys = [...before.keys()];
    for (const key of keys) {
      const bytes = (await bucket.get(key))!;
      await bucket.delete(key);
      if (keys.indexOf(key) % 2 === 0) await bucket.putIfAbsent(key, bytes.subarray(0, bytes.byteLength >> 1));
      expect((await fsck(registry)).damages).toEqual([expect.objectContaining({ key })]);
      const reported: Repaired[] = [];
      expect((await repair(registry, copy, reported)).damages).toEqual([]);
      expect(reported.map(({ outcome, what }) => [outcome, what])).toEqual([['repaired', key]]);
    }
    expect(await treeOf(bucket)).toEqual(before);
    await restart();
  });

  test('the loss of the newest leaves can be accepted, and the log goes on', async () => {
    const { bucket, batches, registry, restart } = await createSigned();
    await rewrite(bucket, batches[2]!, (text) => text.replace('1.1.0', '1.9.0'));
    const reported: Repaired[] = [];
    expect((await repair(registry, null, reported)).damages).toHaveLength(1);
    expect(reported[0]).toMatchObject({ outcome: 'left', what: batches[2], detail: expect.stringContaining('--accept-loss tree:3') }); // prettier-ignore
    await expect(acceptLoss(registry, { log: 'tree', sequence: 5 }, { author, report: () => undefined })).rejects.toThrow('tree:3'); // prettier-ignore
    await acceptLoss(registry, { log: 'tree', sequence: 3 }, { author, report: (each) => void reported.push(each) });
    expect(reported.at(-1)).toMatchObject({ outcome: 'given up', what: 'tree' });
    expect((await fsck(registry)).damages).toEqual([]);
    const log = await restart();
    await log.update(undefined, { compares: true });
    expect(await fsck(registry)).toMatchObject({ damages: [], unlogged: [] });
  });

  test('a key that the log does not announce signs nothing', async () => {
    const { another, bucket } = await createSigned();
    const secret = 'the key that a restored server made for itself';
    const restored = { ...another(), bucket: { ...bucket }, logKey: { read: () => secret, make: () => secret } };
    const log = (await publicLogOf(restored))!;
    await expect(log.checkpoint()).rejects.toMatchObject(corrupt);
    expect(() => log.signer()).toThrow(expect.objectContaining(corrupt));
    expect(publicLogDamages(restored)).toEqual([expect.stringContaining('Restore `.log-key`')]);
    // None is made for a log that has begun.
    const without = { ...another(), bucket: { ...bucket }, logKey: { read: () => null, make: () => secret } };
    await expect(publicLogOf(without)).rejects.toMatchObject(corrupt);
  });
});
