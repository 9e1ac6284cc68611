import { expect, test } from 'vitest';
import { parseCoordinate } from '../../src/model/address.ts';
import { changeStatus } from '../../src/registry/change-version.ts';
import { fsck } from '../../src/registry/fsck.ts';
import { repairStore } from '../../src/registry/maintenance/repair.ts';
import { newId, type Registry } from '../../src/registry/registry.ts';
import { draftRef, type Draft } from '../../src/sites/model/documentation-site.ts';
import { resourceRef, type Resource } from '../../src/model/resource.ts';
import type { Bucket } from '../../src/store/bucket.ts';
import { createObjects, objectKey } from '../../src/store/objects.ts';
import { createRefs } from '../../src/store/refs.ts';
import { createTestRegistry, publishVersion, type TestRegistry } from '../server/registry.ts';

const author = { actor: 'operator:test', origin: null };
const change = { ...author, action: 'test' };
const large = { filler: 'x'.repeat(2_200_000) };

/** Another process that checks the store; `meanwhile` runs before it lists or reads what `when` names. */
function besides(registry: TestRegistry, when: (key: string) => boolean, meanwhile: () => Promise<unknown>): Registry {
  let isDone = false;
  const before = async (key: string): Promise<void> => {
    if (isDone || !when(key)) return;
    isDone = true;
    await meanwhile();
  };
  const bucket: Bucket = {
    ...registry.bucket,
    async get(key) {
      await before(`get ${key}`);
      return registry.bucket.get(key);
    },
    async list(prefix, options) {
      await before(`list ${prefix}`);
      return registry.bucket.list(prefix, options);
    },
  };
  const objects = createObjects(bucket);
  return { ...registry, bucket, objects, refs: createRefs(bucket, { ...registry, uniqueId: () => newId(registry) }) };
}

async function createStore(): Promise<TestRegistry> {
  const registry = createTestRegistry();
  await publishVersion(registry, '@acme/apis/one', '1.0.0', { document: large });
  await registry.refs.update('runs/acme/1', () => ({ value: { state: 'running' }, change }));
  return registry;
}

const withdraw = (registry: Registry) =>
  changeStatus(registry, parseCoordinate('@acme/apis/one')!.coordinate, '1.0.0', { state: 'withdrawn', reason: 'leak' }, author); // prettier-ignore
const stops = async (): Promise<never> => {
  throw new Error('stopped');
};
const publish = (registry: Registry) =>
  publishVersion(registry, '@acme/apis/two', '1.0.0', { document: { ...large, two: true } });

test.each<[string, string, (registry: TestRegistry) => Promise<unknown>]>([
  ['published before its packs are listed', 'list packs/', publish],
  ['published before its logs are read', 'list log/', publish],
  ['committed after its logs are read', 'list work/', publish],
  ['withdrawn while its objects are read', 'get objects/', withdraw],
  ['withdrawn while its packs are read', 'get packs/', withdraw],
  [
    'replaced among the records that expire',
    'get work/',
    async ({ refs, bucket }) => {
      const [key] = await bucket.list('work/runs/');
      await refs.update('runs/acme/1', () => ({ value: { state: 'ended' }, change }));
      await bucket.delete(key!);
    },
  ],
])('a check reports no damage where something is %s', async (_, at, meanwhile) => {
  const registry = await createStore();
  // Its bytes are there already, and are named by no version.
  if (at === 'list work/')
    await publish({ ...registry, refs: { ...registry.refs, update: stops } }).catch(() => undefined);
  let isDone = false;
  const checked = await fsck(
    besides(
      registry,
      (key) => key.startsWith(at),
      async () => {
        isDone = true;
        await meanwhile(registry);
      },
    ),
  );
  expect(isDone).toBe(true);
  expect([checked.damages, checked.unnamed]).toEqual([[], []]);
});

test('a check finds that the bytes of a file that was sent for a site are gone', async () => {
  const registry = createTestRegistry();
  const bundle = await registry.objects.put('stele bundle 1\n# Hello');
  const name = draftRef({ org: 'acme', slug: 'guide' }, 'index.md');
  const file: Draft['file'] = { bundle, at: 15, size: 7, digest: bundle, mediaType: 'text/markdown', page: null };
  await registry.refs.update<Draft>(name, () => ({ value: { file }, change }));
  expect((await fsck(registry)).damages).toEqual([]);
  await registry.bucket.delete(objectKey(bundle));
  expect((await fsck(registry)).damages).toMatchObject([{ key: objectKey(bundle) }]);
});

test('a repair that gives up ends where a comparison is lost', async () => {
  const registry = createTestRegistry();
  await publishVersion(registry, '@acme/apis/one', '1.0.0');
  await publishVersion(registry, '@acme/apis/one', '1.1.0', { document: { paths: { '/a': {} } } });
  const { value } = (await registry.refs.read<Resource>(resourceRef(parseCoordinate('@acme/apis/one')!.coordinate)))!;
  const { digest } = value.versions[1]!.changes!;
  await registry.bucket.delete(objectKey(digest));
  let checks = 0;
  const check = () => {
    if (++checks > 5) throw new Error('It does not end.');
    return fsck(registry);
  };
  const told: string[] = [];
  await repairStore(registry, check, {
    from: null,
    giveUp: true,
    author,
    report: ({ outcome }) => void told.push(outcome),
  });
  expect(told).toEqual(['given up']);
});
