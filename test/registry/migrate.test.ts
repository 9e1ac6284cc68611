import { zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { repositoryId, repositoryRef, type Repository } from '../../src/model/connection.ts';
import { parseCoordinate } from '../../src/model/address.ts';
import { resourceRef, type Resource } from '../../src/model/resource.ts';
import { fsck } from '../../src/registry/fsck.ts';
import { migrate } from '../../src/registry/maintenance/migrate.ts';
import { newId, type Registry } from '../../src/registry/registry.ts';
import { listAll, type Bucket } from '../../src/store/bucket.ts';
import { assertFormat, beginCopy } from '../../src/store/format.ts';
import { createMemoryBucket } from '../../src/store/memory.ts';
import { createObjects } from '../../src/store/objects.ts';
import { createRefs } from '../../src/store/refs.ts';
import { createTestRegistry, publishVersion, type TestRegistry } from '../server/registry.ts';

const secret = 'hunter2-secret';
const author = { actor: 'operator:configuration', origin: null };
const clean = 'https://git.test/acme/pay.git';
const dirty = clean.replace('//', `//me:${secret}@`);
const dirtyRef = repositoryRef('acme', repositoryId(dirty, null));
const cleanRef = repositoryRef('acme', repositoryId(clean, null));

const recordOf = (url: string): Repository => ({
  org: 'acme',
  url,
  branch: null,
  credential: null,
  discover: '',
  visibility: 'private',
  validation: 'strict',
  state: 'new',
  detail: null,
  commit: null,
  syncedAt: null,
  documents: {},
  tags: {},
});

/** Records what a program before the wall recorded for such a URL. */
async function follow(registry: Registry, url: string, ref: string, times = 1): Promise<void> {
  for (let time = 0; time < times; time++)
    await registry.refs.update<Repository>(ref, () => ({
      value: { ...recordOf(url), state: 'failed', detail: `${url} does not answer (${time}).` },
      change: { ...author, action: 'follow' },
    }));
  await registry.refs.update(`runs/acme/${newId(registry)}`, () => ({
    value: { id: 'x', org: 'acme', url, repository: repositoryId(url, null) },
    change: { ...author, action: 'run' },
  }));
}

/** `entries`: of the repository with the password; enough of them make summaries. */
async function createStore(entries = 1): Promise<TestRegistry> {
  const registry = createTestRegistry();
  await assertFormat(registry.bucket);
  await publishVersion(registry, '@acme/apis/one', '1.0.0');
  await follow(registry, dirty, dirtyRef, entries);
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

const keysWith = (files: Record<string, string>, text: string) =>
  Object.entries(files).flatMap(([key, bytes]) => (bytes.includes(text) ? [key] : []));

test('fsck names the record with a password in its URL, does not print it, and calls nothing damaged', async () => {
  const registry = await createStore(2);
  const { credentials, damages } = await fsck(registry);
  expect(damages).toEqual([]);
  expect(credentials).toEqual([{ record: dirtyRef, key: expect.stringMatching(/^log\/@acme\//) as string }]);
  expect(JSON.stringify(credentials)).not.toContain(secret);
});

test.each([1, 600])(
  'after %i entries with a password, a migrated store has it nowhere',
  async (entries) => {
    const registry = await createStore(entries);
    const before = await filesOf(registry.bucket);
    expect(keysWith(before, secret).length).toBeGreaterThan(entries);
    const into = createMemoryBucket();
    const migrated = await migrate(registry.bucket, into);
    expect(migrated).toMatchObject({
      rewritten: [{ log: '@acme', records: [dirtyRef] }],
      damages: [],
      isBehind: false,
    });
    const after = await filesOf(into);
    expect(keysWith(after, secret)).toEqual([]);
    // Nor the digest of it, which it could be guessed from.
    expect(keysWith(after, repositoryId(dirty, null))).toEqual([]);
    expect(await filesOf(registry.bucket)).toEqual(before);
    // The log of another organization is as it was.
    const theirs = Object.keys(before).filter((key) => key.startsWith('log/@beta/'));
    expect(theirs.map((key) => after[key])).toEqual(theirs.map((key) => before[key]));

    const moved = openAgain(registry, into);
    expect(await fsck(moved)).toMatchObject({ damages: [], credentials: [], versions: 3 });
    expect((await moved.refs.read<Repository>(cleanRef))?.value).toMatchObject({ url: clean, state: 'failed' });
    expect(await moved.refs.read(dirtyRef)).toBeNull();
    await publishVersion(moved, '@acme/apis/one', '1.2.0');
    const { coordinate } = parseCoordinate('@acme/apis/one')!;
    const resource = await openAgain(registry, into).refs.read<Resource>(resourceRef(coordinate));
    expect(resource?.value.versions.map(({ label }) => label)).toEqual(['1.0.0', '1.1.0', '1.2.0']);
    expect((await Array.fromAsync(moved.refs.history(resourceRef(coordinate)))).length).toBe(resource!.generation);
    expect(await fsck(moved)).toMatchObject({ damages: [] });
  },
  60_000,
);

test('where the clean URL is followed already, its record stays, and the other one goes', async () => {
  const registry = await createStore();
  await registry.refs.update<Repository>(cleanRef, () => ({
    value: { ...recordOf(clean), state: 'following' },
    change: { ...author, action: 'follow' },
  }));
  const into = createMemoryBucket();
  await migrate(registry.bucket, into);
  const moved = openAgain(registry, into);
  expect(await Array.fromAsync(moved.refs.list('repositories/'))).toEqual([cleanRef]);
  expect((await moved.refs.read<Repository>(cleanRef))?.value.state).toBe('following');
  expect((await fsck(moved)).damages).toEqual([]);
});

test('a store without passwords is the same store in its new place', async () => {
  const registry = createTestRegistry();
  await assertFormat(registry.bucket);
  await publishVersion(registry, '@acme/apis/one', '1.0.0');
  const into = createMemoryBucket();
  expect(await migrate(registry.bucket, into)).toMatchObject({ rewritten: [], damages: [], isBehind: false });
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
