import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { openDeliveries } from '../../src/events/deliveries.ts';
import { unsubscribe, unsubscribePath, sendMail } from '../../src/events/try-mail.ts';
import { type Event, dueFor } from '../../src/model/event.ts';
import { testEvent } from '../../src/events/events.ts';
import { readEmail } from '../../src/server/login/provider.ts';
import { giveRights, takeRights } from '../../src/registry/keys/change-rights.ts';
import { noteSignIn } from '../../src/registry/keys/people.ts';
import { createWatch, listWatches, type NewWatch } from '../../src/registry/keys/watches.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { openMailServer, type MailServer } from '../servers/smtp.ts';
import { openApi } from '../server/v1/api.ts';
import { createTestRegistry, publishVersion, setStatus } from '../server/registry.ts';
import { approvalsRef } from '../../src/model/approval.ts';
import { deleteRecord } from '../../src/registry/lives.ts';
import { deploy, handbook, writeSite } from '../sites/server/site-world.ts';
import { reportConsumer } from '../../src/registry/graph/dependants.ts';

const url = 'https://registry.test';
const issuer = 'https://id.test';
const actor = `user:${issuer}#ada`;
const author = { actor, origin: null };

let server: MailServer;
beforeAll(async () => {
  server = await openMailServer();
});
beforeEach(() => void server.mails.splice(0));
afterAll(() => server[Symbol.asyncDispose]());

/** A registry whose Ada may read everything of acme, and has an address. */
async function open() {
  const secret = { env: 'NONE' };
  const registry = createTestRegistry({
    login: { issuer, clientId: 'x', clientSecret: secret, sessionSecret: secret },
    mail: { smtp: server.url, from: 'Stele <stele@registry.test>' },
  });
  const given = await giveRights(registry, 'acme', { person: `${issuer}#ada`, scopes: ['read'] }, author);
  await signIn(registry, registry.now());
  return { registry, given };
}

const signIn = (registry: Registry, at: Date) =>
  noteSignIn(registry, ['acme'], {
    actor,
    name: 'Ada',
    groups: [],
    email: 'ada@example.com',
    signedInAt: at.toISOString(),
  });

const watchOf = (given: Partial<NewWatch> = {}): NewWatch => ({
  org: 'acme',
  resources: ['apis/pay-*'],
  events: ['version.published', 'version.status-changed'],
  rhythm: 'once',
  ...given,
});

async function deliver(...registries: Registry[]): Promise<void> {
  const all = registries.map((registry) => openDeliveries(registry, url, { interval: 3_600_000 }));
  await Promise.all(all.map((each) => each.poke()));
  await Promise.all(all.map((each) => each.close()));
}

const later = (registry: Registry, hours: number): Registry => ({
  ...registry,
  now: () => new Date(Date.now() + hours * 3_600_000),
});

