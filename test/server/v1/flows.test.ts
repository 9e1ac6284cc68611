import { expect, test } from 'vitest';
import { documentOf, openApi } from './api.ts';

test.for([
  { type: 'apis', verb: 'spec' },
  { type: 'schemas', verb: 'document' },
  { type: 'rulesets', verb: 'document' },
])('$type: create, publish, read, change, delete', async ({ type, verb }) => {
  await using api = await openApi();
  const made = await api.call('POST', `/v1/${type}`, { body: { name: 'Payments', slug: 'payments' } });
  expect(made.status).toBe(201);
  expect(made.headers.get('location')).toBe(`http://registry.test/v1/${type}/payments`);
  expect(made.json).toMatchObject({ id: 'payments', visibility: 'private', latest: null, connection: null });

  const first = await api.call('POST', `/v1/${type}/payments/${verb}`, { body: { document: documentOf('1.4.0') } });
  expect(first.status).toBe(201);
  const url = `http://registry.test/@acme/${type}/payments@1.4.0`;
  expect(first.headers.get('location')).toBe(url);
  expect(first.json).toMatchObject({ version: '1.4.0', outcome: 'published', dryRun: false, latest: true, url });

  const read = await fetch(`${api.url}/@acme/${type}/payments@1.4.0.json`, {
    headers: { authorization: `Bearer ${api.admin}` },
  });
  expect(await read.text()).toBe(documentOf('1.4.0'));

  const again = await api.call('POST', `/v1/${type}/payments/${verb}`, { body: { document: documentOf('1.4.0') } });
  expect(again.status).toBe(200);
  expect(again.json).toMatchObject({ version: '1.4.0', outcome: 'unchanged' });
  expect(again.headers.get('content-location')).toBe(url);

  const versions = await api.call('GET', `/v1/${type}/payments/versions`);
  expect(versions.json).toMatchObject({ items: [{ version: '1.4.0', status: { state: 'active' } }], next: null });

  const changed = await api.call('PATCH', `/v1/${type}/payments`, { body: { visibility: 'public', name: 'Pay' } });
  expect(changed.json).toMatchObject({ visibility: 'public', name: 'Pay', latest: '1.4.0' });
  expect((await fetch(`${api.url}/@acme/${type}/payments.json`)).status).toBe(200);

  expect((await api.call('DELETE', `/v1/${type}/payments`)).status).toBe(204);
  expect((await api.call('GET', `/v1/${type}/payments`)).status).toBe(404);
  expect((await api.call('DELETE', `/v1/${type}/payments`)).status).toBe(404);
  const reused = await api.call('POST', `/v1/${type}`, { body: { name: 'Payments', slug: 'payments' } });
  expect(reused.status).toBe(409);
  expect(reused.json['detail']).toContain('never used again');
  expect((await fetch(`${api.url}/@acme/${type}/payments.json`)).status).toBe(410);
});

test('a publish is rejected whole, says what would happen, and conflicts with a suggestion', async () => {
  await using api = await openApi();
  await api.call('POST', '/v1/apis', { body: { name: 'Payments', slug: 'payments' } });
  const publish = (body: object) => api.call('POST', '/v1/apis/payments/spec', { body });

  const refused = await publish({ document: { refuse: 'No good.' } });
  expect(refused.status).toBe(422);
  expect(refused.json).toMatchObject({
    type: 'http://registry.test/problems/refused',
    problems: [{ rule: 'fake', severity: 'error', message: 'No good.', pointer: '', line: 1, column: 1 }],
    counts: { error: 1 },
  });

  const dry = await publish({ document: documentOf('1.0.0'), dryRun: true });
  expect(dry.status).toBe(200);
  expect(dry.json).toMatchObject({ version: '1.0.0', outcome: 'published', dryRun: true });
  expect((await api.call('GET', '/v1/apis/payments/versions')).json).toEqual({ items: [], next: null });

  expect((await publish({ document: documentOf('1.0.0'), version: '1.0.0' })).status).toBe(201);
  const taken = await publish({ document: documentOf('1.0.0', 'Other'), version: '1.0.0' });
  expect(taken.status).toBe(409);
  expect(taken.json).toMatchObject({ version: '1.0.0', suggestion: '1.0.1' });
  const revised = await publish({ document: documentOf('1.0.0', 'Other') });
  expect(revised.json).toMatchObject({ version: '1.0.0+2', outcome: 'published' });
  const rejected = await publish({ document: documentOf('1.0.0', 'Third'), onConflict: 'reject' });
  expect(rejected.status).toBe(409);
  const next = await publish({ document: documentOf(null), latest: false });
  expect(next.json).toMatchObject({ version: '1.0.1', latest: false });
  expect((await publish({ document: documentOf('1'), version: 'latest' })).status).toBe(400);
  expect((await api.call('POST', '/v1/apis/absent/spec', { body: { document: '{}' } })).status).toBe(404);
});

test('a document sent as an object is published as it was written', async () => {
  await using api = await openApi();
  await api.call('POST', '/v1/apis', { body: { name: 'Payments', slug: 'payments', visibility: 'public' } });
  const document = '{ "openapi": "3.1.0",\n "info": {"version": "1.0.0", "x-n": 12345678901234567890.10} }';
  const { status } = await api.call('POST', '/v1/apis/payments/spec', { raw: `{"document": ${document} }` });
  expect(status).toBe(201);
  expect(await (await fetch(`${api.url}/@acme/apis/payments@1.0.0.json`)).text()).toBe(document);
});

