import { once } from 'node:events';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { describe, expect, test, vi } from 'vitest';
import type { UserConfig } from '../../src/config.ts';
import { openDeliveries } from '../../src/events/deliveries.ts';
import { publish } from '../../src/registry/publish.ts';
import { changeWebhook, createWebhook, deleteWebhook, findWebhook, rotateSecret } from '../../src/events/endpoints.ts';
import { shownUrl, webhookRef, type Webhook } from '../../src/model/event.ts';
import type { Bucket } from '../../src/store/bucket.ts';
import { certificate } from '../servers/localhost-certificate.ts';
import { isSigned } from '../servers/receiver.ts';
import {
  author,
  base,
  begin,
  day,
  deliver,
  hour,
  local,
  log,
  minute,
  publishVersion,
  receive,
} from './webhook-scene.ts';
import { createWorld, snapshotOf } from '../registry/world.ts';

/** All that the store holds. */
async function textOf(bucket: Bucket): Promise<string> {
  const keys = await bucket.list('', { limit: 10_000 });
  return (await Promise.all(keys.map(async (key) => Buffer.from((await bucket.get(key))!).toString()))).join();
}

describe('secrets', () => {
  test('for a day after a rotation both secrets sign, then the new one alone', async () => {
    const { registry, receiver, deliveries, made, id, pass } = await begin();
    const rotated = await rotateSecret(registry, 'acme', id, author);
    expect(rotated.secret).toMatch(/^whsec_[A-Za-z0-9+/]{32}$/);
    expect(rotated.secret).not.toBe(made.secret);
    await publishVersion(registry, '1.0.0');
    await deliveries.poke();
    pass(day + 1);
    await publishVersion(registry, '1.1.0');
    await deliveries.poke();
    const signed = receiver.received.map((one) => [isSigned(one, made.secret), isSigned(one, rotated.secret)]);
    expect(signed).toEqual([
      [true, true],
      [false, true],
    ]);
    expect(String(receiver.received[0]!.headers['webhook-signature']).split(' ')).toHaveLength(2);
  });

  test('with a secretKey no secret stands in the store', async () => {
    vi.stubEnv('STELE_TEST_SECRET_KEY', 'a key that is long enough for it');
    const user = { ...local, secretKey: { env: 'STELE_TEST_SECRET_KEY' } };
    const { registry, receiver, deliveries, made, bucket } = await begin({}, user);
    await publishVersion(registry, '1.0.0');
    await deliveries.poke();
    expect(isSigned(receiver.received[0]!, made.secret)).toBe(true);
    expect(await textOf(bucket)).not.toContain(made.secret.slice('whsec_'.length));
  });

  test('a secret that no key opens any more is logged, and nothing is sent', async () => {
    vi.stubEnv('STELE_TEST_SECRET_KEY', 'a key that is long enough for it');
    const user = { ...local, secretKey: { env: 'STELE_TEST_SECRET_KEY' } };
    const { registry, receiver, deliveries, id } = await begin({}, user);
    vi.stubEnv('STELE_TEST_SECRET_KEY', 'another key, of the same length.');
    await publishVersion(registry, '1.0.0');
    await deliveries.poke();
    expect(receiver.received).toEqual([]);
    const error = expect.stringContaining('cannot be decrypted');
    expect((await log(registry, id))[0]!).toMatchObject({ state: 'pending', attempts: [{ status: null, error }] });
  });

  test('the address of a chat is in no part of the store, and only its host and end are shown', async () => {
    vi.stubEnv('STELE_TEST_SECRET_KEY', 'a key that is long enough for it');
    const { registry, bucket } = createWorld({ ...local, secretKey: { env: 'STELE_TEST_SECRET_KEY' } });
    const receiver = await receive();
    const url = new URL('/services/T0001/B0001/s3cr3t-of-slack?key=s3cr3t-end1', receiver.url).href;
    const short = `${new URL(url).origin}/…end1`;
    const { webhook } = await createWebhook(registry, 'acme', { url, format: 'slack' }, author);
    const { id } = webhook.value;
    const deliveries = deliver(registry);
    await publishVersion(registry, '1.0.0');
    await deliveries.poke();
    expect(receiver.received.map(({ path }) => path)[0]).toBe('/services/T0001/B0001/s3cr3t-of-slack?key=s3cr3t-end1');
    // The console and programs send back what they read.
    const renamed = await changeWebhook(registry, 'acme', id, { url: short, description: 'chat' }, author);
    expect(shownUrl(renamed.value)).toBe(short);
    receiver.received.splice(0);
    await publishVersion(registry, '1.1.0');
    await deliveries.poke();
    expect(receiver.received.length).toBeGreaterThan(0);
    await expect(changeWebhook(registry, 'acme', id, { url: short.replace('1', '2') }, author)).rejects.toMatchObject({
      code: 'malformed',
    });
    await changeWebhook(registry, 'acme', id, { url: url.replace('end1', 's3cr3t-end2') }, author);
    await deleteWebhook(registry, 'acme', id, author);
    expect(await textOf(bucket)).not.toContain('s3cr3t');
  });

  test('an address that an earlier version stored as it is still works, is not shown, and is encrypted by a change', async () => {
    const { registry, receiver, deliveries, id } = await begin({ format: 'teams' });
    const url = new URL('/workflows/s3cr3t-of-teams', receiver.url).href;
    await registry.refs.update<Webhook>(webhookRef('acme', id), (current) => {
      const { sealedUrl: _none, ...value } = current!.value;
      return { value: { ...value, url }, change: { ...author, action: 'change webhook' } };
    });
    expect(shownUrl((await findWebhook(registry, 'acme', id))!.value)).toBe(`${new URL(url).origin}/…eams`);
    await publishVersion(registry, '1.0.0');
    await deliveries.poke();
    const { value } = await changeWebhook(registry, 'acme', id, { description: 'chat' }, author);
    expect(value.url).not.toContain('s3cr3t');
    await publishVersion(registry, '1.1.0');
    await deliveries.poke();
    expect(receiver.received.map(({ path }) => path)).toEqual([
      '/workflows/s3cr3t-of-teams',
      '/workflows/s3cr3t-of-teams',
    ]);
  });

  test('a secretKey that is too short is reported at the start', () => {
    vi.stubEnv('STELE_TEST_SECRET_KEY', 'short');
    const { registry } = createWorld({ secretKey: { env: 'STELE_TEST_SECRET_KEY' } });
    expect(() => openDeliveries(registry, base)).toThrow(/at least 32/);
  });

  test('making an endpoint and rotating its secret, repeated, are done once', async () => {
    const { registry } = createWorld(local);
    const repeated = { ...author, operation: 'op-1' };
    const first = await createWebhook(registry, 'acme', { url: 'https://example.com/' }, repeated);
    expect(await createWebhook(registry, 'acme', { url: 'https://example.com/' }, repeated)).toEqual(first);
    const { id } = first.webhook.value;
    const again = { ...author, operation: 'op-2' };
    const rotated = await rotateSecret(registry, 'acme', id, again);
    expect(await rotateSecret(registry, 'acme', id, again)).toEqual(rotated);
  });

  test('an organization has at most 50 endpoints', async () => {
    const { registry } = createWorld(local);
    const make = () => createWebhook(registry, 'acme', { url: 'https://example.com/' }, author);
    for (let n = 0; n < 50; n++) await make();
    await expect(make()).rejects.toMatchObject({ code: 'conflict' });
  });
});