test('a person gets a mail about what they watch, once, however many processes there are', async () => {
  const { registry } = await open();
  await createWatch(registry, actor, watchOf(), author);
  await publishVersion(registry, '@acme/apis/pay-in', '1.0.0', { visibility: 'private' });
  await publishVersion(registry, '@acme/apis/ledger', '1.0.0');
  await deliver(registry, registry, registry);
  await deliver(registry);
  expect(server.mails).toHaveLength(1);
  const [{ from, to, headers, body }] = server.mails as [MailServer['mails'][0]];
  expect({ from, to }).toEqual({ from: 'stele@registry.test', to: ['ada@example.com'] });
  expect(headers.get('subject')).toBe('@acme/apis/pay-in@1.0.0 was published');
  expect(headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
  expect(headers.get('auto-submitted')).toBe('auto-generated');
  expect(body).toContain('https://registry.test/@acme/apis/pay-in@1.0.0');
  const link = /^<(https:\/\/registry\.test\/unsubscribe\?token=[\w-]+)>$/.exec(headers.get('list-unsubscribe')!)![1]!;
  expect(body).toContain(link);
  const token = new URL(link).searchParams.get('token')!;
  await unsubscribe(registry, token, null);
  await unsubscribe(registry, token, null);
  expect(await listWatches(registry, actor)).toEqual([]);
  await publishVersion(registry, '@acme/apis/pay-in', '1.1.0');
  await deliver(registry);
  expect(server.mails).toHaveLength(1);
  await expect(unsubscribe(registry, `${token.startsWith('A') ? 'B' : 'A'}${token.slice(1)}`, null)).rejects.toThrow(
    'not valid',
  );
});

test('the link in a mail asks first, and mail programs unsubscribe with one request', async () => {
  const { registry } = await open();
  const { id } = await createWatch(registry, actor, watchOf(), author);
  await using api = await openApi(registry);
  const path = unsubscribePath(registry, actor, id);
  const asked = await api.call('GET', path, { key: null });
  expect(asked.text).toContain(`<form method="post" action="${path}">`);
  expect(await listWatches(registry, actor)).toHaveLength(1);
  const body = 'List-Unsubscribe=One-Click';
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  expect((await api.call('POST', path, { key: null, raw: body, headers })).status).toBe(200);
  expect(await listWatches(registry, actor)).toEqual([]);
  expect((await api.call('POST', '/unsubscribe?token=x', { key: null, raw: body, headers })).status).toBe(404);
});

test('what the person may not read when the mail is sent is not in it', async () => {
  const { registry, given } = await open();
  await createWatch(registry, actor, watchOf({ resources: null }), author);
  await publishVersion(registry, '@acme/apis/secret', '1.0.0', { visibility: 'private' });
  await publishVersion(registry, '@acme/apis/open', '1.0.0', { visibility: 'public' });
  await takeRights(registry, 'acme', given.id, author);
  await deliver(registry);
  expect(server.mails.map(({ headers }) => headers.get('subject'))).toEqual(['@acme/apis/open@1.0.0 was published']);
});

test('what an entry makes and publishes is told, although the entry began before', async () => {
  const { registry } = await open();
  const slow = { ...registry, now: () => new Date(Date.now() + 1000) };
  await createWatch(registry, actor, watchOf({ resources: null, events: ['version.published', 'site.published'] }), author); // prettier-ignore
  await publishVersion(slow, '@acme/apis/open', '1.0.0');
  await writeSite(slow, { 'index.md': '# One' });
  await deploy(slow);
  await deliver(slow);
  expect(server.mails).toHaveLength(2);
});

describe('who may read a public contract, and no more, gets no mail', () => {
  const pay = { org: 'acme', type: 'apis', slug: 'pay' } as const;
  const scopes = ['read', 'publish'] as const;

  test.each(scopes)('of a version that waits for approval: %s', async (scope) => {
    const { registry } = await open();
    await giveRights(registry, 'acme', { person: `${issuer}#ada`, scopes: [scope] }, author);
    await publishVersion(registry, '@acme/apis/pay', '1.0.0');
    await createWatch(registry, actor, watchOf({ resources: null, events: ['approval.requested'] }), author);
    await registry.refs.update<unknown>(approvalsRef(pay), () => ({
      value: { held: [{ id: 'one', source: 'upload' }], decisions: [] },
      change: { ...author, action: 'hold' },
    }));
    await deliver(registry);
    expect(server.mails.map(({ body }) => body.includes('/console/acme/approvals/one'))).toEqual(
      scope === 'publish' ? [true] : [],
    );
  });

  test('of a private site whose name a public one has now', async () => {
    const { registry, given } = await open();
    await createWatch(registry, actor, watchOf({ resources: null, events: ['site.published'] }), author);
    await writeSite(registry, { 'index.md': '# One' }, { visibility: 'private' });
    await deploy(registry);
    await deleteRecord(registry, { ...handbook, type: 'sites' }, author);
    await writeSite(registry, { 'index.md': '# Two' });
    await takeRights(registry, 'acme', given.id, author);
    await deliver(registry);
    expect(server.mails).toEqual([]);
    await deploy(registry);
    await deliver(registry);
    expect(server.mails).toHaveLength(1);
  });

  test.each([true, false])('of what its source does: a member %s', async (isMember) => {
    const { registry, given } = await open();
    await publishVersion(registry, '@acme/apis/pay', '1.0.0');
    const watch = watchOf({ resources: null, events: ['sync.failed', 'source.detached'] });
    await createWatch(registry, actor, watch, author);
    const document = { resource: '@acme/apis/pay', blobs: {}, detail: 'The address was not ready.' };
    for (const outcome of ['rejected', 'detached'])
      await registry.refs.update<unknown>('repositories/acme/one', () => ({
        value: { url: 'https://git.test/acme/apis.git', documents: { 'pay.yaml': { ...document, outcome } } },
        change: { ...author, action: 'sync' },
      }));
    if (!isMember) await takeRights(registry, 'acme', given.id, author);
    await deliver(registry);
    expect(server.mails.filter(({ body }) => body.includes('not ready'))).toHaveLength(isMember ? 2 : 0);
  });

  test.each(['acme', 'shop'])(
    'of what affects consumers of an organization that they may not read: %s',
    async (org) => {
      const { registry } = await open();
      const { version } = await publishVersion(registry, '@acme/apis/pay', '1.0.0');
      const contract = { contract: '@acme/apis/pay', range: '^1', version: '1.0.0', digest: version.manifest };
      await reportConsumer(registry, org, 'takeover', [contract], author);
      await createWatch(registry, actor, watchOf({ org, resources: null, events: ['consumer.affected'] }), author);
      const since = new Date().toISOString();
      const ended = { state: 'deprecated', reason: 'Old', since } as const;
      await setStatus(registry, '@acme/apis/pay', '1.0.0', ended);
      await deliver(registry);
      expect(server.mails.filter(({ body }) => body.includes('takeover'))).toHaveLength(org === 'acme' ? 1 : 0);
    },
  );
});

test('a watch on a hidden organization is answered exactly as one on an absent organization', async () => {
  const { registry } = await open();
  await publishVersion(registry, '@hidden/apis/plan', '1.0.0', { visibility: 'private' });
  await using api = await openApi(registry);
  const key = await api.makeKey({ org: null, person: actor });
  const told = async (organization: string) => {
    const body = { organization, resources: ['apis/plan'], events: ['version.published'], rhythm: 'once' };
    const { status, headers, text, json } = await api.call('POST', '/v1/me/watches', { key, body });
    const fields = [...headers].filter(([name]) => !['date', 'x-request-id', 'ratelimit'].includes(name));
    const bytes = text.replace(organization, '').replace(String(json['id']), '').replace(String(json['createdAt']), '');
    return { status, fields, bytes };
  };
  const hidden = await told('hidden');
  expect(hidden.status).toBe(201);
  expect(hidden).toEqual(await told('absent'));
  await publishVersion(registry, '@hidden/apis/plan', '1.1.0', { visibility: 'private' });
  await deliver(registry);
  expect(server.mails).toEqual([]);
});

test('rights of a sign-in that is too long ago do not count', async () => {
  const { registry } = await open();
  await signIn(registry, new Date(Date.now() - 31 * 24 * 3_600_000));
  await createWatch(registry, actor, watchOf(), author);
  await publishVersion(registry, '@acme/apis/pay-in', '1.0.0', { visibility: 'private' });
  await deliver(registry);
  expect(server.mails).toEqual([]);
});

test('a digest is one mail of a day, of all that is still readable', async () => {
  const { registry } = await open();
  await createWatch(registry, actor, watchOf({ resources: null, rhythm: 'daily' }), author);
  for (const label of ['1.0.0', '1.1.0']) await publishVersion(registry, '@acme/apis/pay-in', label);
  await publishVersion(registry, '@acme/schemas/money', '1.0.0');
  await deliver(registry);
  expect(server.mails).toEqual([]);
  await deliver(later(registry, 25), later(registry, 25));
  expect(server.mails).toHaveLength(1);
  expect(server.mails[0]!.headers.get('subject')).toBe('3 changes of contracts you watch');
  for (const name of ['pay-in@1.0.0', 'pay-in@1.1.0', 'money@1.0.0']) expect(server.mails[0]!.body).toContain(name);
  await deliver(later(registry, 26));
  expect(server.mails).toHaveLength(1);
});

test('a mail that is not taken is sent later', async () => {
  const { registry } = await open();
  await createWatch(registry, actor, watchOf(), author);
  await publishVersion(registry, '@acme/apis/pay-in', '1.0.0');
  server.setRefusing(true);
  await deliver(registry);
  server.setRefusing(false);
  expect(server.mails).toEqual([]);
  await deliver(later(registry, 1));
  expect(server.mails).toHaveLength(1);
});

test('a mail that is not taken is logged once with why, and again when it never was', async () => {
  const { registry } = await open();
  await createWatch(registry, actor, watchOf(), author);
  await publishVersion(registry, '@acme/apis/pay-in', '1.0.0');
  server.setRefusing(true);
  const logged: string[] = [];
  // Each later than the longest pause after the one before.
  for (const hours of [0, 1, 2, 3, 6, 13, 26, 43, 68, 98])
    await deliver({
      ...later(registry, hours),
      log: (_level, message, fields) => void logged.push(`${message}: ${fields!['error'] as string}`),
    });
  server.setRefusing(false);
  expect(server.mails).toEqual([]);
  const why = 'The mail server answered 450 to DATA.';
  expect(logged).toEqual([`mail not taken: ${why}`, `delivery failed: ${why}`]);
});

test('a mail server that never comes to an end of its answer is waited for no longer than a mail may take', async () => {
  const late = new AbortController();
  const talking = createServer((socket) => {
    socket.write('220 hello\r\n');
    socket.once('data', () => {
      socket.write('250-and\r\n');
      late.abort();
    });
    socket.on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(talking, 'listening');
  onTestFinished(() => void talking.close());
  const { port } = talking.address() as AddressInfo;
  const time = '2026-11-01T00:00:00Z';
  const event = testEvent('https://r.test', 'acme', 'x', new Date(time));
  const news = { to: 'a@example.com', events: [event], unsubscribe: 'https://r.test/u', manage: 'https://r.test/m' };
  const config = { smtp: `smtp://127.0.0.1:${port}`, from: 'stele@example.com' };
  const { error } = await sendMail({ now: () => new Date(time) }, config, news, late.signal);
  expect(error).toBe('The mail server did not take the mail in time.');
});

test('names that people publish add no header to a mail', async () => {
  const { registry } = await open();
  const bad = 'x\r\nBcc: eve@example.com\r\n\r\n<b>injected</b>';
  const event: Event = {
    ...testEvent(url, 'acme', 'id1', registry.now()),
    type: 'dev.stele.version.status-changed',
    subject: `@acme/apis/pay${bad}`,
    data: { status: { state: 'yanked', reason: bad } },
  };
  const links = { unsubscribe: `${url}/unsubscribe?token=a`, manage: url };
  const sent = await sendMail(registry, registry.config.mail!, { to: 'ada@example.com', events: [event], ...links });
  expect(sent.error).toBeNull();
  const [{ headers, to }] = server.mails as [MailServer['mails'][0]];
  expect(to).toEqual(['ada@example.com']);
  expect([...headers.keys()]).not.toContain('bcc');
  expect(headers.get('subject')).toBe('@acme/apis/payx Bcc: eve@example.com <b>injected</b> is yanked');
  expect(headers.get('content-type')).toMatch(/^text\/plain/);
});

test.each(['a@example.com\r\nBcc: eve@example.com', 'a@b', '"a b"@example.com', 'a@example.com, eve@example.com', ''])(
  'the address %j is not taken from an identity provider',
  (email) => {
    expect(readEmail({ email })).toBeNull();
    expect(readEmail({ email: 'ada@example.com', email_verified: false })).toBeNull();
    expect(readEmail({ email: 'ada@example.com' })).toBe('ada@example.com');
  },
);

test.each([
  ['2026-11-27T05:59:59Z', 'daily', '2026-11-27T06:00:00.000Z'],
  ['2026-11-27T06:00:00Z', 'daily', '2026-11-28T06:00:00.000Z'],
  ['2026-11-27T12:00:00Z', 'weekly', '2026-11-30T06:00:00.000Z'],
  ['2026-11-30T05:00:00Z', 'weekly', '2026-11-30T06:00:00.000Z'],
  ['2026-11-30T07:00:00Z', 'weekly', '2026-12-07T06:00:00.000Z'],
] as const)('an event at %s is due %s at %s', (time, rhythm, due) => {
  expect(new Date(dueFor({ rhythm }, Date.parse(time))).toISOString()).toBe(due);
});
