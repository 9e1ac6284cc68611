import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { createTestRegistry } from '../registry.ts';
import { documentOf, openApi, unlimited } from './api.ts';

test('lists come in pages, in order, and can be filtered', async () => {
  await using api = await openApi();
  const slugs = ['a', 'a-b', 'a1', 'b', 'c', 'd', 'e'];
  for (const slug of slugs.toReversed())
    await api.call('POST', '/v1/apis', { body: { name: `The ${slug} API`, slug } });
  const seen: unknown[] = [];
  let next: unknown = null;
  for (let pages = 1; ; pages++) {
    const page = await api.call('GET', `/v1/apis?limit=3${next === null ? '' : `&cursor=${String(next)}`}`);
    seen.push(...(page.json['items'] as { id: string }[]).map(({ id }) => id));
    next = page.json['next'];
    if (pages === 1) {
      // What is added before the place of the cursor shifts nothing.
      await api.call('POST', '/v1/apis', { body: { name: '0', slug: '0' } });
      await api.call('DELETE', '/v1/apis/d');
    }
    if (next === null) {
      expect(pages).toBe(2);
      break;
    }
  }
  expect(seen).toHaveLength(6);
  expect([...seen].sort()).toEqual(['a', 'a-b', 'a1', 'b', 'c', 'e']);
  const filtered = await api.call('GET', '/v1/apis?q=the%20C');
  expect(filtered.json).toMatchObject({ items: [{ id: 'c' }], next: null });
  const other = await api.call('GET', '/v1/apis?limit=1');
  expect((await api.call('GET', `/v1/schemas?cursor=${String(other.json['next'])}`)).status).toBe(400);
});

test('versions come newest first, in pages', async () => {
  await using api = await openApi();
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
  for (const label of ['1.0.0', '1.1.0', '1.2.0', '2.0.0']) {
    await api.call('POST', '/v1/apis/pay/spec', { body: { document: documentOf(label) } });
  }
  const first = await api.call('GET', '/v1/apis/pay/versions?limit=2');
  expect(first.json).toMatchObject({ items: [{ version: '2.0.0' }, { version: '1.2.0' }] });
  await api.call('POST', '/v1/apis/pay/spec', { body: { document: documentOf('3.0.0') } });
  const second = await api.call('GET', `/v1/apis/pay/versions?limit=2&cursor=${String(first.json['next'])}`);
  expect(second.json).toMatchObject({ items: [{ version: '1.1.0' }, { version: '1.0.0' }], next: null });
  expect((await api.call('GET', '/v1/apis/pay/versions?q=1.1')).json).toMatchObject({ items: [{ version: '1.1.0' }] });
});

test('a record is sent once, and a lost update is refused', async () => {
  await using api = await openApi();
  const made = await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
  const etag = made.headers.get('etag')!;
  const known = await api.call('GET', '/v1/apis/pay', { headers: { 'if-none-match': etag } });
  expect([known.status, known.text, known.headers.get('etag')]).toEqual([304, '', etag]);
  expect((await api.call('GET', '/v1/apis/pay', { headers: { 'if-none-match': `W/${etag}` } })).status).toBe(304);

  const rename = (name: string, match: string) =>
    api.call('PATCH', '/v1/apis/pay', { body: { name }, headers: { 'if-match': match } });
  const renamed = await rename('First', etag);
  expect(renamed.status).toBe(200);
  const late = await rename('Second', etag);
  expect(late.status).toBe(412);
  expect(late.json['current']).toBe(renamed.headers.get('etag'));
  expect((await rename('Second', `"999", ${renamed.headers.get('etag')!}`)).status).toBe(200);
  expect((await rename('Third', `W/${etag}`)).status).toBe(412);
  expect((await rename('Third', 'nonsense')).status).toBe(400);
  expect((await rename('Third', '*')).status).toBe(200);
  expect((await api.call('GET', '/v1/apis/pay', { headers: { 'if-none-match': etag } })).json['name']).toBe('Third');
  expect((await api.call('DELETE', '/v1/apis/pay', { headers: { 'if-match': etag } })).status).toBe(412);
  expect((await api.call('GET', '/v1/apis/pay')).status).toBe(200);
});

