import { expect, test } from 'vitest';
import { repositoryId, repositoryRef, type Repository } from '../../../src/model/connection.ts';
import { ownerId, ownerRef, type Owner } from '../../../src/model/owner.ts';
import { createTestRegistry } from '../registry.ts';
import { openApi, unlimited } from './api.ts';

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
  const documents = { published: 0, rejected: 0 };
  const rest = { branch: null, owner: id, since: null, commit: 'c'.repeat(40), syncedAt: null, documents };
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
