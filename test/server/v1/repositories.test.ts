import { describe, expect, test } from 'vitest';
import { repositoryId, repositoryRef, type Repository } from '../../../src/model/connection.ts';
import { ownerId, ownerRef, type Owner } from '../../../src/model/owner.ts';
import { followConfigured } from '../../../src/sync/reconcile.ts';
import { createWorld } from '../../registry/world.ts';
import { createTestRegistry } from '../registry.ts';
import { documentOf, openApi, unlimited } from './api.ts';
import { createTestRepository } from './repository.ts';

// It finds documents.
const { compiler } = createWorld();
const change = { actor: 'operator:test', origin: null, action: 'test' };

function repositoryAt(url: string, more: Partial<Repository> = {}): Repository {
  const how = { branch: null, credential: null, discover: '', visibility: 'private', validation: 'strict' } as const;
  const now = { state: 'following', detail: null, commit: 'c'.repeat(40), syncedAt: null } as const;
  return { org: 'acme', url, ...how, ...now, documents: {}, tags: {}, ...more };
}

/** An organization that follows two repositories and an owner; another one follows a third. */
async function open() {
  const owners = { organizations: { acme: { repositories: [{ github: 'acme/*' }, { gitlab: 'acme/**' }] } } };
  const registry = createTestRegistry({ ...unlimited, ...owners });
  const id = ownerId('github', 'acme/*');
  const gone = 'The repository was archived on its host. Published versions stay.';
  const all = [
    repositoryAt('https://github.com/acme/two.git', { owner: id, state: 'detached', detail: gone, gone }),
    repositoryAt('https://github.com/acme/one.git', { owner: id }),
    repositoryAt('https://github.com/other/one.git', { org: 'other' }),
  ];
  for (const value of all)
    await registry.refs.update(repositoryRef(value.org, repositoryId(value.url, null)), () => ({ value, change }));
  const owner: Owner = {
    org: 'acme',
    host: 'github',
    pattern: 'acme/*',
    state: 'following',
    detail: null,
    lookedAt: '2026-05-12T09:30:00.000Z',
    listedAt: '2026-05-12T09:30:00.000Z',
    isComplete: true,
    followed: 1,
    skipped: { 'acme/two': 'archived' },
  };
  await registry.refs.update(ownerRef('acme', id), () => ({ value: owner, change }));
  return { api: await openApi(registry), id, gone };
}

test('the followed repositories of the organization, page by page, by state and by name', async () => {
  const { api, id, gone } = await open();
  await using _ = api;
  const { json } = await api.call('GET', '/v1/repositories?limit=1');
  const documents = { documents: { published: 0, waiting: 0, rejected: 0 }, rejected: [], contracts: 0 };
  const how = { path: null, visibility: 'private', validation: 'strict', versions: 'branch', credential: null };
  const rest = { ...how, branch: null, owner: id, since: null, commit: 'c'.repeat(40), syncedAt: null, ...documents };
  const one = 'https://github.com/acme/one.git';
  const two = 'https://github.com/acme/two.git';
  const first = { id: repositoryId(one, null), repository: one, state: 'synced', detail: null, ...rest };
  const second = { id: repositoryId(two, null), repository: two, state: 'detached', detail: gone, ...rest };
  expect(json['items']).toEqual([first]);
  const next = await api.call('GET', `/v1/repositories?limit=1&cursor=${String(json['next'])}`);
  expect(next.json).toEqual({ items: [second], next: null });
  expect((await api.call('GET', '/v1/repositories?state=detached')).json['items']).toEqual([second]);
  expect((await api.call('GET', '/v1/repositories?q=ACME/one')).json['items']).toEqual([first]);
  expect((await api.call('GET', '/v1/repositories?state=fine')).status).toBe(400);
  expect((await api.call('GET', '/v1/repositories?cursor=x')).status).toBe(400);
});