test('of two who write a new page at once, one is told', async () => {
  await using api = await openApi();
  await api.call('POST', '/v1/sites', { body: { slug: 'guide', title: 'Guide' } });
  const write = (method: string, path: string) =>
    api.call(method, `/v1/sites/guide/${path}`, {
      body: { title: 'A', markdown: 'B' },
      headers: { 'if-none-match': '*' },
    });
  const both = await Promise.all([write('PUT', 'pages/new'), write('PUT', 'pages/new')]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 412]);
  expect((await write('PUT', 'files/new.md')).status).toBe(412);
});

test('a change that changes nothing makes no generation', async () => {
  await using api = await openApi();
  const made = await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
  const same = await api.call('PATCH', '/v1/apis/pay', { body: { name: 'Pay', visibility: 'private', latest: null } });
  expect(same.headers.get('etag')).toBe(made.headers.get('etag'));
});

test('methods: HEAD as GET without a body, OPTIONS and 405 with Allow', async () => {
  await using api = await openApi();
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
  const got = await api.call('GET', '/v1/apis/pay');
  const head = await api.call('HEAD', '/v1/apis/pay');
  expect(head.text).toBe('');
  for (const name of ['content-length', 'content-type', 'etag'])
    expect(head.headers.get(name)).toBe(got.headers.get(name));
  expect((await api.call('HEAD', '/v1/apis/absent')).status).toBe(404);
  const options = await api.call('OPTIONS', '/v1/apis/pay', { key: null });
  expect([options.status, options.headers.get('allow')]).toEqual([204, 'GET, HEAD, DELETE, PATCH, OPTIONS']);
  const refused = await api.call('PUT', '/v1/apis/pay', { body: {} });
  expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, DELETE, PATCH, OPTIONS']);
  expect((await api.call('DELETE', '/v1/limits')).status).toBe(405);
});

test('a body may come packed', async () => {
  await using api = await openApi();
  const raw = new Uint8Array(gzipSync(JSON.stringify({ name: 'Pay', slug: 'pay' })));
  const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json; charset=UTF-8' };
  expect((await api.call('POST', '/v1/apis', { raw, headers })).status).toBe(201);
});

test('the key may be the password of Basic, for tools that know nothing else', async () => {
  await using api = await openApi();
  const authorization = `Basic ${Buffer.from(`x:${api.admin}`).toString('base64')}`;
  expect((await api.call('GET', '/v1/me', { key: null, headers: { authorization } })).status).toBe(200);
});

test('each key and each address has its rate; headers say what is left', async () => {
  await using api = await openApi(createTestRegistry({ rateLimit: { window: 3600, key: 3, address: 2, failures: 1 } }));
  const other = await api.makeKey();
  const first = await api.call('GET', '/v1/me');
  expect(first.headers.get('ratelimit')).toMatch(/^"key";r=2;t=\d+$/);
  expect(first.headers.get('ratelimit-policy')).toContain('q=3;w=3600');
  for (let n = 0; n < 2; n++) expect((await api.call('GET', '/v1/me')).status).toBe(200);
  const late = await api.call('GET', '/v1/me');
  expect(late.status).toBe(429);
  expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(3000);
  expect((await api.call('GET', '/v1/me', { key: other })).status).toBe(200);
  for (let n = 0; n < 2; n++) expect((await api.call('GET', '/v1/openapi.json', { key: null })).status).toBe(200);
  expect((await api.call('GET', '/v1/openapi.json', { key: null })).status).toBe(429);
  expect((await api.call('GET', '/v1/me', { key: 'wrong' })).status).toBe(401);
  expect((await api.call('GET', '/v1/me', { key: 'wrong' })).status).toBe(429);
  expect((await api.call('GET', '/v1/me', { key: other })).status).toBe(200);
});

test('limits are answered as they are', async () => {
  await using api = await openApi(createTestRegistry({ ...unlimited, limits: { fileBytes: 1000 } }));
  const { json } = await api.call('GET', '/v1/limits');
  expect(json).toMatchObject({
    document: { fileBytes: 1000 },
    request: { documentBodyBytes: 67_536 },
    rate: { key: 1_000_000 },
  });
});
