import { expect, test } from 'vitest';
import { openApi } from './api.ts';

/** `/v1/openapi.json` as Swagger UI, Scalar or Redoc read it from another site. */

const path = '/v1/openapi.json';
const origin = { origin: 'https://tools.example' };

test('the description may be read by scripts of any origin, and kept by caches', async () => {
  await using api = await openApi();
  for (const method of ['GET', 'HEAD']) {
    const { status, headers, text } = await api.call(method, path, { key: null, headers: origin });
    expect(status).toBe(200);
    expect(text === '').toBe(method === 'HEAD');
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-expose-headers')).toMatch(/\bETag\b/);
    expect(headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    expect(headers.get('cache-control')).toBe('public, max-age=300, must-revalidate');
    const again = await api.call(method, path, { key: null, headers: { 'if-none-match': headers.get('etag')! } });
    expect([again.status, again.text]).toEqual([304, '']);
    expect(again.headers.get('access-control-allow-origin')).toBe('*');
    expect(again.headers.get('cache-control')).toBe('public, max-age=300, must-revalidate');
  }
});

test('a preflight for the description is answered', async () => {
  await using api = await openApi();
  const asked = {
    ...origin,
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'if-none-match',
  };
  const { status, headers } = await api.call('OPTIONS', path, { key: null, headers: asked });
  expect(status).toBe(204);
  expect(headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  expect(headers.get('access-control-allow-origin')).toBe('*');
  expect(headers.get('access-control-allow-methods')).toBe('GET, HEAD');
  expect(headers.get('access-control-allow-headers')).toMatch(/\bIf-None-Match\b/);
});

test('nothing else under /v1 is for other origins, or for caches', async () => {
  await using api = await openApi();
  for (const [method, of] of [
    ['GET', '/v1/me'],
    ['OPTIONS', '/v1/me'],
    ['GET', '/v1/nothing'],
    ['POST', path],
  ] as const) {
    const { headers } = await api.call(method, of, { headers: origin });
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('cache-control')).toBe('no-store');
  }
});

test.each([
  ['/v1/apiss', 'The route /v1/apiss does not exist. Did you mean "/v1/apis"? /v1/openapi.json describes every route.'],
  [
    '/v1/apis/pay/version',
    'The route /v1/apis/pay/version does not exist. Did you mean "/v1/apis/pay/versions"? /v1/openapi.json describes every route.',
  ],
  ['/v1/apis/pay/publish', 'The route /v1/apis/pay/publish does not exist. /v1/openapi.json describes every route.'],
  ['/v1', 'The route /v1 does not exist. /v1/openapi.json describes every route.'],
])('an unknown route is said to be unknown where a valid key is there: %s', async (unknown, detail) => {
  await using api = await openApi();
  const { status, json } = await api.call('GET', unknown);
  expect(status).toBe(404);
  expect(json['detail']).toBe(detail);
});

test('without a valid key an unknown route is as a private resource', async () => {
  await using api = await openApi();
  const without = { key: null };
  const { status, json } = await api.call('GET', '/v1/apiss', without);
  expect([status, json['detail']]).toEqual([404, expect.stringMatching(/^Nothing exists here, or you have no access/)]);
  expect((await api.call('GET', '/v1/apiss', { key: 'stele_000000000000_wrong' })).status).toBe(401);
  const absent = await api.call('GET', '/v1/apis/absent');
  expect([absent.status, absent.json['detail']]).toEqual([404, json['detail']]);
});