describe('unfollowing', () => {
  const url = 'https://github.com/acme/contracts.git';
  const path = `/v1/repositories/${repositoryId(url, null)}`;

  async function follow() {
    const repository = createTestRepository(url);
    repository.commit({ 'pay.json': documentOf('1.0.0'), 'refunds.json': documentOf('1.0.0', 'Refunds') });
    const registry = { ...createTestRegistry(unlimited), source: repository.source, compiler };
    const api = await openApi(registry);
    const followed = await api.call('POST', '/v1/repositories', { body: { repository: url } });
    expect(followed.status).toBe(201);
    await api.call('POST', `${path}/sync?wait=30`);
    const { json } = await api.call('GET', '/v1/apis');
    const slugs = (json['items'] as { slug: string }[]).map(({ slug }) => slug);
    return { api, registry, repository, slugs };
  }

  test('stops the syncs, keeps what is published, and following it again goes on', async () => {
    const { api, repository, slugs } = await follow();
    await using _ = api;
    expect(slugs).toHaveLength(2);
    expect((await api.call('DELETE', path)).status).toBe(204);
    for (const [method, target] of [
      ['GET', path],
      ['DELETE', path],
      ['POST', `${path}/sync`],
    ] as const)
      expect((await api.call(method, target)).status).toBe(404);
    expect((await api.call('GET', '/v1/repositories')).json['items']).toEqual([]);
    repository.commit({ 'pay.json': documentOf('2.0.0'), 'refunds.json': documentOf('2.0.0', 'Refunds') });
    await api.call('POST', `/v1/apis/${slugs[0]}/sync?wait=30`);
    expect((await api.call('GET', `/v1/apis/${slugs[0]}`)).json['latest']).toBe('1.0.0');
    expect((await api.call('GET', `/v1/apis/${slugs[0]}/connection`)).json).toMatchObject({
      state: 'detached',
      detail: 'The repository is not followed any more. Published versions stay.',
    });

    expect((await api.call('POST', '/v1/repositories', { body: { repository: url } })).status).toBe(201);
    await api.call('POST', `${path}/sync?wait=30`);
    for (const slug of slugs) expect((await api.call('GET', `/v1/apis/${slug}`)).json['latest']).toBe('2.0.0');
    expect((await api.call('GET', `/v1/apis/${slugs[0]}/connection`)).json['state']).toBe('synced');
  });

  test('a document that is connected afterwards is synced alone', async () => {
    const { api, repository, slugs } = await follow();
    await using _ = api;
    const { json } = await api.call('GET', `/v1/apis/${slugs[0]}/connection`);
    await api.call('DELETE', path);
    repository.commit({ 'pay.json': documentOf('2.0.0'), 'refunds.json': documentOf('2.0.0', 'Refunds') });
    const body = { repository: url, path: json['path'] };
    expect((await api.call('PUT', `/v1/apis/${slugs[0]}/connection`, { body })).status).toBe(200);
    await api.call('POST', `/v1/apis/${slugs[0]}/sync?wait=30`);
    expect((await api.call('GET', `/v1/apis/${slugs[0]}`)).json['latest']).toBe('2.0.0');
    expect((await api.call('GET', `/v1/apis/${slugs[1]}`)).json['latest']).toBe('1.0.0');
    expect((await api.call('GET', `/v1/apis/${slugs[1]}/connection`)).json['state']).toBe('detached');
  });

  test('what the configuration follows is removed there', async () => {
    const { api } = await open();
    await using _ = api;
    const owned = await api.call('DELETE', `/v1/repositories/${repositoryId('https://github.com/acme/one.git', null)}`);
    expect([owned.status, owned.json['detail']]).toEqual([
      409,
      "The configuration follows this repository's owner. Exclude the repository there.",
    ]);
    const organizations = { acme: { repositories: [{ url }] } };
    const registry = createTestRegistry({ ...unlimited, organizations });
    await followConfigured(registry);
    await using configured = await openApi(registry);
    const listed = await configured.call('DELETE', path);
    expect([listed.status, listed.json['detail']]).toEqual([
      409,
      'The configuration follows this repository. Change it there.',
    ]);
  });

  test('a repository that the configuration lists afterwards is followed again', async () => {
    const { api, registry } = await follow();
    await using _ = api;
    await api.call('DELETE', path);
    await followConfigured({
      ...registry,
      config: createTestRegistry({ organizations: { acme: { repositories: [{ url }] } } }).config,
    });
    expect((await api.call('GET', path)).json).toMatchObject({ repository: url, state: 'behind' });
  });
});

