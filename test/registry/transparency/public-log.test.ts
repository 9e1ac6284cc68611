import { describe, expect, test } from 'vitest';
import { parseCoordinate } from '../../../src/model/address.ts';
import { resourceRef, type Resource } from '../../../src/model/resource.ts';
import { signersOf, formatVerifierKey, formatNote } from '../../../src/model/transparency/note.ts';
import { decodeLeaf } from '../../../src/model/transparency/leaf.ts';
import { formatProof, parseCheckpoint, parseProof } from '../../../src/model/transparency/checkpoint.ts';
import { nodesIn, isConsistent, isIncluded, leafHash, proveConsistency } from '../../../src/model/transparency/tree.ts';
import { changeResource } from '../../../src/registry/change-resource.ts';
import { changeStatus } from '../../../src/registry/change-version.ts';
import { fsck } from '../../../src/registry/fsck.ts';
import type { Registry } from '../../../src/registry/registry.ts';
import { publicLogOf, type PublicLog } from '../../../src/registry/transparency/public-log.ts';
import { createMemoryBucket } from '../../memory-store.ts';
import type { Bucket } from '../../../src/store/bucket.ts';
import { createWorld } from '../world.ts';
import { author, createLoggedWorld, leavesIn, put, shown } from './logged.ts';

const pay = parseCoordinate('@acme/apis/pay')!.coordinate;

async function logOf(registry: Registry): Promise<PublicLog> {
  const log = (await publicLogOf(registry))!;
  await log.update();
  return log;
}

const setVisibility = (registry: Registry, visibility: 'public' | 'private') =>
  changeResource(registry, pay, { visibility }, author);

