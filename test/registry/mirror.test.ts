import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openRemote } from '../../src/cli/maintenance/mirror-client.ts';
import { parseCoordinate } from '../../src/model/address.ts';
import { resourceRef, type Resource, type Status } from '../../src/model/resource.ts';
import { changeResource, deleteResource } from '../../src/registry/change-resource.ts';
import { changeStatus } from '../../src/registry/change-version.ts';
import { fsck } from '../../src/registry/fsck.ts';
import { mirrorChanges, type Mirrored, type Remote } from '../../src/registry/maintenance/mirror-registry.ts';
import { checkedDependencies } from '../../src/registry/maintenance/remote-resource.ts';
import { createObjects, packKey } from '../../src/store/objects.ts';
import { shareCompiler } from '../compile/shared-compiler.ts';
import { createTestRegistry, publishVersion } from '../server/registry.ts';
import { openApi, type Api } from '../server/v1/api.ts';

const author = { actor: 'operator:test', origin: null };
const large = { filler: 'x'.repeat(2_200_000) };
let api: Api;
let remote: Remote;

beforeEach(async () => {
  api = await openApi();
  remote = openRemote(api.url, await api.makeKey({ scopes: ['read'] }), 'acme', api.registry.config.limits);
});
afterEach(() => api[Symbol.asyncDispose]());

/** The registry that mirrors. */
function createMirror() {
  const registry = createTestRegistry();
  return {
    registry,
    async follow(from: Remote = remote, wait = 0): Promise<Mirrored[]> {
      const mirrored: Mirrored[] = [];
      let hasMore = true;
      while (hasMore) {
        hasMore = await mirrorChanges(registry, from, {
          org: 'acme',
          wait,
          onMirrored: (each) => void mirrored.push(each),
        });
      }
      return mirrored;
    },
    async read(name: string): Promise<Resource | null> {
      const { org, type, slug } = parseCoordinate(name)!.coordinate;
      return (await registry.refs.readFresh<Resource>(`resources/${org}/${type}/${slug}`))?.value ?? null;
    },
  };
}

const one = '@acme/apis/one';
const { coordinate } = parseCoordinate(one)!;

function omit<T extends object, K extends keyof T>(value: T, key: K): Omit<T, K> {
  const { ...rest } = value;
  delete rest[key];
  return rest;
}

test('a mirror has the same manifests and objects under the same labels, and goes on where it stopped', async () => {
  const mirror = createMirror();
  await publishVersion(api.registry, one, '1.0.0', { document: large });
  await publishVersion(api.registry, one, '1.1.0');
  await publishVersion(api.registry, '@acme/schemas/two', '1.0.0', { visibility: 'private' });
  await publishVersion(api.registry, '@beta/apis/three', '1.0.0');
  expect(await mirror.follow()).toMatchObject([
    { resource: one, outcome: 'updated', versions: ['1.0.0', '1.1.0'] },
    { resource: '@acme/schemas/two', outcome: 'updated', versions: ['1.0.0'] },
  ]);
  const [here, there] = [await mirror.read(one), (await api.registry.refs.read<Resource>('resources/acme/apis/one'))!];
  // What changed is compared by each registry itself, and copies count in no quota of bytes.
  expect(here!.versions).toEqual(there.value.versions.map((version) => omit(omit(version, 'changes'), 'bytes')));
  expect(here!.latest).toBe('1.1.0');
  expect((await mirror.read('@acme/schemas/two'))!.visibility).toBe('private');
  expect(await mirror.read('@beta/apis/three')).toBeNull();
  expect(await fsck(mirror.registry)).toMatchObject({ versions: 3, damages: [], unnamed: [] });
  expect(await mirror.follow()).toEqual([]);
  await publishVersion(api.registry, one, '1.2.0');
  expect(await mirror.follow()).toMatchObject([{ resource: one, versions: ['1.2.0'] }]);
  // A change that a mirror does not see is none here.
  await changeResource(api.registry, coordinate, { validation: 'lenient' }, author);
  const before = await mirror.registry.refs.read(resourceRef(coordinate));
  expect(await mirror.follow()).toEqual([]);
  expect((await mirror.registry.refs.read(resourceRef(coordinate)))?.generation).toBe(before?.generation);
});

