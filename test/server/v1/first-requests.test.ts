import { describe, expect, test } from 'vitest';
import { documentOf, openApi } from './api.ts';

describe('a publish that creates its resource', () => {
  const path = '/v1/apis/payments/spec';

  test('is one change, and a rejected document leaves nothing behind', async () => {
    await using api = await openApi();
    const refused = await api.call('POST', path, { body: { document: { refuse: 'No good.' }, create: {} } });
    expect(refused.status).toBe(422);
    expect((await api.call('GET', '/v1/apis/payments')).status).toBe(404);
    const body = { document: documentOf('1.0.0'), create: { visibility: 'public' } };
    const dry = await api.call('POST', path, { body: { ...body, dryRun: true } });
    expect(dry.json).toMatchObject({ version: '1.0.0', outcome: 'published', dryRun: true });
    expect((await api.call('GET', '/v1/apis/payments')).status).toBe(404);
    expect((await api.call('POST', path, { body })).status).toBe(201);
    const made = await api.call('GET', '/v1/apis/payments');
    expect(made.json).toMatchObject({ visibility: 'public', latest: '1.0.0' });
    const audit = await api.call('GET', '/v1/audit?resource=apis%2Fpayments');
    expect((audit.json['items'] as { action: string }[]).map(({ action }) => action)).toEqual(['publish 1.0.0']);
    // It settles nothing of one that is there.
    await api.call('POST', path, { body: { document: documentOf('2.0.0'), create: { visibility: 'private' } } });
    expect((await api.call('GET', '/v1/apis/payments')).json).toMatchObject({ visibility: 'public', latest: '2.0.0' });
  });

  test('needs the right to publish there, and without `create` there is nothing', async () => {
    await using api = await openApi();
    const document = documentOf('1.0.0');
    expect((await api.call('POST', path, { body: { document } })).status).toBe(404);
    const other = await api.makeKey({ scopes: ['publish'], resources: ['apis/refunds'] });
    const reader = await api.makeKey({ scopes: ['read'] });
    for (const given of [other, reader])
      expect((await api.call('POST', path, { body: { document, create: {} }, key: given })).status).toBe(404);
    const ruleset = '/v1/rulesets/style/document';
    const publisher = await api.makeKey({ scopes: ['publish'] });
    expect((await api.call('POST', ruleset, { body: { document, create: {} }, key: publisher })).status).toBe(404);
    expect((await api.call('POST', path, { body: { document, create: {} }, key: publisher })).status).toBe(201);
  });
});

test('an old version is published with its date by an administrator, in its place', async () => {
  await using api = await openApi();
  const path = '/v1/apis/payments/spec';
  const publish = (version: string, createdAt?: string, more = {}) =>
    api.call('POST', path, {
      body: { document: documentOf(version), create: {}, ...(createdAt && { createdAt }) },
      ...more,
    });
  await publish('3.0.0', '2025-03-20T00:00:00Z');
  // Not the version that was sent last: a date before that of the latest one.
  const old = await publish('1.0.0', '2023-05-01T02:00:00+02:00');
  expect(old).toMatchObject({ status: 201, json: { createdAt: '2023-05-01T00:00:00.000Z', latest: false } });
  expect(Date.parse(old.json['publishedAt'] as string)).toBeGreaterThan(Date.parse('2025-01-01'));
  await publish('2.0.0', '2024-02-11T00:00:00Z');
  const { json } = await api.call('GET', '/v1/apis/payments/versions');
  const labels = (json['items'] as { version: string }[]).map(({ version }) => version);
  expect(labels).toEqual(['3.0.0', '2.0.0', '1.0.0']);
  expect((await api.call('GET', '/v1/apis/payments')).json).toMatchObject({ latest: '3.0.0' });
  expect(await publish('4.0.0')).toMatchObject({ status: 201, json: { latest: true } });

  const key = await api.makeKey({ scopes: ['publish'] });
  expect(await publish('0.9.0', '2022-01-01T00:00:00Z', { key })).toMatchObject({ status: 403 });
  expect((await publish('0.9.0', undefined, { key })).status).toBe(201);
  for (const wrong of ['2022-01-01', 'soon', '2022-12-31T23:59:60Z', '2999-01-01T00:00:00Z'])
    expect((await publish('0.8.0', wrong)).status).toBe(400);
});

test('a site takes `name`, pages without `.md`, and is published without a body', async () => {
  await using api = await openApi();
  const made = await api.call('POST', '/v1/sites', { body: { name: 'Handbook', slug: 'handbook' } });
  expect(made).toMatchObject({ status: 201, json: { title: 'Handbook', slug: 'handbook' } });
  const both = await api.call('POST', '/v1/sites', { body: { name: 'No', title: 'Guide', slug: 'guide' } });
  expect(both.json).toMatchObject({ title: 'Guide' });
  expect((await api.call('POST', '/v1/sites', { body: { slug: 'bare' } })).json).toMatchObject({ title: 'bare' });

  const pages = '/v1/sites/handbook/pages';
  const page = { title: 'Welcome', markdown: 'Hello.' };
  const saved = await api.call('PUT', `${pages}/index`, { body: page });
  expect(saved).toMatchObject({ status: 200, json: { path: 'index.md', title: 'Welcome' } });
  expect((await api.call('GET', `${pages}/index.md`)).json).toEqual((await api.call('GET', `${pages}/index`)).json);
  expect((await api.call('PUT', `${pages}/guide/start`, { body: page })).json).toMatchObject({
    path: 'guide/start.md',
  });
  expect((await api.call('DELETE', `${pages}/guide/start`)).status).toBe(204);
  expect((await api.call('PUT', `${pages}/logo.png`, { body: page })).status).toBe(404);
  expect((await api.call('PUT', '/v1/sites/handbook/files/index', { body: page })).status).toBe(404);

  expect((await api.call('POST', '/v1/sites/handbook/publish')).status).not.toBe(400);
});