test('a followed repository publishes its release tags instead of the branch, if asked to', async () => {
  const repository = createTestRepository('https://github.com/acme/contracts.git');
  repository.tag('v1.5.0', repository.commit({ 'pay.json': documentOf('1.5.0') }));
  repository.commit({ 'pay.json': documentOf('1.6.0-dev') });
  await using api = await openApi({ ...createTestRegistry(unlimited), source: repository.source, compiler });
  const body = { repository: repository.url, versions: 'tags' };
  const { json } = await api.call('POST', '/v1/repositories', { body });
  await api.call('POST', `/v1/repositories/${String(json['id'])}/sync?wait=30`);
  const { json: all } = await api.call('GET', '/v1/apis');
  expect(all['items']).toMatchObject([{ latest: '1.5.0' }]);
});

test('the owners of the organization: what was found, and one that was not asked yet', async () => {
  const { api, id } = await open();
  await using _ = api;
  const { json } = await api.call('GET', '/v1/owners');
  const at = '2026-05-12T09:30:00.000Z';
  const same = { detail: null, isComplete: true };
  const skipped = [{ name: 'acme/two', reason: 'archived' }];
  const known = { lookedAt: at, listedAt: at, followed: 1, skipped };
  const none = { lookedAt: null, listedAt: null, followed: 0, skipped: [] };
  expect(json['items']).toEqual([
    { id, host: 'github', pattern: 'acme/*', state: 'following', ...same, ...known },
    { id: ownerId('gitlab', 'acme/**'), host: 'gitlab', pattern: 'acme/**', state: 'new', ...same, ...none },
  ]);
});

describe('a password in a URL', () => {
  const secret = 'hunter2-secret';
  const dirty = `https://me:${secret}@github.com/acme/one.git`;

  test('is refused before anything is written', async () => {
    const registry = createTestRegistry(unlimited);
    await using api = await openApi(registry);
    await api.call('POST', '/v1/apis', { body: { slug: 'pay', name: 'Pay' } });
    await api.call('POST', '/v1/sites', { body: { slug: 'docs', title: 'Docs' } });
    const keys = async () => registry.bucket.list('', { limit: 10_000 });
    const before = await keys();
    for (const [method, path, body] of [
      ['POST', '/v1/repositories', { repository: dirty }],
      ['PUT', '/v1/apis/pay/connection', { repository: dirty, path: 'a.yaml' }],
      ['PUT', '/v1/sites/docs/connection', { repository: dirty, folder: 'docs' }],
    ] as const) {
      const { status, text } = await api.call(method, path, { body });
      expect([status, text], path).toEqual([400, expect.stringContaining('must not contain a user name or password')]);
      expect(text).not.toContain(secret);
    }
    expect((await keys()).filter((key) => !before.includes(key) && !key.startsWith('work/'))).toEqual([]);
    for (const key of await keys())
      expect(Buffer.from((await registry.bucket.get(key))!).includes(secret), key).toBe(false);
  });

  test('in an old store is not shown', async () => {
    const registry = createTestRegistry(unlimited);
    const value = repositoryAt(dirty, { state: 'failed', detail: `${dirty} does not answer.` });
    const id = repositoryId(dirty, null);
    await registry.refs.update(repositoryRef('acme', id), () => ({ value, change }));
    await using api = await openApi(registry);
    for (const path of ['/v1/repositories', `/v1/repositories/${id}`, `/v1/repositories/${id}/syncs`, '/v1/audit']) {
      const { status, text } = await api.call('GET', path);
      expect(status, path).toBe(200);
      expect(text, path).not.toContain(secret);
    }
    expect((await api.call('GET', `/v1/repositories/${id}`)).json).toMatchObject({
      repository: 'https://github.com/acme/one.git',
      detail: 'https://github.com/acme/one.git does not answer.',
    });
  });
});