test('a mirror knows what a version uses, as far as that is well said', async () => {
  const url = 'https://registry.test';
  await using there = await openApi({ ...createTestRegistry({ url }), compiler: shareCompiler() });
  const put = async (slug: string, document: object) => {
    await there.call('POST', '/v1/schemas', { body: { name: slug, slug, visibility: 'public' } });
    const body = { document: JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...document }) };
    expect((await there.call('POST', `/v1/schemas/${slug}/document`, { body })).status).toBe(201);
  };
  await put('money', { title: 'Money' });
  await put('price', { title: 'Price', $ref: `${url}/@acme/schemas/money@^1` });
  const mirror = createMirror();
  await mirror.follow(openRemote(there.url, there.admin, 'acme', there.registry.config.limits));
  const { dependencies } = (await mirror.read('@acme/schemas/price'))!.versions[0]!;
  expect(dependencies).toMatchObject([
    { coordinate: '@acme/schemas/money', range: '^1', version: '1.0.0', how: 'url' },
  ]);
  const damaged = [null, 1, { ...dependencies![0]!, how: 'x' }, { ...dependencies![0]!, digest: 'sha256:1' }];
  expect(checkedDependencies([...damaged, { ...dependencies![0]!, more: 1 }])).toEqual(dependencies);
  expect(checkedDependencies({})).toEqual([]);
});

test('what is published while it waits is there at once', async () => {
  const mirror = createMirror();
  await mirror.follow();
  const following = mirror.follow(remote, 30);
  await publishVersion(api.registry, one, '1.0.0');
  expect(await following).toMatchObject([{ resource: one, versions: ['1.0.0'] }]);
});

test('one wrong byte of one resource holds that resource alone, until it is right again', async () => {
  const mirror = createMirror();
  const { version } = await publishVersion(api.registry, one, '1.0.0', { document: large });
  await publishVersion(api.registry, '@acme/apis/two', '1.0.0');
  const flipped: Remote = {
    ...remote,
    async blob(asked, digest) {
      const bytes = await remote.blob(asked, digest);
      return asked.slug === 'one' ? bytes.map((byte, index) => (index === 9 ? byte ^ 1 : byte)) : bytes;
    },
  };
  const held = { resource: one, outcome: 'refused' };
  const two = { resource: '@acme/apis/two', outcome: 'updated' };
  expect(await mirror.follow(flipped)).toMatchObject([held, two]);
  expect(await mirror.read(one)).toBeNull();
  expect(await mirror.follow(flipped)).toMatchObject([held]);
  // Who waits for changes is told once.
  await changeResource(api.registry, parseCoordinate('@acme/apis/two')!.coordinate, { name: 'Two' }, author);
  expect(await mirror.follow(flipped, 1)).toMatchObject([two]);
  expect(await mirror.follow()).toMatchObject([{ resource: one, outcome: 'updated', versions: ['1.0.0'] }]);
  expect((await mirror.read(one))!.versions).toMatchObject([{ manifest: version.manifest }]);
  expect(await mirror.follow()).toEqual([]);
});

test('an object that the other registry cannot send any more holds that resource alone', async () => {
  const mirror = createMirror();
  const { version } = await publishVersion(api.registry, one, '1.0.0');
  await publishVersion(api.registry, '@acme/apis/two', '1.0.0');
  await api.registry.bucket.delete(packKey(version.manifest));
  const opened = { ...api.registry, objects: createObjects(api.registry.bucket) };
  await using other = await openApi(opened);
  const from = openRemote(other.url, await other.makeKey({ scopes: ['read'] }), 'acme', other.registry.config.limits);
  expect(await mirror.follow(from)).toMatchObject([
    { resource: one, outcome: 'refused', detail: expect.stringContaining('for manifests/') },
    { resource: '@acme/apis/two', outcome: 'updated' },
  ]);
});