test('the status of a version: deprecated, yanked, active again, withdrawn for ever', async () => {
  await using api = await openApi();
  await api.call('POST', '/v1/apis', { body: { name: 'Payments', slug: 'payments', visibility: 'public' } });
  for (const label of ['1.0.0', '1.1.0']) {
    await api.call('POST', '/v1/apis/payments/spec', { body: { document: documentOf(label, label) } });
  }
  const change = (label: string, status: object) =>
    api.call('PATCH', `/v1/apis/payments/versions/${label}`, { body: { status } });
  const latest = async () => (await api.call('GET', '/v1/apis/payments')).json['latest'];
  const read = async (label: string) => (await fetch(`${api.url}/@acme/apis/payments@${label}.json`)).status;

  const deprecated = await change('1.1.0', {
    state: 'deprecated',
    reason: 'old',
    replacement: '1.0.0',
    sunset: '2030-01-01T00:00:00Z',
  });
  expect(deprecated.json['status']).toEqual({
    state: 'deprecated',
    reason: 'old',
    replacement: '1.0.0',
    sunset: '2030-01-01T00:00:00Z',
    since: expect.any(String),
  });
  expect(await latest()).toBe('1.1.0');
  const same = await change('1.1.0', {
    state: 'deprecated',
    reason: 'old',
    replacement: '1.0.0',
    sunset: '2030-01-01T00:00:00Z',
  });
  expect(same.headers.get('etag')).toBe(deprecated.headers.get('etag'));

  expect((await change('1.1.0', { state: 'yanked', reason: 'broken' })).json).toMatchObject({ latest: false });
  expect(await latest()).toBe('1.0.0');
  expect(await read('1.1.0')).toBe(200);
  expect((await api.call('PATCH', '/v1/apis/payments', { body: { latest: '1.1.0' } })).status).toBe(409);
  await change('1.1.0', { state: 'active' });
  expect(await latest()).toBe('1.1.0');

  expect((await api.call('PATCH', '/v1/apis/payments', { body: { latest: '1.0.0' } })).json).toMatchObject({
    latest: '1.0.0',
    latestPinned: true,
  });
  await api.call('POST', '/v1/apis/payments/spec', { body: { document: documentOf('1.2.0') } });
  expect(await latest()).toBe('1.0.0');
  expect((await api.call('PATCH', '/v1/apis/payments', { body: { latest: null } })).json).toMatchObject({
    latest: '1.2.0',
    latestPinned: false,
  });

  expect((await change('1.2.0', { state: 'withdrawn', reason: 'leaked' })).json).toMatchObject({
    status: { state: 'withdrawn' },
  });
  expect(await read('1.2.0')).toBe(410);
  expect(await latest()).toBe('1.1.0');
  expect((await change('1.2.0', { state: 'active' })).status).toBe(409);
  const again = await api.call('POST', '/v1/apis/payments/spec', {
    body: { document: documentOf('1.2.0'), version: '1.2.0' },
  });
  expect(again.status).toBe(409);
  expect((await change('9.9.9', { state: 'active' })).status).toBe(404);
});

test('a withdrawn version takes its bytes along, unless another version holds the same', async () => {
  await using api = await openApi();
  const objects = async () => (await Array.fromAsync(api.registry.objects.list())).length;
  for (const slug of ['one', 'two'])
    await api.call('POST', '/v1/apis', { body: { name: slug, slug, visibility: 'public' } });
  await api.call('POST', '/v1/apis/one/spec', { body: { document: documentOf('1.0.0') } });
  const before = await objects();
  await api.call('POST', '/v1/apis/two/spec', { body: { document: documentOf('1.0.0') } });
  await api.call('POST', '/v1/apis/one/spec', { body: { document: documentOf('2.0.0', 'Second') } });
  const withdraw = (slug: string, label: string) =>
    api.call('PATCH', `/v1/apis/${slug}/versions/${label}`, { body: { status: { state: 'withdrawn', reason: 'x' } } });
  await withdraw('one', '2.0.0');
  expect(await objects()).toBe(before);
  await withdraw('two', '1.0.0');
  expect(await objects()).toBe(before);
  expect((await fetch(`${api.url}/@acme/apis/one@1.0.0.json`)).status).toBe(200);
  await withdraw('one', '1.0.0');
  expect(await objects()).toBe(0);
  expect((await withdraw('one', '1.0.0')).status).toBe(200);
  expect((await fetch(`${api.url}/@acme/apis/one@1.0.0.json`)).status).toBe(410);
});

test('one artifact under two labels is there as long as one of them is', async () => {
  await using api = await openApi();
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay', visibility: 'public' } });
  const publish = (version: string) =>
    api.call('POST', '/v1/apis/pay/spec', { body: { document: documentOf('1'), version } });
  const { digest } = (await publish('1.0.0')).json;
  expect((await publish('1.0.1')).json).toMatchObject({ digest, outcome: 'published' });
  const withdraw = (label: string) =>
    api.call('PATCH', `/v1/apis/pay/versions/${label}`, { body: { status: { state: 'withdrawn', reason: 'x' } } });
  const read = async (selector: string) => (await fetch(`${api.url}/@acme/apis/pay@${selector}`)).status;
  await withdraw('1.0.0');
  expect([await read('1.0.0'), await read('1.0.1'), await read(String(digest))]).toEqual([410, 200, 200]);
  await withdraw('1.0.1');
  expect(await read(String(digest))).toBe(410);
});