describe('the public log', () => {
  test('has each public fact once, in order, and nothing that is private', async () => {
    const { registry } = createLoggedWorld();
    const log = await logOf(registry);
    await put(registry, '@acme/apis/pay@1.0.0');
    await put(registry, '@other/apis/secret@1.0.0', 'private');
    await log.update();
    await put(registry, '@acme/apis/pay@1.1.0');
    await changeStatus(registry, pay, '1.0.0', { state: 'deprecated', reason: 'Old: ask Jane.' }, author);
    await changeStatus(registry, pay, '1.0.0', { state: 'active' }, author);
    await changeStatus(registry, pay, '1.1.0', { state: 'yanked', reason: 'Wrong.' }, author);
    await log.update();
    await log.update();
    const leaves = await leavesIn(log);
    expect(leaves.map(shown)).toEqual([
      'key',
      'published @acme/apis/pay@1.0.0',
      'latest @acme/apis/pay@1.0.0',
      'published @acme/apis/pay@1.1.0',
      'latest @acme/apis/pay@1.1.0',
      'deprecated @acme/apis/pay@1.0.0',
      'reactivated @acme/apis/pay@1.0.0',
      'yanked @acme/apis/pay@1.1.0',
      'latest @acme/apis/pay@1.0.0',
    ]);
    const { versions } = (await registry.refs.read<Resource>(resourceRef(pay)))!.value;
    expect(leaves[1]).toEqual({
      event: 'published',
      coordinate: '@acme/apis/pay',
      label: '1.0.0',
      digest: versions[0]!.manifest,
      at: versions[0]!.publishedAt,
    });
    expect(JSON.stringify(leaves)).not.toMatch(/Jane|secret|operator/);
  });

  test('lists what becomes public with all its versions, and keeps what becomes private', async () => {
    const { registry } = createLoggedWorld();
    const log = await logOf(registry);
    await put(registry, '@acme/apis/pay@1.0.0', 'private');
    await put(registry, '@acme/apis/pay@2.0.0', 'private');
    await changeStatus(registry, pay, '1.0.0', { state: 'withdrawn', reason: 'A secret.' }, author);
    await setVisibility(registry, 'public');
    await setVisibility(registry, 'private');
    await put(registry, '@acme/apis/pay@3.0.0', 'private');
    await log.update();
    expect((await leavesIn(log)).map(shown)).toEqual([
      'key',
      'listed @acme/apis/pay@2.0.0',
      'latest @acme/apis/pay@2.0.0',
    ]);
  });

  test('tells what became of a version while its resource was private, once it is public again', async () => {
    const { registry } = createLoggedWorld();
    const log = await logOf(registry);
    for (const label of ['1.0.0', '2.0.0']) await put(registry, `@acme/apis/pay@${label}`);
    await log.update();
    const size = (await leavesIn(log)).length;
    // Both within one look, and over several.
    for (const label of ['1.0.0', '2.0.0']) {
      await setVisibility(registry, 'private');
      if (label === '2.0.0') await log.update();
      await changeStatus(registry, pay, label, { state: 'withdrawn', reason: 'A secret.' }, author);
      await setVisibility(registry, 'public');
      await log.update();
    }
    expect((await leavesIn(log)).slice(size).map(shown)).toEqual([
      'withdrawn @acme/apis/pay@1.0.0',
      'withdrawn @acme/apis/pay@2.0.0',
      'latest @acme/apis/pay@null',
    ]);
  });

  test('lists what was published before there was a log, once', async () => {
    const { registry, another } = createLoggedWorld();
    await put(registry, '@acme/apis/pay@1.0.0');
    await put(registry, '@acme/apis/bill@1.0.0');
    await changeStatus(registry, pay, '1.0.0', { state: 'deprecated', reason: 'Old.' }, author);
    const log = await logOf(registry);
    await put(registry, '@acme/apis/bill@1.1.0');
    await log.update();
    const later = another();
    const again = await logOf({ ...later, bucket: { ...later.bucket } });
    expect((await leavesIn(again)).map(shown)).toEqual([
      'key',
      'listed @acme/apis/bill@1.0.0',
      'latest @acme/apis/bill@1.0.0',
      'listed @acme/apis/pay@1.0.0',
      'deprecated @acme/apis/pay@1.0.0',
      'latest @acme/apis/pay@1.0.0',
      'published @acme/apis/bill@1.1.0',
      'latest @acme/apis/bill@1.1.0',
    ]);
    expect(formatNote((await again.checkpoint()).note)).toBe(formatNote((await log.checkpoint()).note));
  });

  test('proves a version, and that it begins with each head that was seen', async () => {
    const { registry } = createLoggedWorld();
    const log = await logOf(registry);
    const key = log.signer();
    expect(log.origin).toBe('registry.test/log');
    const seen = [];
    for (let minor = 0; minor < 5; minor++) {
      await put(registry, `@acme/apis/pay@1.${minor}.0`);
      await log.update();
      const checkpoint = parseCheckpoint(formatNote((await log.checkpoint()).note))!;
      expect(signersOf(checkpoint.note, [key])).toEqual([key]);
      seen.push(checkpoint);
    }
    const proof = parseProof(formatProof((await log.prove('@acme/apis/pay', '1.2.0'))!))!;
    expect(isIncluded({ ...proof.checkpoint, index: proof.index }, leafHash(proof.extra!), proof.hashes)).toBe(true);
    expect(JSON.parse(String(proof.extra))).toMatchObject({ event: 'published', label: '1.2.0' });
    for (const old of seen) {
      const checkpoint = await log.checkpoint();
      const nodes = nodesIn(async (level, index, width) => (await log.tile({ level, index, width }))!, checkpoint.size);
      const hashes = await proveConsistency(nodes, old.size, checkpoint.size);
      expect(isConsistent(old, checkpoint, hashes)).toBe(true);
    }
    expect(await log.prove('@acme/apis/pay', '9.0.0')).toBe(null);
  });

  test('over two processes is one log, whoever is faster', async () => {
    const { registry, another } = createLoggedWorld();
    const other = another();
    const [first, second] = [await logOf(registry), await logOf({ ...other, bucket: { ...other.bucket } })];
    await Promise.all(
      Array.from({ length: 20 }, async (_, at) => {
        await put(at % 2 ? registry : other, `@acme/apis/api-${at}@1.0.0`);
        await Promise.all([first.update(), second.update()]);
      }),
    );
    await Promise.all([first.update(), second.update()]);
    const leaves = (await leavesIn(first)).map(shown);
    expect(leaves.toSorted()).toEqual(
      [
        'key',
        ...Array.from({ length: 20 }, (_, at) => [
          `latest @acme/apis/api-${at}@1.0.0`,
          `published @acme/apis/api-${at}@1.0.0`,
        ]).flat(),
      ].toSorted(),
    );
    await second.update();
    expect((await leavesIn(second)).map(shown)).toEqual(leaves);
    expect(formatNote((await second.checkpoint()).note)).toBe(formatNote((await first.checkpoint()).note));
  });

  test('is read by many while two processes append, and has nothing twice', async () => {
    const { registry, another, pass, bucket } = createLoggedWorld();
    const other = another();
    let calls = 0;
    const late = async <T>(answer: Promise<T>): Promise<T> => {
      for (let turns = (calls++ * 7) % 5; turns > 0; turns--) await new Promise(setImmediate);
      return answer;
    };
    const slow = (): Bucket => ({
      ...bucket,
      get: (key) => late(bucket.get(key)),
      list: (prefix, options) => late(bucket.list(prefix, options)),
      putIfAbsent: (key, bytes) => late(bucket.putIfAbsent(key, bytes)),
    });
    const logs = [await logOf({ ...registry, bucket: slow() }), await logOf({ ...other, bucket: slow() })];
    for (let at = 0; at < 30; at++) {
      await Promise.all([
        put(registry, `@acme/apis/api-${2 * at}@1.0.0`),
        put(other, `@acme/apis/api-${2 * at + 1}@1.0.0`),
      ]);
      pass(1500);
      const updated = logs.map((log) => log.update(['acme']));
      // Each reads what the other appended, at moments of its own.
      for (let reads = 0; reads < 8; reads++) {
        pass(1500);
        await Promise.all(logs.map((log) => late(log.checkpoint())));
      }
      await Promise.all(updated);
    }
    await Promise.all(logs.map((log) => log.update()));
    pass(1500);
    const [first, second] = await Promise.all(logs.map(async (log) => (await leavesIn(log)).map(shown)));
    expect(new Set(first).size).toBe(first!.length);
    expect(first).toHaveLength(121);
    expect(second).toEqual(first);
  });

  test('an organization whose log is damaged keeps no other out', async () => {
    const { registry, bucket, events, another } = createLoggedWorld();
    await put(registry, '@acme/apis/pay@1.0.0');
    await put(registry, '@other/apis/pay@1.0.0');
    await logOf(registry);
    await put(registry, '@acme/apis/pay@1.1.0');
    await put(registry, '@acme/apis/pay@1.2.0');
    await put(registry, '@other/apis/pay@1.1.0');
    const entries = await bucket.list('log/@acme/');
    await bucket.delete(entries[1]!);
    const later = another();
    const log = await logOf({ ...later, bucket: { ...later.bucket } });
    expect((await leavesIn(log)).map(shown)).toContain('published @other/apis/pay@1.1.0');
    expect(events.map(({ event }) => event)).toContain('organization left out of the public log');
  });

  test('goes on over bundles and tiles, and is the same when it is opened again', async () => {
    const { registry, another, bucket } = createLoggedWorld();
    for (let at = 0; at < 300; at++) await put(registry, `@acme/apis/pay@1.${at}.0`);
    const log = await logOf(registry);
    for (let at = 300; at < 320; at++) {
      await put(registry, `@acme/apis/pay@1.${at}.0`);
      await log.update();
    }
    const { size } = await log.checkpoint();
    expect(size).toBe(1 + 300 + 1 + 40);
    const later = another();
    const again = await logOf({ ...later, bucket: { ...later.bucket } });
    expect(formatNote((await again.checkpoint()).note)).toBe(formatNote((await log.checkpoint()).note));
    expect((await fsck(later)).damages).toEqual([]);
    for (const label of ['1.0.0', '1.250.0', '1.319.0']) {
      const proof = (await again.prove('@acme/apis/pay', label))!;
      expect(isIncluded({ ...proof.checkpoint, index: proof.index }, leafHash(proof.extra!), proof.hashes)).toBe(true);
    }
    expect(await again.tile({ level: 0, index: 1, width: size - 256 })).not.toBe(null);
    expect(await again.tile({ level: 0, index: 1, width: size - 255 })).toBe(null);
    expect(await again.tile({ level: 1, index: 0, width: 1 })).toHaveLength(32);
    await bucket.delete('tree/tiles/entries/000000000');
    expect((await fsck(later)).damages).toEqual([{ key: 'tree/tiles/entries/000000000', detail: 'It is missing.' }]);
  });

  test('a gap is not taken for its end', async () => {
    const { registry, bucket, another } = createLoggedWorld();
    const log = await logOf(registry);
    for (let minor = 0; minor < 4; minor++) {
      await put(registry, `@acme/apis/pay@1.${minor}.0`);
      await log.update();
    }
    const keys = await bucket.list('tree/batches/');
    expect((await fsck(registry)).damages).toEqual([]);
    await bucket.delete(keys[2]!);
    const later = another();
    expect((await fsck(later)).damages).toEqual([{ key: keys[2], detail: 'It is missing.' }]);
    await expect(publicLogOf({ ...later, bucket: { ...later.bucket } })).rejects.toMatchObject({ code: 'corrupt' });
  });

  test('announces a key that takes the place of one, once, whichever of the nodes has it first', async () => {
    const { registry, another } = createLoggedWorld();
    const [old, next] = ['the secret of the key of this public log', 'the secret of the key that comes after it'];
    const node = (made: Registry, ...secrets: string[]) => ({
      ...made,
      bucket: { ...made.bucket },
      logKey: { read: () => secrets.join('\n'), make: () => secrets.join('\n') },
    });
    await put(registry, '@acme/apis/pay@1.0.0');
    const [first, second] = [await logOf(node(registry, old, next)), await logOf(node(another(), next, old))];
    for (const log of [second, first, second, first]) await log.update();
    expect((await leavesIn(second)).map(shown)).toEqual([
      'key',
      'listed @acme/apis/pay@1.0.0',
      'latest @acme/apis/pay@1.0.0',
      'key',
    ]);
    const proof = (await second.proveKey())!;
    expect(decodeLeaf(proof.extra!)).toMatchObject({ event: 'key', key: formatVerifierKey(second.signer()) });
    const keys = [first.signer(), second.signer()];
    expect(signersOf(proof.checkpoint.note, keys)).toHaveLength(2);
    // After a restart it is known what was announced; and one may go back.
    const third = await logOf(node(another(), next, old));
    await third.update();
    expect((await third.checkpoint()).size).toBe(4);
    const back = await logOf(node(another(), old, next));
    await back.update();
    expect((await leavesIn(back)).map(shown).at(-1)).toBe('key');
    expect((await back.proveKey())!.index).toBe(4);
  });

  test('a registry without an address, or in a bucket without a key of its own, has none', async () => {
    expect(await publicLogOf(createWorld().registry)).toBe(null);
    expect(await publicLogOf(createWorld({ url: 'https://registry.test' }).registry)).toBe(null);
  });
});

