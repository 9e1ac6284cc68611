import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Device } from '../../src/registry/keys/personal-keys.ts';
import { createKey } from '../../src/registry/keys/keys.ts';
import { runHere } from '../cli/in-process.ts';
import { createBrowser, type Browser } from '../server/login/browser.ts';
import { comeBack, loginConfig, relyingParty } from '../server/login/harness.ts';
import { createTestRegistry, publishVersion, type TestRegistry } from '../server/registry.ts';
import { unlimited } from '../server/v1/api.ts';
import { openIdentityProvider } from '../servers/oidc.ts';
import { freePort } from '../servers/ports.ts';
import { hiddenIn, openConsole, ownPage } from './harness.ts';

const day = 24 * 60 * 60 * 1000;

/** A registry where bob publishes for acme and reads globex, ann administers acme, and eve globex. */
async function openWorld() {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const groups: Record<string, string[]> = { ann: ['admins'], bob: ['payments'], eve: ['strangers'] };
  const provider = await openIdentityProvider({ clients: [relyingParty(url)], groups });
  const organizations = {
    admins: [{ organization: 'acme', scopes: ['admin'] }],
    payments: [
      { organization: 'acme', scopes: ['publish'] },
      { organization: 'globex', scopes: ['read'] },
    ],
    strangers: [{ organization: 'globex', scopes: ['admin'] }],
  };
  const login = { ...loginConfig(port, provider.issuer), organizations: organizations as never };
  const registry = createTestRegistry({ ...unlimited, url, login });
  let later = 0;
  registry.now = registry.expiryTime = () => new Date(Date.now() + later);
  const server = await openConsole(registry, { port });
  return {
    url,
    issuer: provider.issuer,
    groups,
    registry,
    pass: (milliseconds: number) => void (later += milliseconds),
    async signIn(name: string): Promise<Browser> {
      const browser = createBrowser();
      await browser.request(await comeBack(browser, url, name));
      return browser;
    },
    async ask(key: string | null, method: string, path: string, body?: object, org = 'acme') {
      const headers = {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        'content-type': 'application/json',
        'stele-organization': org,
      };
      const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
      const text = await response.text();
      return { status: response.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, never> };
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

/** Sends a form of the console as its page does. */
async function send(browser: Browser, address: string, typed: Record<string, string> = {}) {
  const page = await browser.request(address);
  const body = new URLSearchParams({ ...hiddenIn(page.text), ...typed });
  return browser.request(address, { method: 'POST', body, headers: ownPage });
}

/** Makes a key on the console's page. */
async function makeKey(browser: Browser, url: string, scope: string, typed: Record<string, string> = {}) {
  const page = await send(browser, `${url}/console/-/keys/new`, { '/name': 'laptop', '/scopes': scope, ...typed });
  const key = /stele_[0-9a-z]{12}_[0-9A-Za-z]{38}/.exec(page.text)?.[0];
  if (key === undefined) throw new Error(`${page.status} ${page.text}`);
  return key;
}

async function waitingCode({ refs }: TestRegistry): Promise<string> {
  return vi.waitFor(async () => {
    const names = await Array.fromAsync(refs.list('devices/'));
    const waiting = [];
    for (const name of names)
      if ((await refs.read<Device>(name))?.value.decision === null) waiting.push(name.slice('devices/'.length));
    if (waiting.length === 0) throw new Error('Nothing waits.');
    return waiting[0]!;
  });
}

test('a personal key allows what its owner may do, in each organization, and no more than its scopes', async () => {
  await using world = await openWorld();
  const bob = await world.signIn('bob');
  const key = await makeKey(bob, world.url, 'admin');
  const create = { slug: 'pay', name: 'Pay' };
  expect((await world.ask(key, 'POST', '/v1/apis', create)).status).toBe(201);
  expect((await world.ask(key, 'GET', '/v1/keys')).status).toBe(403);
  expect((await world.ask(key, 'POST', '/v1/apis', create, 'globex')).status).toBe(403);
  expect((await world.ask(key, 'GET', '/v1/apis', undefined, 'globex')).status).toBe(200);
  expect((await world.ask(key, 'GET', '/v1/apis', undefined, 'other')).status).toBe(403);
  const reading = await makeKey(bob, world.url, 'read', { '/organizations': 'globex' });
  expect((await world.ask(reading, 'GET', '/v1/apis', undefined, 'globex')).status).toBe(200);
  expect((await world.ask(reading, 'GET', '/v1/apis')).status).toBe(403);
  await publishVersion(world.registry, '@acme/apis/secret', '1.0.0', { visibility: 'private' });
  const path = '/@acme/apis/secret';
  expect((await world.ask(key, 'GET', path)).status).toBe(200);
  // Private looks the same as absent.
  const hidden = await world.ask(reading, 'GET', path);
  const absent = await world.ask(reading, 'GET', '/@acme/apis/absent');
  expect([hidden.status, hidden.body['detail']]).toEqual([absent.status, absent.body['detail']]);
  expect(hidden.status).toBe(404);
});

test('who loses their group loses what their keys allow, with the next sign-in', async () => {
  await using world = await openWorld();
  const bob = await world.signIn('bob');
  const key = await makeKey(bob, world.url, 'publish');
  expect((await world.ask(key, 'GET', '/v1/apis')).status).toBe(200);
  world.groups['bob'] = [];
  expect((await world.ask(key, 'GET', '/v1/apis')).status).toBe(200);
  await world.signIn('bob');
  expect((await world.ask(key, 'GET', '/v1/apis')).status).toBe(403);
});

test('a key stops 30 days after its owner signed in, says so, and works again after they did', async () => {
  await using world = await openWorld();
  const bob = await world.signIn('bob');
  const key = await makeKey(bob, world.url, 'read');
  world.pass(29 * day);
  expect((await world.ask(key, 'GET', '/v1/apis')).status).toBe(200);
  world.pass(2 * day);
  const refused = await world.ask(key, 'GET', '/v1/apis');
  expect(refused.status).toBe(401);
  expect(refused.body['detail']).toMatch(
    /^This key works again when its owner has signed in: .* Sign in at http:.*\/login\.$/,
  );
  await world.signIn('bob');
  expect((await world.ask(key, 'GET', '/v1/apis')).status).toBe(200);
  world.pass(60 * day);
  await world.signIn('bob');
  const expired = await world.ask(key, 'GET', '/v1/apis');
  expect([expired.status, expired.body['detail']]).toEqual([
    401,
    'The credential is invalid. Check the key, or sign in again.',
  ]);
});

test('a token for feeds reads what its owner may read, in the URLs of feeds and nowhere else, until it is revoked', async () => {
  await using world = await openWorld();
  await publishVersion(world.registry, '@acme/apis/pay', '1.0.0', { visibility: 'private' });
  const bob = await world.signIn('bob');
  const key = await makeKey(bob, world.url, 'publish');
  const token = await makeKey(bob, world.url, 'publish', { '/use': 'feeds' });
  const feed = '/feeds/acme/apis/pay.json';
  expect(await world.ask(null, 'GET', `${feed}?token=${token}`)).toMatchObject({
    status: 200,
    body: { items: [{ title: 'pay 1.0.0' }] },
  });
  expect((await world.ask(null, 'GET', feed)).status).toBe(404);
  // Not the other way round, either: keys do not belong into URLs.
  expect((await world.ask(null, 'GET', `${feed}?token=${key}`)).status).toBe(401);
  expect((await world.ask(token, 'GET', feed)).status).toBe(401);
  expect((await world.ask(token, 'GET', '/v1/apis')).status).toBe(401);
  expect(await fetch(`${world.url}/llms.txt?token=${token}`).then((answer) => answer.text())).not.toContain(
    '@acme/apis/pay',
  );
  const id = token.split('_')[1]!;
  expect((await send(bob, `${world.url}/console/-/keys/${id}/revoke`)).status).toBe(303);
  expect((await world.ask(null, 'GET', `${feed}?token=${token}`)).status).toBe(401);
});

test('a key makes no keys, and a key of an organization has none of its own', async () => {
  await using world = await openWorld();
  const bob = await world.signIn('bob');
  const key = await makeKey(bob, world.url, 'publish');
  const body = { name: 'more', scopes: ['read'] };
  expect(await world.ask(key, 'POST', '/v1/me/keys', body)).toMatchObject({
    status: 403,
    body: { detail: expect.stringContaining('A key cannot make keys.') },
  });
  const { text } = await createKey(
    world.registry,
    { org: 'acme', name: 'ci', scopes: ['admin'] },
    { actor: 'operator:test', origin: null },
  );
  expect((await world.ask(text, 'GET', '/v1/me/keys')).status).toBe(403);
  expect((await world.ask(text, 'POST', '/v1/me/keys', body)).status).toBe(403);
  const mine = await world.ask(key, 'GET', '/v1/me/keys');
  expect(mine.body['items']).toMatchObject([{ name: 'laptop', person: `${world.issuer}#bob` }]);
  const [{ id }] = mine.body['items'] as unknown as [{ id: string }];
  expect((await world.ask(key, 'DELETE', `/v1/me/keys/${id}`)).status).toBe(204);
  expect((await world.ask(key, 'GET', '/v1/me/keys')).status).toBe(401);
});

test('administrators see and revoke the keys of their people, and of no others', async () => {
  await using world = await openWorld();
  const bob = await world.signIn('bob');
  const key = await makeKey(bob, world.url, 'publish', { '/organizations': 'acme' });
  const ann = await world.signIn('ann');
  const eve = await world.signIn('eve');
  const page = (await ann.request(`${world.url}/console/acme/keys`)).text;
  expect(page).toMatch(/laptop[^]*at most what [^]*bob[^]* may/);
  expect((await eve.request(`${world.url}/console/globex/keys`)).text).not.toContain('laptop');
  const id = key.split('_')[1]!;
  const org = { 'stele-organization': 'globex' };
  expect((await eve.request(`${world.url}/v1/keys/${id}`, { headers: org })).status).toBe(404);
  expect((await send(eve, `${world.url}/console/globex/keys/${id}/revoke`)).status).toBe(404);
  expect((await world.ask(key, 'GET', '/v1/apis')).status).toBe(200);
  expect((await send(ann, `${world.url}/console/acme/keys/${id}/revoke`)).status).toBe(303);
  expect((await world.ask(key, 'GET', '/v1/apis')).status).toBe(401);
  const audit = async (browser: Browser, of: string) => {
    const answer = await browser.request(`${world.url}/v1/audit`, { headers: { 'stele-organization': of } });
    const { items } = JSON.parse(answer.text) as {
      items: { action: string; actor: string; subject: { id: string } }[];
    };
    return items.flatMap(({ action, actor, subject }) => (subject.id === id ? [`${action} ${actor}`] : []));
  };
  expect(await audit(ann, 'acme')).toEqual([
    `revoke key user:${world.issuer}#ann`,
    `create key user:${world.issuer}#bob`,
  ]);
  expect(await audit(eve, 'globex')).toEqual([]);
});

test('stele login gets a key once its user has entered the code, keeps it to themselves, and logout revokes it', async () => {
  await using world = await openWorld();
  const folder = await mkdtemp(join(tmpdir(), 'stele-login-'));
  try {
    const env = { XDG_CONFIG_HOME: folder, NETRC: join(folder, 'none') };
    const there = ['--registry', world.url, '--json'];
    const logging = runHere(['login', '--scope', 'publish', '--name', 'ada-laptop', ...there], { env });
    const code = await waitingCode(world.registry);
    const bob = await world.signIn('bob');
    const place = `${world.url}/console/-/device`;
    const entered = await send(bob, place, { '/code': `${code.slice(0, 4)}-${code.slice(4)}` });
    const question = entered.headers.get('location')!;
    expect((await bob.request(new URL(question, place).href)).text).toMatch(/Give “ada-laptop” a key\?[^]*publish/);
    expect((await send(bob, new URL(question, place).href, { do: 'go' })).status).toBe(303);
    const ended = await logging;
    expect(ended).toMatchObject({ code: 0, stderr: expect.stringContaining(`enter the code`) });
    const { key, file } = JSON.parse(ended.stdout) as { key: string; file: string };
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await bob.request(`${world.url}/console/-/keys`)).text).toContain('ada-laptop');
    // The code was for once.
    expect((await bob.request(new URL(question, place).href)).status).toBe(404);

    const used = await runHere(['check', '--org', 'acme', ...there], { cwd: folder, env });
    expect(used.stderr).not.toContain('STELE_KEY');
    const out = await runHere(['logout', ...there], { env });
    expect(JSON.parse(out.stdout)).toEqual({ registry: world.url, revoked: key });
    expect((await bob.request(`${world.url}/console/-/keys`)).text).toMatch(/ada-laptop[^]*revoked/);
    expect((await runHere(['logout', ...there], { env })).code).not.toBe(0);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a code that is refused, unknown or too old gives no key, and neither does another secret', async () => {
  await using world = await openWorld();
  const { registry, url } = world;
  const bob = await world.signIn('bob');
  const asked = async () =>
    (await world.ask(null, 'POST', '/v1/devices', { name: 'tool' })).body as Record<string, string>;
  const take = async (deviceCode: string) => world.ask(null, 'POST', '/v1/devices/token', { deviceCode });
  const first = await asked();
  expect((await take(first['deviceCode']!)).body).toEqual({ state: 'pending' });
  await send(bob, `${url}/console/-/device?code=${first['userCode']}`, { do: 'check' });
  expect((await take(first['deviceCode']!)).body).toEqual({ state: 'refused' });

  const second = await asked();
  const [code] = second['deviceCode']!.split('.');
  expect((await take(`${code}.${'A'.repeat(32)}`)).status).toBe(404);
  await send(bob, `${url}/console/-/device?code=${second['userCode']}`, { do: 'go' });
  expect((await take(`${code}.${'A'.repeat(32)}`)).status).toBe(404);
  const both = await Promise.all([take(second['deviceCode']!), take(second['deviceCode']!)]);
  expect(both.map(({ status }) => status).sort()).toEqual([201, 404]);

  const third = await asked();
  world.pass(11 * 60 * 1000);
  expect((await take(third['deviceCode']!)).status).toBe(404);
  expect((await bob.request(`${url}/console/-/device?code=${third['userCode']}`)).status).toBe(404);
  expect((await take('nothing')).status).toBe(404);
  const keys = await Array.fromAsync(registry.refs.list('keys/'));
  expect(keys).toHaveLength(1);
});

test('without an identity provider nobody has keys of their own', async () => {
  await using server = await openConsole();
  const ann = await server.signIn();
  const asked = await fetch(`${server.url}/v1/devices`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"name":"tool"}',
  });
  expect(asked.status).toBe(404);
  expect((await ann.get('/console/-/keys')).status).toBe(404);
  expect((await ann.get('/account')).text).not.toContain('keys of your own');
});
