import { expect, test } from 'vitest';
import type { UserConfig } from '../../../src/config.ts';
import { createTestRegistry } from '../registry.ts';
import { documentOf, openApi, unlimited, type Api } from './api.ts';
import { createTestRepository } from './repository.ts';

const url = 'https://github.com/acme/contracts';

async function open(user: UserConfig = {}) {
  const repository = createTestRepository(url);
  const registry = { ...createTestRegistry({ ...unlimited, ...user }), source: repository.source };
  const api = await openApi(registry);
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
  return { api, repository };
}

const connect = (api: Api, body: object, slug = 'pay') => api.call('PUT', `/v1/apis/${slug}/connection`, { body });

test('connect, sync, see what became of it, disconnect', async () => {
  const { api, repository } = await open();
  await using _ = api;
  expect((await api.call('GET', '/v1/apis/pay/connection')).status).toBe(404);
  const none = await api.call('POST', '/v1/apis/pay/sync');
  expect([none.status, none.json['detail']]).toEqual([
    409,
    '@acme/apis/pay has no connection. Create one with PUT first.',
  ]);

  const connected = await connect(api, { repository: url, path: 'pay.json' });
  expect(connected.status).toBe(200);
  expect(connected.json).toEqual({
    repository: url,
    branch: null,
    path: 'pay.json',
    tags: null,
    onConflict: 'revise',
    credential: null,
    state: 'behind',
    detail: null,
    since: null,
    webhook: null,
    commit: null,
    syncedAt: null,
    document: null,
  });

  const commit = repository.commit({ 'pay.json': documentOf('1.0.0') });
  const run = await api.call('POST', '/v1/apis/pay/sync?wait=30');
  expect(run.status).toBe(200);
  const document = { path: 'pay.json', outcome: 'published', version: '1.0.0', detail: null, report: null };
  expect(run.json).toMatchObject({
    state: 'succeeded',
    trigger: 'manual',
    from: null,
    to: commit,
    documents: [document],
  });
  expect(run.headers.get('location')).toBe(`http://registry.test/v1/apis/pay/syncs/${String(run.json['id'])}`);
  expect((await api.call('GET', `/v1/apis/pay/syncs/${String(run.json['id'])}`)).json).toEqual(run.json);
  expect((await api.call('GET', '/v1/apis/pay/connection')).json).toMatchObject({
    state: 'synced',
    commit,
    document: { outcome: 'published', version: '1.0.0' },
  });
  expect((await api.call('GET', '/v1/apis/pay')).json).toMatchObject({
    latest: '1.0.0',
    connection: { repository: url, branch: null, path: 'pay.json' },
  });

  repository.commit({ 'pay.json': JSON.stringify({ refuse: 'No good.' }) });
  const refused = await api.call('POST', '/v1/apis/pay/sync?wait=30', { body: {} });
  expect(refused.json['documents']).toMatchObject([
    { outcome: 'rejected', version: null, report: { problems: [{ message: 'No good.' }] } },
  ]);
  const idle = await api.call('POST', '/v1/apis/pay/sync?wait=30');
  expect(idle.json).toMatchObject({ state: 'succeeded', documents: [] });
  const later = await api.call('POST', '/v1/apis/pay/sync');
  expect([202, 'queued']).toEqual([later.status, later.json['state']]);
  const runs = await api.call('GET', '/v1/apis/pay/syncs?limit=2');
  expect(runs.json['items']).toMatchObject([{ id: later.json['id'] }, { id: idle.json['id'] }]);
  const rest = await api.call('GET', `/v1/apis/pay/syncs?cursor=${String(runs.json['next'])}`);
  expect(rest.json).toMatchObject({ items: [{ id: refused.json['id'] }, { id: run.json['id'] }], next: null });

  expect((await api.call('DELETE', '/v1/apis/pay/connection')).status).toBe(204);
  expect((await api.call('DELETE', '/v1/apis/pay/connection')).status).toBe(404);
  expect((await api.call('GET', '/v1/apis/pay')).json).toMatchObject({ latest: '1.0.0', connection: null });
});

test('before a branch takes the labels of release tags, the answer says so and offers the tags', async () => {
  const { api, repository } = await open();
  await using _ = api;
  const release = repository.commit({ 'pay.json': documentOf('1.5.0') });
  for (const tag of ['v1.4.0', 'v1.5.0', 'nightly']) repository.tag(tag, release);
  const { json } = await connect(api, { repository: url, path: 'pay.json' });
  expect(json['releases']).toEqual({
    tags: 'v*',
    count: 2,
    detail:
      'The repository has 2 release tags that match "v*". The branch is published first and may take their labels. To publish the tags instead, connect again with "tags": "v*" before the first sync.',
  });
  expect((await api.call('GET', '/v1/apis/pay/connection')).json).not.toHaveProperty('releases');
  const tagged = await connect(api, { repository: url, path: 'pay.json', tags: 'v*' });
  expect(tagged.json).not.toHaveProperty('releases');
  await api.call('POST', '/v1/apis/pay/sync?wait=30');
  expect((await api.call('GET', '/v1/apis/pay')).json['latest']).toBe('1.5.0');
  const later = await connect(api, { repository: url, path: 'pay.json' });
  expect(later.json).not.toHaveProperty('releases');
});

test('a run that failed says why', async () => {
  const { api, repository } = await open();
  await using _ = api;
  repository.lose();
  await connect(api, { repository: url, path: 'pay.json' });
  const run = await api.call('POST', '/v1/apis/pay/sync?wait=30');
  expect(run.json).toMatchObject({ state: 'failed', detail: `${url} does not answer.`, documents: [] });
  expect((await api.call('GET', '/v1/apis/pay/connection')).json).toMatchObject({ state: 'failed' });
});

