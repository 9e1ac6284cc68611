import { expect, test } from 'vitest';
import { resourceRef, type Resource } from '../../src/model/resource.ts';
import { createKey } from '../../src/registry/keys/keys.ts';
import { fsck } from '../../src/registry/fsck.ts';
import { listAll, type Bucket } from '../../src/store/bucket.ts';
import { parseEntryKey } from '../../src/store/log/entry.ts';
import { createMemoryBucket } from '../memory-store.ts';
import { createObjects } from '../../src/store/objects.ts';
import { createRefs } from '../../src/store/refs.ts';
import { newId, type Registry } from '../../src/registry/registry.ts';
import { createTestRegistry, publishVersion } from '../server/registry.ts';

type Files = Map<string, Uint8Array>;

async function filesOf(bucket: Bucket): Promise<Files> {
  const files: Files = new Map();
  for await (const key of listAll(bucket, '')) files.set(key, (await bucket.get(key))!);
  return files;
}

async function openWith(plain: Registry, files: Files): Promise<Registry> {
  const bucket = createMemoryBucket();
  for (const [key, bytes] of files) await bucket.putIfAbsent(key, bytes);
  const refs = createRefs(bucket, { ...plain, uniqueId: () => newId(plain) });
  return { ...plain, bucket, objects: createObjects(bucket), refs };
}

/** The ways in which one file is damaged, each with the files after it. */
function* damagesOf(files: Files, key: string): Generator<{ how: string; after: Files }> {
  const bytes = files.get(key)!;
  for (const [how, changed] of [
    ['a bit flipped', bytes.map((byte, index) => (index === bytes.length >> 1 ? byte ^ 1 : byte))],
    ['its last byte flipped', bytes.map((byte, index) => (index === bytes.length - 1 ? byte ^ 1 : byte))],
    ['cut in half', bytes.subarray(0, bytes.length >> 1)],
    ['emptied', new Uint8Array()],
    ['appended to', Buffer.concat([bytes, Buffer.from(' ')])],
  ] as const) {
    yield { how, after: new Map([...files, [key, changed]]) };
  }
  const without = new Map(files);
  without.delete(key);
  yield { how: 'deleted', after: without };
  const kind = key.split('/')[0]!;
  for (const [other, theirs] of files) {
    if (other === key || other.split('/')[0] !== kind || Buffer.compare(theirs, bytes) === 0) continue;
    const swapped = new Map([...files, [key, theirs] as const, [other, bytes] as const]);
    if (kind === 'log' || other > key) yield { how: `swapped with ${other}`, after: swapped };
    if (kind !== 'log') break;
  }
}

test('every damage of one object or entry is found, or nothing is lost by it', async () => {
  const plain = createTestRegistry();
  const author = { actor: 'operator:test', origin: null };
  await publishVersion(plain, '@acme/apis/one', '1.0.0');
  await publishVersion(plain, '@acme/apis/one', '1.1.0');
  await publishVersion(plain, '@beta/apis/two', '1.0.0');
  await createKey(plain, { org: 'acme', name: 'k', scopes: ['read'] }, author);
  const files = await filesOf(plain.bucket);
  const sound = await fsck(await openWith(plain, files));
  expect([sound.damages, sound.unnamed]).toEqual([[], []]);
  const names = ['@acme/one', '@beta/two'].map((name) => {
    const [org, slug] = name.slice(1).split('/') as [string, string];
    return resourceRef({ org, type: 'apis', slug });
  });
  const valuesOf = (registry: Registry) =>
    Promise.all(names.map(async (name) => (await registry.refs.read<Resource>(name))?.value));
  const expected = await valuesOf(plain);
  const missed: string[] = [];
  for (const key of files.keys()) {
    if (!/^(objects|packs|log)\//.test(key)) continue;
    for (const { how, after } of damagesOf(files, key)) {
      const damaged = await openWith(plain, after);
      const { damages, unnamed } = await fsck(damaged);
      if (damages.length > 0 || unnamed.length > 0) continue;
      // The newest entry of a log leaves no trace when it is deleted, unless it named a manifest.
      const isNewest = parseEntryKey(key) !== null && how === 'deleted' && key.startsWith('log/registry/');
      const isSame = JSON.stringify(await valuesOf(damaged)) === JSON.stringify(expected);
      if (!isNewest || !isSame) missed.push(`${key} ${how}`);
    }
  }
  expect(missed).toEqual([]);
});
