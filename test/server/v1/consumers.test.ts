import { expect, test } from 'vitest';
import { createTestRegistry } from '../registry.ts';
import { documentOf, openApi, unlimited } from './api.ts';

const money = { contract: '@acme/schemas/money', range: '^1', version: '1.4.0', digest: `sha256:${'b'.repeat(64)}` };

test('a consumer says what it uses, in place of what it said before, and expires after 90 days', async () => {
  let days = 0;
  const start = Date.parse('2026-05-12T09:30:00.000Z');
  const registry = { ...createTestRegistry(unlimited), now: () => new Date(start + days * 86_400_000) };
  await using api = await openApi(registry);
  const put = (name: string, body: object) => api.call('PUT', `/v1/consumers/${name}`, { body });
  expect((await put('shop', { contracts: [] })).status).toBe(200);
  const reported = await put('shop', { contracts: [money] });
  const shop = { name: 'shop', contracts: [money], reportedAt: '2026-05-12T09:30:00.000Z' };
  expect(reported.json).toEqual(shop);
  await put('billing.web', { contracts: [{ ...money, contract: '@-/schemas/-' }] });
  const names = async (query = '') =>
    ((await api.call('GET', `/v1/consumers${query}`)).json['items'] as { name: string }[]).map(({ name }) => name);
  expect((await api.call('GET', '/v1/consumers?q=SHOP')).json).toEqual({ items: [shop], next: null });
  expect(await names('?limit=1')).toEqual(['billing.web']);
  days = 60;
  await put('billing.web', { contracts: [] });
  days = 91;
  expect(await names()).toEqual(['billing.web']);
});

test('an organization that has nothing but a key has its consumers among the dependants', async () => {
  await using api = await openApi();
  const create = { visibility: 'public' };
  const body = { create, document: documentOf('1.0.0') };
  const { digest } = (await api.call('POST', '/v1/apis/pay/spec', { body })).json;
  const key = await api.makeKey({ org: 'till' });
  const contracts = [{ contract: '@acme/apis/pay', range: '^1', version: '1.0.0', digest }];
  await api.call('PUT', '/v1/consumers/shop', { key, body: { contracts } });
  const { json } = await api.call('GET', '/@acme/apis/pay/dependants', { key });
  expect(json['items']).toMatchObject([{ consumer: { organization: 'till', name: 'shop' } }]);
});

test('a consumer is a dependant of what it pinned by version and digest, for who may read its organization, and dry runs name it', async () => {
  await using api = await openApi();
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay', visibility: 'public' } });
  const digests: unknown[] = [];
  for (const version of ['1.0.0', '1.1.0'])
    digests.push(
      (await api.call('POST', '/v1/apis/pay/spec', { body: { document: documentOf(version) } })).json['digest'],
    );
  const pinned = { range: '^1', version: '1.0.0', digest: digests[0] };
  const contracts = [{ contract: '@acme/apis/pay', ...pinned }];
  const { json } = await api.call('PUT', '/v1/consumers/shop', { body: { contracts } });
  const edited = [{ ...contracts[0], digest: digests[1] }];
  expect(await api.call('PUT', '/v1/consumers/shop', { body: { contracts: edited } })).toMatchObject({
    status: 400,
    json: {
      detail:
        'The digest of @acme/apis/pay@1.0.0 is that of version 1.1.0. Run stele add again for what was edited by hand in contracts.lock.',
    },
  });
  const shop = {
    consumer: { organization: 'acme', name: 'shop', reportedAt: json['reportedAt'] },
    uses: { ...pinned, how: 'lock' },
    behind: 1,
  };
  const listed = async (key: string) => (await api.call('GET', '/v1/apis/pay/dependants', { key })).json['items'];
  expect(await listed(api.admin)).toEqual([shop]);
  expect(await listed(await api.makeKey({ scopes: ['read'], resources: ['apis/pay'] }))).toEqual([]);
  const body = { status: { state: 'deprecated', reason: 'Old' } };
  const touched = async (version: string) =>
    (await api.call('PATCH', `/v1/apis/pay/versions/${version}?dryRun=true`, { body })).json['dependants'];
  expect(await touched('1.0.0')).toEqual([shop]);
  expect(await touched('1.1.0')).toEqual([]);
  expect((await api.call('DELETE', '/v1/apis/pay?dryRun=true')).json['dependants']).toEqual([shop]);
});

