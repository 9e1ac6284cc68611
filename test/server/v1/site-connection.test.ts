import { expect, test } from 'vitest';
import type { UserConfig } from '../../../src/config.ts';
import { createTestRegistry } from '../registry.ts';
import { openApi, unlimited } from './api.ts';
import { createTestRepository } from './repository.ts';

const url = 'https://github.com/acme/docs';
const at = '/v1/sites/guide';

async function open(user: UserConfig = {}) {
  const repository = createTestRepository(url);
  const registry = { ...createTestRegistry({ ...unlimited, ...user }), source: repository.source };
  const api = await openApi(registry);
  await api.call('POST', '/v1/sites', { body: { title: 'Guide', slug: 'guide' } });
  const sync = () => api.call('POST', `${at}/sync?wait=30`);
  return { api, repository, sync };
}

test('a site is connected to a folder, synced, changed and disconnected, and stays published', async () => {
  const { api, repository, sync } = await open();
  await using _ = api;
  expect((await api.call('GET', `${at}/connection`)).status).toBe(404);
  expect((await sync()).json['detail']).toBe('@acme/sites/guide has no connection. Create one with PUT first.');

  const connected = await api.call('PUT', `${at}/connection`, { body: { repository: url, folder: './docs/' } });
  expect([connected.status, connected.json]).toEqual([
    200,
    {
      repository: url,
      branch: null,
      folder: 'docs',
      credential: null,
      settings: 'site',
      state: 'behind',
      detail: null,
      since: null,
      webhook: null,
      commit: null,
      syncedAt: null,
      outcome: null,
      deployment: null,
    },
  ]);
  expect((await api.call('PUT', `${at}/files/index.md`, { raw: '# Sent' })).status).toBe(409);
  expect((await api.call('POST', `${at}/publish`, { body: {} })).status).toBe(409);

  const commit = repository.commit({ 'docs/index.md': '# Home', 'other/x.md': 'no' });
  const run = await sync();
  expect(run.json).toMatchObject({
    state: 'succeeded',
    to: commit,
    documents: [{ path: 'docs', outcome: 'published', detail: '@acme/sites/guide: deployment 1.' }],
  });
  expect(run.headers.get('location')).toBe(`http://registry.test${at}/syncs/${String(run.json['id'])}`);
  expect((await api.call('GET', `${at}/syncs/${String(run.json['id'])}`)).json).toEqual(run.json);
  expect((await api.call('GET', `${at}/connection`)).json).toMatchObject({
    state: 'synced',
    commit,
    outcome: 'published',
    deployment: '1',
  });

  // Its settings are those of the site.
  await api.call('PATCH', at, { body: { title: 'The guide' } });
  expect((await sync()).json['documents']).toMatchObject([{ detail: '@acme/sites/guide: deployment 2.' }]);

  const before = (await api.call('GET', `${at}/connection`)).headers.get('etag');
  repository.commit({ 'docs/index.md': '---\ntitle: [\n---\n' });
  expect((await sync()).json['documents']).toMatchObject([{ outcome: 'rejected' }]);
  const failed = await api.call('GET', `${at}/connection`);
  expect(failed.json).toMatchObject({ state: 'failed', outcome: 'rejected', deployment: '2' });
  expect(failed.json['detail']).toContain('The site has 1 error');
  expect(failed.headers.get('etag'), 'the site is as it was, and its connection is not').not.toBe(before);

  repository.commit({ 'docs/index.md': '# Home', 'docs/more.md': '# More' });
  await sync();
  expect((await api.call('GET', `${at}/connection`)).json).toMatchObject({ state: 'synced', detail: null });
  expect((await api.call('DELETE', `${at}/connection`)).status).toBe(204);
  expect((await api.call('DELETE', `${at}/connection`)).status).toBe(404);
  expect((await api.call('GET', at)).json).toMatchObject({ connection: null, current: '3' });
  const { json } = await api.call('GET', `${at}/syncs`);
  expect((json['items'] as object[]).length).toBe(4);
  expect((await api.call('PUT', `${at}/files/index.md`, { raw: '# Sent' })).status).toBe(200);
  expect((await api.call('POST', `${at}/publish`, { body: {} })).json).toMatchObject({ deployment: { id: '4' } });
});

test('a site is not connected to what the registry does not allow', async () => {
  const { api } = await open();
  await using _ = api;
  const connect = (body: object) => api.call('PUT', `${at}/connection`, { body });
  for (const [body, status] of [
    [{ repository: 'https://evil.example/x' }, 403],
    [{ repository: '/etc' }, 403],
    [{ repository: url, folder: '../out' }, 400],
    [{ repository: url, folder: 'a//b' }, 400],
    [{ repository: url, branch: '--upload-pack=x' }, 400],
    [{ repository: url, credential: 'none' }, 400],
    [{ repository: url, path: 'docs' }, 400],
  ] as const)
    expect([body, (await connect(body)).status]).toEqual([body, status]);
  expect((await api.call('GET', at)).json['connection']).toBeNull();
});