test('bytes of a withdrawn version that a stopped mirror left are deleted by the next call', async () => {
  const mirror = createMirror();
  await publishVersion(api.registry, one, '1.0.0');
  const { version } = await publishVersion(api.registry, one, '1.1.0');
  await mirror.follow();
  await changeStatus(api.registry, coordinate, '1.1.0', { state: 'withdrawn', reason: 'leak' }, author);
  const { bucket } = mirror.registry;
  const remove = bucket.delete;
  bucket.delete = async () => {
    throw new Error('stopped');
  };
  await expect(mirror.follow()).rejects.toThrow('stopped');
  bucket.delete = remove;
  expect(await mirror.registry.objects.get(version.manifest, version.manifest)).not.toBeNull();
  await mirror.follow();
  expect(await mirror.registry.objects.get(version.manifest, version.manifest)).toBeNull();
});

test('bytes that a withdrawal deletes while the same are mirrored are brought again', async () => {
  const mirror = createMirror();
  const { registry } = mirror;
  const document = { ...large, info: { title: 'Both', version: '1.0.0' } };
  await publishVersion(api.registry, one, '1.0.0', { document });
  // Another manifest, of the same large object.
  const another = { ...registry, compiler: { ...registry.compiler, id: 'another' } };
  await publishVersion(another, '@acme/apis/own', '1.0.0', { document });
  const { update } = registry.refs;
  let isFirst = true;
  registry.refs.update = async (name, decide, options) => {
    if (name === 'resources/acme/apis/one' && isFirst) {
      isFirst = false;
      const own = parseCoordinate('@acme/apis/own')!.coordinate;
      await changeStatus(registry, own, '1.0.0', { state: 'withdrawn', reason: 'leak' }, author);
    }
    return update(name, decide, options);
  };
  await mirror.follow();
  expect(isFirst).toBe(false);
  expect((await fsck(registry)).damages).toEqual([]);
});

test('owner, lifecycle, topics and commits are taken over', async () => {
  const mirror = createMirror();
  const commit = { author: 'Ada', subject: 'Pay by card' };
  const ownership = { owner: 'Team Pay', lifecycle: 'production' as const, topics: ['money'] };
  await publishVersion(api.registry, one, '1.0.0', { note: commit });
  await changeResource(api.registry, coordinate, ownership, author);
  await mirror.follow();
  expect(await mirror.read(one)).toMatchObject({ ...ownership, versions: [{ commit }] });
});

test('status, visibility and deletion follow; the bytes of what is withdrawn are deleted', async () => {
  const mirror = createMirror();
  await publishVersion(api.registry, one, '1.0.0');
  const { version } = await publishVersion(api.registry, one, '1.1.0');
  await mirror.follow();
  await changeStatus(api.registry, coordinate, '1.1.0', { state: 'withdrawn', reason: 'leak' }, author);
  await changeResource(api.registry, coordinate, { visibility: 'private' }, author);
  await mirror.follow();
  expect(await mirror.read(one)).toMatchObject({ latest: '1.0.0', visibility: 'private' });
  expect(await mirror.registry.objects.get(version.manifest, version.manifest)).toBeNull();
  expect((await fsck(mirror.registry)).damages).toEqual([]);
  await deleteResource(api.registry, coordinate, author);
  expect(await mirror.follow()).toMatchObject([{ resource: one, outcome: 'deleted' }]);
  expect((await mirror.read(one))!.deletedAt).not.toBeNull();
});

test('what is mirrored is only read, and what is not is never replaced', async () => {
  const mirror = createMirror();
  await publishVersion(api.registry, one, '1.0.0');
  await publishVersion(api.registry, '@acme/apis/own', '1.0.0');
  const own = await publishVersion(mirror.registry, '@acme/apis/own', '1.0.0', { document: { mine: true } });
  const mirrored = await mirror.follow();
  expect(mirrored).toMatchObject([{ outcome: 'updated' }, { resource: '@acme/apis/own', outcome: 'refused' }]);
  expect((await mirror.read('@acme/apis/own'))!.versions).toEqual(own.resource.versions);
  const conflict = { code: 'conflict', message: expect.stringContaining('mirror') };
  await expect(publishVersion(mirror.registry, one, '2.0.0')).rejects.toMatchObject(conflict);
  await expect(changeResource(mirror.registry, coordinate, { name: 'x' }, author)).rejects.toMatchObject(conflict);
});