test('the pages of dependants go on where a consumer reports again meanwhile', async () => {
  let minutes = 0;
  const now = () => new Date(Date.parse('2026-05-12T09:30:00.000Z') + minutes * 60_000);
  await using api = await openApi({ ...createTestRegistry(unlimited), now });
  const body = { create: { visibility: 'public' }, document: documentOf('1.0.0') };
  const { digest } = (await api.call('POST', '/v1/apis/pay/spec', { body })).json;
  const contracts = [{ contract: '@acme/apis/pay', range: '^1', version: '1.0.0', digest }];
  for (const name of ['shop', 'till']) await api.call('PUT', `/v1/consumers/${name}`, { body: { contracts } });
  for (const list of ['/v1/apis/pay/dependants', '/@acme/apis/pay/dependants']) {
    const first = await api.call('GET', `${list}?limit=1`);
    minutes++;
    await api.call('PUT', '/v1/consumers/shop', { body: { contracts } });
    const { json } = await api.call('GET', `${list}?limit=1&cursor=${String(first.json['next'])}`);
    expect(json, list).toMatchObject({ items: [{ consumer: { name: 'till' } }], next: null });
  }
});

test.for([
  ['Shop', { contracts: [] }, 404],
  ['..', { contracts: [] }, 404],
  ['shop', { contracts: [{ ...money, contract: '@acme/schemas/money@1' }] }, 400],
  ['shop', { contracts: [{ ...money, digest: 'sha256:abc' }] }, 400],
  ['shop', { contracts: [{ ...money, more: 1 }] }, 400],
  ['shop', {}, 400],
] as const)('%s with %j is refused', async ([name, body, status]) => {
  await using api = await openApi();
  expect((await api.call('PUT', `/v1/consumers/${name}`, { body })).status).toBe(status);
});

test('what affects consumers is in a feed and among the changes, for who may read their whole organization', async () => {
  let minutes = 0;
  const start = Date.parse('2026-05-12T09:30:00.000Z');
  const registry = {
    ...createTestRegistry(unlimited),
    now: () => new Date(start + minutes * 60_000),
    monotonic: () => minutes * 60_000,
  };
  await using api = await openApi(registry);
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay', visibility: 'public' } });
  const put = async (document: object) =>
    (await api.call('POST', '/v1/apis/pay/spec', { body: { document: JSON.stringify(document) } })).json['digest'];
  const whole = JSON.parse(documentOf('1.0.0')) as { info: object };
  const digest = await put(whole);
  const contracts = [{ contract: '@acme/apis/pay', range: '^1', version: '1.0.0', digest }];
  await api.call('PUT', '/v1/consumers/shop', { body: { contracts } });
  const changesFor = async (key: string, after = '') => {
    const { json } = await api.call('GET', `/v1/changes?limit=100${after}`, { key });
    const items = json['items'] as { subject: { kind: string; id: string }; affected?: object; action: string }[];
    return {
      items: items.filter(({ subject }) => subject.kind === 'consumer'),
      next: `&after=${String(json['next'])}`,
    };
  };
  const { items, next } = await changesFor(api.admin);
  expect(items).toEqual([]);
  minutes = 1;
  const status = { state: 'deprecated', reason: 'Old' };
  await api.call('PATCH', '/v1/apis/pay/versions/1.0.0', { body: { status } });
  minutes = 3;
  const told = await changesFor(api.admin, next);
  const affected = {
    coordinate: '@acme/apis/pay',
    range: '^1',
    pinned: '1.0.0',
    because: 'deprecated',
    version: '1.0.0',
  };
  expect(told.items).toMatchObject([
    { action: 'deprecated 1.0.0', subject: { kind: 'consumer', id: 'shop' }, affected },
  ]);
  expect((await changesFor(api.admin, told.next)).items).toEqual([]);
  const reader = await api.makeKey({ scopes: ['read'] });
  expect((await changesFor(reader)).items).toMatchObject([{ affected }]);
  const limited = await api.makeKey({ scopes: ['read'], resources: ['apis/pay'] });
  expect((await changesFor(limited)).items).toEqual([]);
  const feed = (key: string | null) => api.call('GET', '/feeds/acme/consumers.json', { key });
  expect((await feed(reader)).json).toMatchObject({
    items: [{ title: 'shop: @acme/apis/pay@1.0.0 is deprecated', date_published: '2026-05-12T09:31:00.000Z' }],
  });
  expect((await feed(reader)).headers.get('cache-control')).toContain('private');
  for (const key of [limited, null]) expect((await feed(key)).status).toBe(404);
});
