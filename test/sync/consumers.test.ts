import { expect, test } from 'vitest';
import { anonymous, type Principal } from '../../src/model/access.ts';
import { digestOf, hexOf } from '../../src/model/digest.ts';
import { formatLock, type LockedContract } from '../../src/model/lock.ts';
import { repositoryRef, type Repository } from '../../src/model/connection.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { findResource } from '../../src/registry/lives.ts';
import { reportConsumer, listUsers, userName } from '../../src/registry/graph/dependants.ts';
import { publish } from '../../src/registry/publish.ts';
import { createUpload } from '../../src/source/upload.ts';
import { follow, unfollow } from '../../src/sync/follow.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';
import { createWorld } from '../registry/world.ts';

/** Repositories that publish nothing, and are followed for what their locks say. */

const url = 'https://git.test/shop/web.git';
const author = { actor: 'operator:test', origin: null };
const operator: Principal = { kind: 'operator', id: 'test' };
const member = (org: string, resources: string[] | null = null): Principal => ({
  kind: 'key',
  id: 'k',
  org,
  scopes: ['read'],
  resources,
});
const coordinate = { org: 'acme', type: 'schemas', slug: 'money' } as const;
const bytes = (version: string) => `{"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "${version}"}`;

async function open() {
  const world = createWorld({ organizations: { acme: {}, shop: {} } });
  const { registry, source } = world;
  for (const version of ['1.0.0', '1.1.0', '2.0.0'])
    await publish(registry, {
      coordinate,
      snapshot: createUpload('money.json', Buffer.from(bytes(version))),
      entry: 'money.json',
      version,
      onConflict: 'revise',
      latest: true,
      dryRun: false,
      create: { visibility: 'public' },
      author,
    });
  const target = async () => (await findResource(registry, coordinate))!;
  const { versions } = await target();
  const locked = (path: string, version: string, more: Partial<LockedContract> = {}): LockedContract => ({
    path,
    contract: '@acme/schemas/money',
    range: '^1',
    version,
    registry: 'https://r.test',
    sha256: hexOf(digestOf(bytes(version))),
    digest: versions.find(({ label }) => label === version)!.manifest,
    ...more,
  });
  const settings = { url, branch: null, credential: null, visibility: 'public', validation: 'lenient' } as const;
  const id = await follow(registry, 'shop', { ...settings, discover: '' });
  const queue = createSyncQueue(registry, createPulls);
  return {
    ...world,
    id,
    locked,
    versions,
    async push(files: Record<string, string>) {
      source.push(url, files);
      return (await queue.request('shop', id, 'manual')).done;
    },
    sync: async () => (await queue.request('shop', id, 'manual')).done,
    async users(principal = operator) {
      const users = await listUsers(registry, principal, await target());
      return users.map((each) => [userName(each), each.uses.version, each.behind].join(' '));
    },
  };
}

test('a followed repository without documents is a consumer of what its locks name, as long as they do', async () => {
  const { push, locked, users } = await open();
  await push({
    'web/contracts.lock': formatLock([locked('money.json', '1.0.0'), locked('copy.json', '1.0.0')]),
    'web/money.json': bytes('1.0.0'),
    'contracts.lock': formatLock([locked('m.json', '1.1.0')]),
  });
  expect(await users()).toEqual([`${url} 1.1.0 1`, `${url} 1.0.0 2`]);
  await push({ 'contracts.lock': formatLock([locked('m.json', '2.0.0')]) });
  expect(await users()).toEqual([`${url} 2.0.0 0`]);
  await push({ 'README.md': 'x' });
  expect(await users()).toEqual([]);
});

test('a contract of another registry with the same name is no use of this one', async () => {
  const { push, locked, users } = await open();
  await push({ 'contracts.lock': formatLock([locked('m.json', '1.0.0', { digest: `sha256:${'b'.repeat(64)}` })]) });
  expect(await users()).toEqual([]);
});

test('with an invalid lock it stays the consumer that it was, and the run says what is wrong', async () => {
  const { push, locked, users } = await open();
  await push({ 'contracts.lock': formatLock([locked('m.json', '1.0.0')]) });
  const run = await push({ 'contracts.lock': '<<<<<<< HEAD\n' });
  expect(run.documents).toMatchObject([
    {
      path: 'contracts.lock',
      outcome: 'rejected',
      detail: expect.stringContaining('contracts.lock:1: There is a merge conflict'),
    },
  ]);
  expect(await users()).toEqual([`${url} 1.0.0 2`]);
});

test('a repository is a consumer no longer once it is gone, or nobody follows it', async () => {
  const { registry, id, push, locked, users, sync, source } = await open();
  await push({ 'contracts.lock': formatLock([locked('m.json', '1.0.0')]) });
  expect(await users()).toHaveLength(1);
  source.deleteBranch(url);
  await sync();
  expect((await registry.refs.read<Repository>(repositoryRef('shop', id)))!.value.state).toBe('detached');
  expect(await users()).toEqual([]);

  const other = await open();
  await other.push({ 'contracts.lock': formatLock([other.locked('m.json', '1.0.0')]) });
  await unfollow(other.registry, 'shop', other.id, author);
  expect(await other.users()).toEqual([]);
});

test('consumers are named to those who may read their whole organization, and to nobody else', async () => {
  const { registry, push, locked, users, versions } = await open();
  await push({ 'contracts.lock': formatLock([locked('m.json', '1.0.0')]) });
  const pinned = { contract: '@acme/schemas/money', range: '^1', version: '1.1.0', digest: versions[1]!.manifest };
  await reportConsumer(registry, 'shop', 'billing', [pinned], author);
  const both = [`${url} 1.0.0 2`, 'billing 1.1.0 1'];
  expect(await users(member('shop'))).toEqual(both);
  expect(await users(operator)).toEqual(both);
  for (const stranger of [anonymous, member('acme'), member('shop', ['apis/pay'])])
    expect(await users(stranger)).toEqual([]);
});

test('a repository is not told again beside a document of its that takes the file', async () => {
  const { push, locked, users } = await open();
  await push({
    'shop.yaml': 'openapi: 3.1.0\ninfo: {title: Shop, version: "1.0.0"}\ninclude: [money.json]',
    'money.json': bytes('1.0.0'),
    'contracts.lock': formatLock([locked('money.json', '1.0.0')]),
  });
  expect(await users()).toEqual(['@shop/apis/shop 1.0.0 2']);
});
