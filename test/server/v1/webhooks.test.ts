import { expect, test } from 'vitest';
import { openDeliveries } from '../../../src/events/deliveries.ts';
import { openReceiver } from '../../servers/receiver.ts';
import { createTestRegistry, publishVersion } from '../registry.ts';
import { documentOf, openApi, unlimited, type Api } from './api.ts';

const url = 'https://hooks.example.com/stele';

function openLocalApi(): Promise<Api> {
  return openApi(createTestRegistry({ ...unlimited, webhooks: { allowPrivateAddresses: true } }));
}

test('an endpoint is made, read, changed and deleted; its secret is shown once', async () => {
  await using api = await openApi();
  const made = await api.call('POST', '/v1/webhooks', { body: { url, description: 'SDKs' } });
  const { id, secret, ...rest } = made.json as { id: string; secret: string };
  expect([made.status, made.headers.get('location')]).toEqual([201, `http://registry.test/v1/webhooks/${id}`]);
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
  const all = {
    url,
    description: 'SDKs',
    events: null,
    resources: null,
    state: 'enabled',
    reason: null,
    failingSince: null,
  };
  expect(rest).toMatchObject(all);
  const path = `/v1/webhooks/${id}`;
  const read = await api.call('GET', path);
  expect(read.json).toEqual({ id, ...rest });
  expect(read.text).not.toContain('whsec_');
  const etag = read.headers.get('etag')!;
  expect(etag).toBe(made.headers.get('etag'));
  expect((await api.call('GET', path, { headers: { 'if-none-match': etag } })).status).toBe(304);

  const change = (body: object, match: string) => api.call('PATCH', path, { body, headers: { 'if-match': match } });
  const changed = await change({ events: ['latest.moved'], state: 'disabled' }, etag);
  expect(changed.json).toMatchObject({
    events: ['latest.moved'],
    state: 'disabled',
    reason: null,
    description: 'SDKs',
  });
  expect((await change({ state: 'enabled' }, etag)).status).toBe(412);
  const same = await change({ state: 'disabled' }, '*');
  expect(same.headers.get('etag')).toBe(changed.headers.get('etag'));
  expect((await api.call('PATCH', path, { body: {} })).status).toBe(400);

  expect((await api.call('DELETE', path, { headers: { 'if-match': etag } })).status).toBe(412);
  expect((await api.call('DELETE', path)).status).toBe(204);
  expect((await api.call('GET', path)).status).toBe(404);
  expect((await api.call('GET', '/v1/webhooks')).json).toEqual({ items: [], next: null });
});

test('a URL that may not be one is pointed at', async () => {
  await using api = await openApi();
  for (const [given, detail] of [
    ['http://hooks.example.com/', 'must be an https URL'],
    ['https://192.168.1.1/', 'must not be a private network address'],
    ['https://me:secret@hooks.example.com/', 'must not contain a user name or password'],
  ]) {
    const refused = await api.call('POST', '/v1/webhooks', { body: { url: given } });
    expect([refused.status, refused.json['errors']]).toEqual([400, [{ pointer: '/url', detail }]]);
    expect(refused.text).not.toContain('me:secret');
  }
  const { json } = await api.call('POST', '/v1/webhooks', { body: { url } });
  const changed = await api.call('PATCH', `/v1/webhooks/${String(json['id'])}`, { body: { url: 'https://[::1]/' } });
  expect(changed.status).toBe(400);
});

test('no answer has the address of a chat', async () => {
  await using api = await openApi();
  const chat = 'https://hooks.slack.com/services/T0/B0/s3cr3t-abcd';
  const made = await api.call('POST', '/v1/webhooks', { body: { url: chat, format: 'slack' } });
  expect(made.json['url']).toBe('https://hooks.slack.com/…abcd');
  const read = await api.call('GET', `/v1/webhooks/${String(made.json['id'])}`);
  const found = await api.call('GET', '/v1/webhooks?q=s3cr3t');
  expect([read.json['url'], found.json['items']]).toEqual([made.json['url'], []]);
});

test('making and rotating, sent twice with one key, are done once and answered the same', async () => {
  await using api = await openApi();
  const send = (path: string, key: string, body?: object) =>
    api.call('POST', path, { headers: { 'idempotency-key': key }, ...(body && { body }) });
  const made = await send('/v1/webhooks', 'a', { url });
  const again = await send('/v1/webhooks', 'a', { url });
  expect(again.json).toEqual(made.json);
  const rotate = `/v1/webhooks/${String(made.json['id'])}/rotate`;
  const rotated = await send(rotate, 'b');
  expect(rotated.json['secret']).not.toBe(made.json['secret']);
  expect((await send(rotate, 'b')).json).toEqual(rotated.json);
  expect((await api.call('GET', '/v1/webhooks')).json['items']).toHaveLength(1);
});

test('a narrowed key has endpoints of what it covers, and sees no other', async () => {
  await using api = await openApi();
  const narrow = await api.makeKey({ resources: ['apis/pay-*', 'schemas/*'] });
  const make = (key: string, resources?: string[]) =>
    api.call('POST', '/v1/webhooks', { key, body: { url, ...(resources && { resources }) } });
  const own = await make(narrow);
  expect(own.json['resources']).toEqual(['apis/pay-*', 'schemas/*']);
  expect((await make(narrow, ['schemas/*'])).json['resources']).toEqual(['schemas/*']);
  expect((await make(narrow, ['apis/*'])).status).toBe(403);
  const change = (resources: string[] | null) =>
    api.call('PATCH', `/v1/webhooks/${String(own.json['id'])}`, { key: narrow, body: { resources } });
  expect((await change(['apis/*'])).status).toBe(403);
  expect((await change(['schemas/*'])).json['resources']).toEqual(['schemas/*']);
  expect((await change(null)).json['resources']).toEqual(['apis/pay-*', 'schemas/*']);
  const whole = await make(api.admin);
  await make(api.admin, ['apis/ledger']);
  const count = async (key: string) => ((await api.call('GET', '/v1/webhooks', { key })).json['items'] as []).length;
  expect([await count(narrow), await count(api.admin)]).toEqual([2, 4]);
  expect((await api.call('GET', `/v1/webhooks/${String(whole.json['id'])}`, { key: narrow })).status).toBe(404);
});