describe('walls', () => {
  const strict: UserConfig = { organizations: { acme: {} } };

  test.for([
    ['http://example.com/', 'must be an https URL'],
    ['ftp://example.com/', 'must be an https URL'],
    ['https://user:secret@example.com/', 'must not contain a user name or password'],
    ['https://example.com/#x', 'must not contain a fragment'],
    ['https://127.0.0.1/', 'must not be a private network address'],
    ['https://127.1/', 'must not be a private network address'],
    ['https://0x7f000001/', 'must not be a private network address'],
    ['https://2130706433/', 'must not be a private network address'],
    ['https://10.1.2.3/', 'must not be a private network address'],
    ['https://169.254.169.254/latest/meta-data', 'must not be a private network address'],
    ['https://100.64.0.1/', 'must not be a private network address'],
    ['https://224.0.0.1/', 'must not be a private network address'],
    ['https://0.0.0.0/', 'must not be a private network address'],
    ['https://[::1]/', 'must not be a private network address'],
    ['https://[::]/', 'must not be a private network address'],
    ['https://[fd00::1]/', 'must not be a private network address'],
    ['https://[fe80::1]/', 'must not be a private network address'],
    ['https://[::ffff:10.0.0.1]/', 'must not be a private network address'],
    ['https://[64:ff9b::a00:1]/', 'must not be a private network address'],
    ['https://[2002:a00:1::]/', 'must not be a private network address'],
    ['https://localhost/', 'must not be a private network address'],
    ['https://api.localhost./', 'must not be a private network address'],
    ['/events', 'must be a URL'],
  ] as const)('%s is no endpoint', async ([url, fault]) => {
    const { registry } = createWorld(strict);
    const refusal = { code: 'malformed', extra: { errors: [{ pointer: '/url', detail: fault }] } };
    await expect(createWebhook(registry, 'acme', { url }, author)).rejects.toMatchObject(refusal);
  });

  test('a name that leads to a private address, or does so later on, is not connected to', async () => {
    const world = createWorld(strict);
    const receiver = await receive();
    const port = new URL(receiver.url).port;
    const url = `https://hooks.example.com:${port}/events`;
    const { webhook } = await createWebhook(world.registry, 'acme', { url, events: ['version.published'] }, author);
    const answers = [['127.0.0.1'], ['198.41.0.4', '10.0.0.1'], ['::ffff:127.0.0.1']];
    const asked: string[] = [];
    const find = async (host: string) => {
      asked.push(host);
      return answers.shift()!;
    };
    const deliveries = deliver(world.registry, { find });
    await publishVersion(world.registry, '1.0.0');
    for (let n = 0; n < 3; n++) {
      await deliveries.poke();
      world.pass(hour);
    }
    const [delivery] = await log(world.registry, webhook.value.id);
    const error = 'hooks.example.com has a private network address. Events are not sent to private networks.';
    expect(delivery!.attempts.map((attempt) => attempt.error)).toEqual([error, error, error]);
    expect(asked).toEqual(Array(3).fill('hooks.example.com'));
    expect(receiver.received).toEqual([]);
  });

  test('what is connected to is the address that was checked, whatever the name means to others', async () => {
    const world = createWorld(local);
    const receiver = await receive('127.0.0.2');
    const { port } = new URL(receiver.url);
    const url = `http://localhost:${port}/events`;
    await createWebhook(world.registry, 'acme', { url, events: ['version.published'] }, author);
    const deliveries = deliver(world.registry, { find: async () => ['127.0.0.2'] });
    await publishVersion(world.registry, '1.0.0');
    await deliveries.poke();
    expect(receiver.received[0]!.headers['host']).toBe(`localhost:${port}`);
  });

  test('https goes to the address that was checked, by the name of its certificate, and to nobody who has none that is trusted', async () => {
    const world = createWorld(local);
    const { registry } = world;
    const seen: string[] = [];
    const server = createSecureServer(certificate, (request, response) => {
      seen.push(`${request.method} ${request.headers.host}`);
      response.writeHead(204).end();
    });
    await once(server.listen(0, '127.0.0.2'), 'listening');
    const { port } = server.address() as AddressInfo;
    const url = `https://localhost:${port}/`;
    const { webhook } = await createWebhook(registry, 'acme', { url, events: ['version.published'] }, author);
    const deliveries = deliver(registry, { find: async () => ['127.0.0.2'] });
    const trusted = getCACertificates('default');
    try {
      await publishVersion(registry, '1.0.0');
      await deliveries.poke();
      expect(seen).toEqual([]);
      setDefaultCACertificates([...trusted, certificate.cert]);
      world.pass(minute);
      await deliveries.poke();
    } finally {
      setDefaultCACertificates(trusted);
      server.close();
    }
    expect(seen).toEqual([`POST localhost:${port}`]);
    const error = 'The endpoint could not be reached: DEPTH_ZERO_SELF_SIGNED_CERT.';
    expect((await log(registry, webhook.value.id))[0]!.attempts).toMatchObject([
      { error },
      { status: 204, error: null },
    ]);
  });

  test('a redirect is not followed, wherever it leads', async () => {
    const { registry, receiver, deliveries, id } = await begin();
    const inner = await receive();
    receiver.answer = () => ({ status: 307, headers: { location: inner.url } });
    await publishVersion(registry, '1.0.0');
    await deliveries.poke();
    expect(inner.received).toEqual([]);
    expect((await log(registry, id))[0]!.attempts).toMatchObject([
      { status: 307, error: 'The endpoint answered 307. Redirects are not followed.' },
    ]);
  });

  test('an endpoint that is no longer allowed is not connected to', async () => {
    const { registry, another, receiver, deliveries, id } = await begin();
    await deliveries.close();
    const next = { ...another(), config: createWorld(strict).registry.config };
    await publishVersion(registry, '1.0.0');
    await deliver(next).poke();
    expect(receiver.received).toEqual([]);
    expect((await log(registry, id))[0]!.attempts[0]!.error).toContain('must be an https URL');
  });

  test('an organization gets nothing of another', async () => {
    const { registry, deliveries, receiver } = await begin();
    const text = 'openapi: 3.1.0\ninfo: {title: Pay, version: "1.0.0"}\n';
    await publish(registry, {
      coordinate: { org: 'other', type: 'apis', slug: 'pay' },
      snapshot: snapshotOf(null, null, { 'api.yaml': text }),
      entry: 'api.yaml',
      version: null,
      onConflict: 'revise',
      latest: true,
      dryRun: false,
      create: { visibility: 'public' },
      author,
    });
    await deliveries.poke();
    expect(receiver.received).toEqual([]);
  });
});
