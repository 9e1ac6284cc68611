import { expect, test, vi } from 'vitest';
import { anonymous } from '../../../src/model/access.ts';
import { parseCoordinate } from '../../../src/model/address.ts';
import { digestOf, type Digest } from '../../../src/model/digest.ts';
import { grantRead } from '../../../src/registry/read.ts';
import { readManifestOf } from '../../../src/registry/stored.ts';
import type { Version } from '../../../src/model/resource.ts';
import { parseOciPath, listTags } from '../../../src/server/oci/oci.ts';
import { createContentsIndex } from '../../../src/server/oci/oci-contents.ts';
import { createTestRegistry, publishVersion } from '../registry.ts';

const one = '@acme/apis/one';
const two = '@beta/apis/two';
const absent = (index: number): Digest => digestOf(`absent ${index}`);

async function openIndex() {
  const registry = createTestRegistry();
  const old = await publishVersion(registry, one, '1.0.0');
  const damaged = await publishVersion(registry, one, '1.1.0');
  await publishVersion(registry, two, '1.0.0');
  const grant = async (name: string) => (await grantRead(registry, anonymous, parseCoordinate(name)!.coordinate))!;
  return { registry, index: createContentsIndex(registry), grant, old: old.version, damaged: damaged.version };
}

test('a resource that was looked through is not looked through again for another unknown digest', async () => {
  const { registry, index, grant } = await openIndex();
  const granted = await grant(one);
  expect(await index.holding(granted, absent(1))).toBeNull();
  vi.spyOn(registry.objects, 'get').mockRejectedValue(new Error('The store is read again.'));
  expect(await index.holding(granted, absent(2))).toBeNull();
});

test('what is published after a search is found', async () => {
  const { registry, index, grant } = await openIndex();
  expect(await index.holding(await grant(one), absent(1))).toBeNull();
  const { version } = await publishVersion(registry, one, '2.0.0');
  const { layers } = await readManifestOf(registry, version);
  const found = await index.holding(await grant(one), layers[0]!.digest);
  expect(found?.granted.version.label).toBe('2.0.0');
});

test('a damaged version does not hide the blobs of the others', async () => {
  const { registry, index, grant, old, damaged } = await openIndex();
  await registry.objects.delete(damaged.manifest);
  const { layers } = await readManifestOf(registry, old);
  const found = await index.holding(await grant(one), layers[0]!.digest);
  expect(found?.granted.version.label).toBe('1.0.0');
});

test('only some searches of a resource wait, and other resources do not wait for them', async () => {
  const { registry, index, grant } = await openIndex();
  const [slow, other] = [await grant(one), await grant(two)];
  const { promise: opened, resolve: open } = Promise.withResolvers<void>();
  const get = registry.objects.get.bind(registry.objects);
  const manifests = new Set(slow.resource.versions.map(({ manifest }) => manifest));
  vi.spyOn(registry.objects, 'get').mockImplementation(async (digest, pack) => {
    if (manifests.has(pack!)) await opened;
    return get(digest, pack);
  });
  const searches = Array.from({ length: 30 }, (_, each) => index.holding(slow, absent(each)));
  const outcomes = Promise.allSettled(searches);
  expect(await index.holding(other, absent(1))).toBeNull();
  open();
  const refused = (await outcomes).flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  expect(refused).toHaveLength(30 - 17);
  expect(refused[0]).toMatchObject({ code: 'rate_limited', retryAfter: expect.any(Number) });
});

test('tags stand in the order of their letters, whatever their case', () => {
  const versions = ['b', 'A', 'C'].map((label) => ({ label, status: { state: 'active' } }) as Version);
  expect(listTags({ versions, latest: null }, null)).toEqual(['A', 'b', 'C']);
});

test('a path of more than 1024 characters names nothing', () => {
  const path = (length: number) => `/v2/acme/apis/pay/manifests/${'x'.repeat(length - 28)}`;
  expect(parseOciPath(path(1024))).toMatchObject({ kind: 'manifests' });
  expect(parseOciPath(path(1025))).toBeNull();
});
