import { expect, test } from 'vitest';
import { shareCompiler } from '../../compile/shared-compiler.ts';
import { createTestRegistry } from '../registry.ts';
import { openApi, unlimited } from './api.ts';

/** `impact: block`: a version that breaks a resource that gets it is rejected. */

const url = 'https://registry.test';
const compiler = shareCompiler();

const money = (...required: string[]) =>
  JSON.stringify({
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    type: 'object',
    required,
    properties: { amount: { type: 'integer' } },
  });
const shop = (range: string) =>
  JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Shop', version: '1.0.0' },
    paths: {
      '/orders': {
        post: {
          requestBody: { content: { 'application/json': { schema: { $ref: `${url}/@acme/schemas/money${range}` } } } },
          responses: { 200: { description: 'OK' } },
        },
      },
    },
  });

async function open(impact: string | null, defaults: object = {}) {
  const api = await openApi({
    ...createTestRegistry({ ...unlimited, url, organizations: { acme: { defaults } } }),
    compiler,
  });
  await api.call('POST', '/v1/schemas', { body: { name: 'Money', slug: 'money', impact } });
  const put = (document: string, version: string) =>
    api.call('POST', '/v1/schemas/money/document', { body: { document, version } });
  const use = async (slug: string, range: string) => {
    await api.call('POST', '/v1/apis', { body: { name: slug, slug } });
    expect((await api.call('POST', `/v1/apis/${slug}/spec`, { body: { document: shop(range) } })).status).toBe(201);
  };
  expect((await put(money(), '1.0.0')).status).toBe(201);
  return { api, put, use, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

test('a version that breaks one whose range means it is rejected, with who breaks and where', async () => {
  await using world = await open('block');
  const { api, put, use } = world;
  await use('shop', '@^1');
  const rejected = await put(money('amount'), '1.1.0');
  expect(rejected.status).toBe(422);
  expect(rejected.json['problems']).toMatchObject([
    {
      rule: 'user-broken',
      severity: 'error',
      message: expect.stringMatching(
        /^It breaks @acme\/apis\/shop@1\.0\.0 \(gets it at its next publish\): POST \/orders: /,
      ),
    },
    { rule: 'impact', severity: 'info', message: expect.stringContaining('It breaks 1 user of money.') },
  ]);
  expect((await api.call('GET', '/v1/schemas/money')).json).toMatchObject({ latest: '1.0.0', impact: 'block' });
  // Its range leaves this one out.
  expect((await put(money('amount'), '2.0.0')).status).toBe(201);
});

test('a version passes that breaks nobody, or only who stays with an old one', async () => {
  await using world = await open('block');
  const { put, use } = world;
  expect((await put(money('amount'), '1.1.0')).status).toBe(201);
  await use('shop', '@1.1.0');
  expect((await put(money('amount', 'currency'), '1.2.0')).status).toBe(201);
});

test('the organization’s default counts, and by default nothing is rejected', async () => {
  await using held = await open(null, { impact: 'block' });
  await held.use('shop', '@^1');
  expect((await held.put(money('amount'), '1.1.0')).status).toBe(422);
  await held.api.call('PATCH', '/v1/schemas/money', { body: { impact: 'warn' } });
  expect((await held.put(money('amount'), '1.1.0')).status).toBe(201);

  await using usual = await open(null);
  await usual.use('shop', '@^1');
  expect((await usual.put(money('amount'), '1.1.0')).status).toBe(201);
});

test('only an administrator changes it, and a check says what publishing would say', async () => {
  await using world = await open('block');
  const { api, use } = world;
  await use('shop', '@^1');
  const publisher = await api.makeKey({ scopes: ['publish'] });
  expect((await api.call('PATCH', '/v1/schemas/money', { key: publisher, body: { impact: 'none' } })).status).toBe(403);
  const body = { coordinate: '@acme/schemas/money', document: money('amount'), version: '1.1.0' };
  expect((await api.call('POST', '/v1/check', { body })).json).toMatchObject({ outcome: 'rejected' });
});
