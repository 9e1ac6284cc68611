import { findSite } from '../../../src/registry/lives.ts';
import { expect, test } from 'vitest';
import { connectSite } from '../../../src/sites/registry/site-record.ts';
import { deploymentRecord, siteRecord } from '../../../src/sites/v1/site-routes.ts';
import { createTestRegistry } from '../registry.ts';
import { openApi } from './api.ts';
import { author, handbook } from '../../sites/server/site-world.ts';

test('a site does not tell where on the server its repository is', async () => {
  const registry = createTestRegistry();
  const connection = { repository: '/srv/git/apis.git', branch: null, folder: 'docs' };
  const settings = { title: 'H', description: '', theme: {}, navigation: null, redirects: {}, versions: [] };
  await connectSite(registry, handbook, { ...settings, visibility: 'public', blockOn: 'error', connection }, author);
  const site = (await findSite(registry, handbook))!;
  const origin = { repository: '/srv/git/apis.git', commit: 'c1', folder: 'docs' };
  const deployment = { label: '1', manifest: 'sha256:0', publishedAt: '', by: 'sync:acme', origin } as const;
  const shown = [siteRecord('', site), deploymentRecord(site.value, deployment)];
  expect(shown).toMatchObject([{ connection: { repository: 'apis' } }, { origin: { repository: 'apis' } }]);
  expect(JSON.stringify(shown)).not.toContain('/srv');
});

test.each([
  ['with a length of 0', ''],
  ['without any length', undefined],
])('an empty file of a site is saved as one, %s', async (_name, raw) => {
  await using api = await openApi();
  await api.call('POST', '/v1/sites', { body: { slug: 'handbook', title: 'Handbook' } });
  const path = '/v1/sites/handbook/files/empty.md';
  await api.call('PUT', path, { raw: '# Before' });
  expect(await api.call('PUT', path, raw === undefined ? {} : { raw })).toMatchObject({
    status: 200,
    json: { size: 0 },
  });
  expect(await api.call('GET', path)).toMatchObject({ status: 200, text: '' });
  expect((await api.call('PUT', '/v1/sites/handbook/files/empty.png', { raw: '' })).status).toBe(415);
});