test('the log comes newest first, in pages, by state; what failed is delivered again', async () => {
  await using api = await openLocalApi();
  await using receiver = await openReceiver();
  const { json } = await api.call('POST', '/v1/webhooks', {
    body: { url: receiver.url, events: ['version.published'] },
  });
  const path = `/v1/webhooks/${String(json['id'])}`;
  const deliveries = openDeliveries(api.registry, 'http://registry.test');
  try {
    receiver.answer = ({ event }) => ({ status: event.subject.endsWith('@1.1.0') ? 500 : 200 });
    for (const label of ['1.0.0', '1.1.0', '1.2.0', '1.3.0']) {
      await publishVersion(api.registry, '@acme/apis/pay', label);
      await deliveries.poke();
    }
    const seen: string[] = [];
    for (let next: unknown = ''; next !== null;) {
      const page = await api.call('GET', `${path}/deliveries?limit=2${next === '' ? '' : `&cursor=${String(next)}`}`);
      seen.push(...(page.json['items'] as { subject: string }[]).map(({ subject }) => subject.slice(-5)));
      next = page.json['next'];
    }
    expect(seen).toEqual(['1.3.0', '1.2.0', '1.1.0', '1.0.0']);
    const waiting = await api.call('GET', `${path}/deliveries?state=pending`);
    const [failed] = waiting.json['items'] as { id: string }[];
    expect(waiting.json).toMatchObject({
      items: [
        { type: 'version.published', attempts: [{ status: 500, error: 'The endpoint answered 500 instead of 2xx.' }] },
      ],
      next: null,
    });
    expect((await api.call('GET', path)).json['failingSince']).toBeNull();
    receiver.answer = () => ({ status: 200 });
    expect((await api.call('POST', `${path}/deliveries/${failed!.id}/redeliver`)).status).toBe(202);
    await receiver.got(5);
    await deliveries.poke();
    expect((await api.call('GET', `${path}/deliveries?state=delivered`)).json['items']).toHaveLength(4);
    expect((await api.call('POST', `${path}/deliveries/${'0'.repeat(31)}/redeliver`)).status).toBe(404);
    await api.call('PATCH', path, { body: { state: 'disabled' } });
    expect((await api.call('POST', `${path}/deliveries/${failed!.id}/redeliver`)).status).toBe(409);
  } finally {
    await deliveries.close();
  }
});

test('a test is sent at once, also to a disabled endpoint, and its outcome is answered', async () => {
  await using api = await openLocalApi();
  await using receiver = await openReceiver();
  const { json } = await api.call('POST', '/v1/webhooks', { body: { url: receiver.url } });
  const path = `/v1/webhooks/${String(json['id'])}`;
  await api.call('PATCH', path, { body: { state: 'disabled' } });
  expect((await api.call('POST', `${path}/test`)).json).toMatchObject({ delivered: true, status: 204, error: null });
  receiver.answer = () => ({ status: 302, headers: { location: 'http://127.0.0.1:1/' } });
  const refused = await api.call('POST', `${path}/test`);
  expect(refused.json).toMatchObject({
    delivered: false,
    status: 302,
    error: 'The endpoint answered 302. Redirects are not followed.',
  });
  expect(receiver.received.map(({ event }) => event.type)).toEqual(['dev.stele.test', 'dev.stele.test']);
  expect((await api.call('GET', `${path}/deliveries`)).json).toEqual({ items: [], next: null });
});

test('what is done to endpoints is in the audit trail, without a secret', async () => {
  await using api = await openApi();
  const made = await api.call('POST', '/v1/webhooks', { body: { url } });
  const path = `/v1/webhooks/${String(made.json['id'])}`;
  await api.call('POST', `${path}/rotate`);
  await api.call('DELETE', path);
  const audit = await api.call('GET', '/v1/audit?limit=3');
  const entries = audit.json['items'] as { action: string; subject: object }[];
  expect(entries.map(({ action }) => action)).toEqual(['delete webhook', 'rotate webhook secret', 'create webhook']);
  expect(entries[0]!.subject).toEqual({ kind: 'webhook', id: made.json['id'] });
  expect(audit.text).not.toContain('whsec_');
});

test('what is published over HTTP is sent at once, not at the next look', async () => {
  await using api = await openLocalApi();
  await using receiver = await openReceiver();
  const deliveries = openDeliveries(api.registry, 'http://registry.test', { interval: 3_600_000 });
  try {
    await api.call('POST', '/v1/webhooks', { body: { url: receiver.url } });
    await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
    await api.call('POST', '/v1/apis/pay/spec', { body: { document: documentOf('1.0.0') } });
    await receiver.got(2);
    expect(receiver.received.map(({ event }) => event.type).sort()).toEqual([
      'dev.stele.latest.moved',
      'dev.stele.version.published',
    ]);
  } finally {
    await deliveries.close();
  }
});