test('a file that another resource was published from is published to the one that is connected now', async () => {
  const { api, repository } = await open();
  await using _ = api;
  repository.commit({ 'pay.json': documentOf('1.0.0') });
  await connect(api, { repository: url, path: 'pay.json' });
  await api.call('POST', '/v1/apis/pay/sync?wait=30');
  await api.call('DELETE', '/v1/apis/pay/connection');
  await api.call('POST', '/v1/apis', { body: { name: 'New', slug: 'new' } });
  await connect(api, { repository: url, path: 'pay.json' }, 'new');
  const run = await api.call('POST', '/v1/apis/new/sync?wait=30');
  expect(run.json['documents']).toMatchObject([{ outcome: 'published', version: '1.0.0' }]);
});

test('runs of others are not shown, and of shared runs only the own document', async () => {
  const { api, repository } = await open();
  await using _ = api;
  repository.commit({ 'pay.json': documentOf('1.0.0'), 'other.json': documentOf('2.0.0') });
  await connect(api, { repository: url, path: 'pay.json' });
  await api.call('POST', '/v1/apis', { body: { name: 'Other', slug: 'other' } });
  await connect(api, { repository: url, path: 'other.json' }, 'other');
  await api.call('POST', '/v1/apis', { body: { name: 'Third', slug: 'third' } });
  const run = await api.call('POST', '/v1/apis/pay/sync?wait=30');
  expect(run.json['documents']).toMatchObject([{ path: 'pay.json' }]);
  const id = String(run.json['id']);
  expect((await api.call('GET', `/v1/apis/other/syncs/${id}`)).json['documents']).toMatchObject([
    { path: 'other.json' },
  ]);
  expect((await api.call('GET', `/v1/apis/third/syncs/${id}`)).status).toBe(404);
  expect((await api.call('GET', '/v1/apis/third/syncs')).json['items']).toEqual([]);
});

const refusals: [string, object, number, string][] = [
  ['a folder of this machine', { repository: '/etc' }, 403, 'allowLocalRepositories'],
  ['a file URL', { repository: 'file:///etc' }, 403, 'allowLocalRepositories'],
  ['a relative folder', { repository: '../x' }, 400, 'must be an https or ssh URL'],
  ['another host', { repository: 'https://git.evil.example/x' }, 403, 'sync.hosts'],
  ['this machine', { repository: 'https://127.0.0.1/x' }, 403, 'sync.hosts'],
  ['plain http', { repository: 'http://github.com/x' }, 403, 'https'],
  ['the git protocol', { repository: 'git://github.com/x' }, 403, 'https or ssh'],
  ['a transport of git', { repository: 'ext::sh -c id' }, 400, 'spaces'],
  ['a password in the URL', { repository: 'https://u:p@github.com/x' }, 400, 'password'],
  ['a path out of the tree', { path: '../secrets.yaml' }, 400, 'is not a valid path'],
  ['an absolute path', { path: '/etc/passwd' }, 400, 'is not a valid path'],
  ['a branch that is an option', { branch: '--upload-pack=x' }, 400, 'branch'],
  ['a credential that is not there', { credential: 'nobodys' }, 400, 'has no credential'],
  ["another organization's credential", { credential: 'theirs' }, 400, 'no credential'],
  ["a credential for others' connections", { credential: 'others' }, 400, 'no credential'],
  ['a credential that names no organization', { credential: 'unnamed' }, 400, 'no credential'],
  [
    'an own credential for another host',
    { repository: 'https://gitlab.com/x', credential: 'ours' },
    400,
    'no credential',
  ],
  ['a name of Object.prototype for a credential', { credential: 'constructor' }, 400, 'no credential'],
  ['tags that are no text', { tags: ['v*'] }, 400, '/tags'],
];

test.for(refusals)('a connection to %s is refused', async ([, given, status, detail]) => {
  const { api } = await open({
    credentials: {
      ours: { env: 'OURS' },
      theirs: { env: 'THEIRS' },
      others: { env: 'OTHERS', organizations: ['other'] },
      shared: { env: 'SHARED', organizations: ['other', 'acme'] },
      everybodys: { env: 'SHARED', organizations: '*' },
      unnamed: { env: 'UNNAMED' },
    },
    organizations: {
      acme: { repositories: [{ url: 'https://github.com/acme/other', credential: 'ours' }] },
      other: { repositories: [{ url: 'https://github.com/other/x', credential: 'theirs' }] },
    },
  });
  await using _ = api;
  const answer = await connect(api, { repository: url, path: 'pay.json', ...given });
  expect(answer.json['detail']).toContain(detail);
  expect(answer.status).toBe(status);
  expect((await api.call('GET', '/v1/apis/pay')).json['connection']).toBeNull();
  const own = await connect(api, { repository: url, path: 'pay.json', credential: 'ours' });
  expect(own.json['credential']).toBe('ours');
  for (const credential of ['shared', 'everybodys']) {
    const shared = await connect(api, { repository: url, path: 'pay.json', credential });
    expect(shared.json['credential']).toBe(credential);
  }
});

test('a local repository, where they are allowed, is shown by its name alone', async () => {
  const { api } = await open({ sync: { allowLocalRepositories: true } });
  await using _ = api;
  const { json } = await connect(api, { repository: '/srv/git/contracts.git', path: 'pay.json' });
  expect(json['repository']).toBe('contracts');
});