test('bytes that do not match their digest are not stored, and are asked for again', async () => {
  const mirror = createMirror();
  await publishVersion(api.registry, one, '1.0.0');
  for (const kind of ['manifest', 'blob'] as const) {
    const lying: Remote = { ...remote, [kind]: async () => Buffer.from('{"config":{"digest":"x"},"layers":[]}') };
    const detail = expect.stringContaining('sent other bytes');
    expect(await mirror.follow(lying)).toMatchObject([{ resource: one, outcome: 'refused', detail }]);
  }
  const foreign: Remote = {
    ...remote,
    changes: async () => ({ resources: ['@beta/apis/x', '../x'], next: 'x', hasMore: false }),
  };
  expect((await createMirror().follow(foreign)).map(({ outcome }) => outcome)).toEqual(['refused', 'refused']);
  expect(await Array.fromAsync(mirror.registry.objects.listPacks())).toEqual([]);
  expect(await mirror.read(one)).toBeNull();
  expect(await mirror.follow()).toMatchObject([{ outcome: 'updated' }]);
});

test('a cursor of another key is given up', async () => {
  const mirror = createMirror();
  await publishVersion(api.registry, one, '1.0.0');
  await mirror.follow();
  await publishVersion(api.registry, one, '1.1.0');
  const other = openRemote(api.url, await api.makeKey({ scopes: ['read'] }), 'acme', api.registry.config.limits);
  expect(await mirror.follow(other)).toMatchObject([{ resource: one, versions: ['1.1.0'] }]);
});

describe('a hostile registry', () => {
  /** It lists the manifest of another organization's private version here, whose bytes it does not have. */
  async function listSecret() {
    const mirror = createMirror();
    const secret = await publishVersion(mirror.registry, '@beta/apis/secret', '1.0.0', { visibility: 'private' });
    await publishVersion(api.registry, one, '1.0.0');
    const lists = (status: Status): Remote => ({
      ...remote,
      async resource(asked) {
        const found = (await remote.resource(asked))!;
        return { ...found, versions: [{ ...found.versions[0]!, manifest: secret.version.manifest, status }] };
      },
    });
    return { mirror, lists };
  }

  test('publishes no private version of this registry by its digest', async () => {
    const { mirror, lists } = await listSecret();
    expect(await mirror.follow(lists({ state: 'active' }))).toMatchObject([{ resource: one, outcome: 'refused' }]);
    expect(await mirror.read(one)).toBeNull();
  });

  test('cannot bring back a version that it listed as withdrawn', async () => {
    const { mirror, lists } = await listSecret();
    await mirror.follow(lists({ state: 'withdrawn', reason: 'x', since: '2026-01-01T00:00:00.000Z' }));
    await changeResource(api.registry, coordinate, { name: 'x' }, author);
    expect(await mirror.follow(lists({ state: 'active' }))).toMatchObject([{ outcome: 'refused' }]);
    expect((await mirror.read(one))!.versions).toMatchObject([{ status: { state: 'withdrawn' } }]);
    expect((await fsck(mirror.registry)).damages).toEqual([]);
  });

  test('whose description of a resource is wrong has that resource refused', async () => {
    const mirror = createMirror();
    await publishVersion(api.registry, one, '1.0.0');
    const wrong = { ...(await remote.resource(coordinate))!, description: 5 as never };
    const mirrored = await mirror.follow({ ...remote, resource: async () => wrong });
    expect(mirrored).toMatchObject([
      { outcome: 'refused', detail: expect.stringContaining('`description` must be text') },
    ]);
    expect(await mirror.read(one)).toBeNull();
  });

  test('that sends more bytes than the limits allow is not read to the end', async () => {
    await publishVersion(api.registry, one, '1.0.0');
    const small = openRemote(api.url, await api.makeKey({ scopes: ['read'] }), 'acme', { bundleBytes: 50 });
    await expect(small.resource(coordinate)).rejects.toMatchObject({ code: 'malformed' });
    const mirror = createMirror();
    const mirrored = await mirror.follow({ ...remote, blob: small.blob });
    expect(mirrored).toMatchObject([{ outcome: 'refused', detail: expect.stringContaining('more than 200 bytes') }]);
    expect(await mirror.read(one)).toBeNull();
  });
});