/** A bucket that ends its process at a write: before it (`before`), or after it, unheard. */
function killedAt(bucket: Bucket, call: number, before: boolean): Bucket {
  let calls = 0;
  return {
    ...bucket,
    async putIfAbsent(key, bytes) {
      if (++calls < call) return bucket.putIfAbsent(key, bytes);
      if (calls === call && !before) await bucket.putIfAbsent(key, bytes);
      throw new Error('Killed.');
    },
  };
}

test('a process that is killed at any write leaves one log, with one head for each size', async () => {
  const bucket = createMemoryBucket();
  const heads = new Map<number, string>();
  const note = async (log: PublicLog) => {
    const { size, note: signed } = await log.checkpoint();
    const head = formatNote(signed);
    expect(heads.get(size) ?? head).toBe(head);
    heads.set(size, head);
  };
  for (let life = 0; life < 60; life++) {
    const { registry } = createLoggedWorld(bucket);
    await put(registry, `@acme/apis/pay@1.${life}.0`);
    const dying = killedAt(bucket, 1 + (life % 3), life % 2 === 0);
    const log = await publicLogOf({ ...registry, bucket: dying });
    await log!.update().catch(() => undefined);
    // Who cannot note a head signs none.
    await note(log!).catch(() => undefined);
    const survivor = await logOf({ ...registry, bucket: { ...bucket } });
    await note(survivor);
  }
  const { registry } = createLoggedWorld(bucket);
  const labels = (await leavesIn(await logOf(registry))).flatMap((leaf) =>
    leaf.event === 'published' || leaf.event === 'listed' ? leaf.label : [],
  );
  expect(new Set(labels)).toEqual(new Set(Array.from({ length: 60 }, (_, life) => `1.${life}.0`)));
});
