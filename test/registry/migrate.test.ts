import { zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { fsck } from '../../src/registry/fsck.ts';
import { migrate } from '../../src/registry/maintenance/migrate.ts';
import { newId, type Registry } from '../../src/registry/registry.ts';
import { listAll, type Bucket } from '../../src/store/bucket.ts';
import { assertFormat, beginCopy } from '../../src/store/format.ts';
import { createMemoryBucket } from '../memory-store.ts';
import { createObjects } from '../../src/store/objects.ts';
import { createRefs } from '../../src/store/refs.ts';
import { createTestRegistry, publishVersion, type TestRegistry } from '../server/registry.ts';

async function createStore(): Promise<TestRegistry> {
  const registry = createTestRegistry();
  await assertFormat(registry.bucket);
  await publishVersion(registry, '@acme/apis/one', '1.0.0');
  await publishVersion(registry, '@acme/apis/one', '1.1.0');
  await publishVersion(registry, '@beta/apis/two', '1.0.0');
  return registry;
}

function openAgain(plain: Registry, bucket: Bucket): Registry {
  const refs = createRefs(bucket, { ...plain, uniqueId: () => newId(plain), maxAge: 0 });
  return { ...plain, bucket, objects: createObjects(bucket), refs };
}

/** Everything but the heads of logs, which a copy of a store without them has. */
async function filesOf(bucket: Bucket): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for await (const key of listAll(bucket, '')) {
    if (key.startsWith('work/heads/')) continue;
    const bytes = Buffer.from((await bucket.get(key))!);
    files[key] = bytes.readUInt32LE(0) === 0xfd2fb528 ? zstdDecompressSync(bytes).toString() : bytes.toString('latin1');
  }
  return files;
}

test('a migrated store is the same store in its new place', async () => {
  const registry = createTestRegistry();
  await assertFormat(registry.bucket);
  await publishVersion(registry, '@acme/apis/one', '1.0.0');
  const into = createMemoryBucket();
  expect(await migrate(registry.bucket, into)).toMatchObject({ damages: [], isBehind: false });
  expect(await filesOf(into)).toEqual(await filesOf(registry.bucket));
});

test('nothing is written where something is, and a migration that was stopped goes on', async () => {
  const registry = await createStore();
  const store = createMemoryBucket();
  await assertFormat(store);
  await expect(migrate(registry.bucket, store)).rejects.toMatchObject({ code: 'conflict' });
  const other = createMemoryBucket();
  await other.putIfAbsent('log/@x/1', Buffer.from('x'));
  await expect(migrate(registry.bucket, other)).rejects.toMatchObject({ code: 'conflict' });
  await expect(migrate(createMemoryBucket(), createMemoryBucket())).rejects.toMatchObject({ code: 'malformed' });
  const stopped = createMemoryBucket();
  await beginCopy(stopped);
  await expect(assertFormat(stopped)).rejects.toMatchObject({ code: 'unavailable' });
  await migrate(registry.bucket, stopped);
  expect((await fsck(openAgain(registry, stopped))).damages).toEqual([]);
});

test('a damaged entry stops the log before it, and is reported', async () => {
  const registry = await createStore();
  const [newest] = await registry.bucket.list('log/@acme/', { limit: 1 });
  await registry.bucket.delete(newest!);
  await registry.bucket.putIfAbsent(newest!, Buffer.from('{}'));
  const { damages } = await migrate(registry.bucket, createMemoryBucket());
  expect(damages).toEqual([{ key: newest, detail: expect.stringMatching(/damaged/) as string }]);
});
