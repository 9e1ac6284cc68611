import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatCoordinate } from '../../../src/model/address.ts';
import { publish } from '../../../src/registry/publish.ts';
import { createLogin } from '../../../src/server/login/login.ts';
import { createWorld, snapshotOf } from '../../registry/world.ts';
import { openIdentityProvider, type IdentityProvider } from '../../servers/oidc.ts';
import { createBrowser, type Browser } from './browser.ts';
import { comeBack, openLoginServer, relyingParty, type LoginServer } from './harness.ts';

const coordinate = { org: 'acme', type: 'apis', slug: 'pay' } as const;
const path = `/${formatCoordinate(coordinate)}`;

let provider: IdentityProvider;
let server: LoginServer;

beforeAll(async () => {
  server = await openLoginServer({
    async issuer(url) {
      const groups = { ann: ['staff', 'others'], bob: ['others'], root: ['admins', 'staff'] };
      provider = await openIdentityProvider({ clients: [relyingParty(url)], groups });
      return provider.issuer;
    },
  });
  await publish(server.world.registry, {
    coordinate,
    snapshot: snapshotOf(null, null, { 'api.yaml': 'openapi: 3.1.0\ninfo: {title: Pay, version: "1.0.0"}' }),
    entry: 'api.yaml',
    version: null,
    onConflict: 'revise',
    latest: true,
    dryRun: false,
    create: { visibility: 'private' },
    author: { actor: 'operator:test', origin: null },
  });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

async function signIn(
  browser: Browser,
  login: string,
  returnTo = '/',
): Promise<{ status: number; location: string | null }> {
  const page = await browser.request(await comeBack(browser, server.url, login, returnTo));
  return { status: page.status, location: page.headers.get('Location') };
}

async function signOut(browser: Browser, headers: Record<string, string> = { 'Sec-Fetch-Site': 'same-origin' }) {
  return browser.request(`${server.url}/logout`, { method: 'POST', headers });
}

async function statusOf(browser: Browser, target = path): Promise<number> {
  return (await browser.request(server.url + target)).status;
}

describe('signing in', () => {
  test('shows what is private, and comes back to it', async () => {
    const browser = createBrowser();
    expect(await statusOf(browser)).toBe(404);
    expect(await signIn(browser, 'ann', path)).toEqual({ status: 303, location: server.url + path });
    expect(await statusOf(browser)).toBe(200);
    expect(await statusOf(browser, '/@acme/apis/other')).toBe(404);
    expect([...browser.cookies('localhost').keys()].filter((name) => name.startsWith('__Host-'))).toEqual([
      '__Host-stele-session',
    ]);
  });

  test('sends the provider all that protects the flow', async () => {
    const page = await createBrowser().request(`${server.url}/login?returnTo=/a`);
    expect(page.status).toBe(303);
    expect(page.headers.get('Cache-Control')).toBe('no-store');
    const { searchParams } = new URL(page.headers.get('Location')!);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      client_id: 'stele',
      redirect_uri: `${server.url}/login/callback`,
      scope: 'openid profile groups',
      code_challenge_method: 'S256',
    });
    for (const name of ['state', 'nonce', 'code_challenge']) expect(searchParams.get(name)!.length).toBeGreaterThan(40);
    for (const cookie of page.headers.getSetCookie()) {
      expect(cookie).toMatch(/^__Host-stele-login-\w+=/);
      expect(cookie).toMatch(/; Max-Age=600; Path=\/; .*HttpOnly; Secure; SameSite=Lax$/);
    }
  });

  test('gives the session cookie every wall it can have', async () => {
    const browser = createBrowser();
    const page = await browser.request(await comeBack(browser, server.url, 'ann'));
    const cookie = page.headers.getSetCookie().find((line) => line.startsWith('__Host-stele-session='));
    expect(cookie).toMatch(/; Max-Age=28800; Path=\/; .*HttpOnly; Secure; SameSite=Lax$/);
    expect(cookie).not.toContain('Domain');
    expect(page.headers.get('Cache-Control')).toBe('no-store');
  });

  test('makes the user of issuer and subject, with what the groups give', async () => {
    const browser = createBrowser();
    await signIn(browser, 'root');
    const signIns = createLogin({ ...server.world.registry, url: server.url })!;
    const cookie = `__Host-stele-session=${browser.cookies('localhost').get('__Host-stele-session')}`;
    expect(await signIns.readSession(Object.assign(Object.create(null), { headers: { cookie } }))).toMatchObject({
      principal: {
        kind: 'user',
        id: `${provider.issuer}#root`,
        organizations: {
          acme: [
            { scopes: ['admin'], resources: null },
            { scopes: ['publish'], resources: null },
          ],
          globex: [{ scopes: ['read'], resources: null }],
        },
      },
    });
  });

  test('is refused, with the reason, to who belongs to no organization', async () => {
    const browser = createBrowser();
    const page = await browser.request(await comeBack(browser, server.url, 'bob'));
    expect(page.status).toBe(403);
    expect(page.text).toContain('no access to any organization');
    expect(browser.cookies('localhost').has('__Host-stele-session')).toBe(false);
  });

  test('works in several tabs at once, whichever comes back first', async () => {
    const browser = createBrowser();
    const first = await comeBack(browser, server.url, 'ann', '/first');
    const second = await browser.until(`${server.url}/login?returnTo=/second`, `${server.url}/login/callback`);
    expect((await browser.request(second)).headers.get('Location')).toBe(`${server.url}/second`);
    expect((await browser.request(first)).headers.get('Location')).toBe(`${server.url}/first`);
  });

  test('leaves no more than four unfinished sign-ins in a browser', async () => {
    const browser = createBrowser();
    for (let count = 0; count < 7; count++) {
      await browser.request(`${server.url}/login`);
      server.world.pass(1);
    }
    expect([...browser.cookies('localhost').keys()].filter((name) => name.includes('-login-'))).toHaveLength(4);
  });

  test('that the provider did not grant is 401', async () => {
    const browser = createBrowser();
    const page = await browser.open(`${server.url}/login`);
    const end = await browser.open(page.url, {
      method: 'POST',
      body: new URLSearchParams({ cancel: 'yes', login: '' }),
    });
    expect(end.status).toBe(401);
    expect(end.text).toContain('denied access');
  });

  test('ends after its lifetime, whatever happens', async () => {
    const browser = createBrowser();
    await signIn(browser, 'ann');
    server.world.pass(28_799_000);
    expect(await statusOf(browser)).toBe(200);
    server.world.pass(1_000);
    expect(await statusOf(browser)).toBe(404);
    server.world.step(-3_600_000);
    expect(await statusOf(browser)).toBe(404);
    server.world.step(3_600_000);
  });

  test.each(['//evil.test', '/\\evil.test', 'https://evil.test', '/%2f/evil.test', '/%0d%0a', '/login'])(
    'does not go to %s afterwards',
    async (returnTo) => {
      const page = await createBrowser().request(`${server.url}/login?returnTo=${encodeURIComponent(returnTo)}`);
      expect(page.status).toBe(400);
      expect(page.headers.get('Location')).toBeNull();
    },
  );

  test('takes one returnTo, not two', async () => {
    expect(await statusOf(createBrowser(), '/login?returnTo=/a&returnTo=/b')).toBe(400);
  });

  test.each([
    ['POST', '/login', 'GET, HEAD'],
    ['DELETE', '/login/callback', 'GET, HEAD'],
    ['GET', '/logout', 'POST'],
  ])('%s %s is 405 and says what is allowed', async (method, target, allow) => {
    const page = await createBrowser().request(server.url + target, { method });
    expect([page.status, page.headers.get('Allow')]).toEqual([405, allow]);
  });
});

describe('signing out', () => {
  test('ends the session here and goes on to the provider', async () => {
    const browser = createBrowser();
    await signIn(browser, 'ann');
    const page = await signOut(browser);
    expect(page.status).toBe(200);
    const onwards = new URL(page.headers.get('Refresh')!.replace('0;url=', ''));
    expect(onwards.origin + onwards.pathname).toBe(`${provider.issuer}/session/end`);
    expect(onwards.searchParams.get('post_logout_redirect_uri')).toBe(`${server.url}/`);
    expect(onwards.searchParams.get('id_token_hint')).toBeTruthy();
    expect((await browser.request(onwards.href)).text).toContain('Sign out');
    expect(browser.cookies('localhost').has('__Host-stele-session')).toBe(false);
    expect(await statusOf(browser)).toBe(404);
  });

  test('ends it for a copy of the cookie too, in every process', async () => {
    const browser = createBrowser();
    await signIn(browser, 'ann');
    const thief = createBrowser();
    thief.setCookie('localhost', '__Host-stele-session', browser.cookies('localhost').get('__Host-stele-session')!);
    expect(await statusOf(thief)).toBe(200);
    const registry = server.world.another();
    const other = createLogin({ ...registry, url: server.url })!;
    const headers = { cookie: `__Host-stele-session=${thief.cookies('localhost').get('__Host-stele-session')}` };
    const request = Object.assign(Object.create(null), { headers });
    expect(await other.readSession(request)).not.toBeNull();
    await signOut(browser);
    expect(await statusOf(thief)).toBe(404);
    server.world.pass(1000);
    expect(await other.readSession(request)).toBeNull();
  });

  test.each([
    [{ 'Sec-Fetch-Site': 'cross-site' }],
    [{ 'Sec-Fetch-Site': 'same-site' }],
    [{ Origin: 'https://evil.test' }],
    [{ Origin: 'null' }],
    [{}],
  ])('is not for other sites: %j', async (headers) => {
    const browser = createBrowser();
    await signIn(browser, 'ann');
    expect((await signOut(browser, headers as Record<string, string>)).status).toBe(403);
    expect(await statusOf(browser)).toBe(200);
  });

  test('works from a browser that sends only the origin', async () => {
    const browser = createBrowser();
    await signIn(browser, 'ann');
    expect((await signOut(browser, { Origin: server.url })).status).toBe(200);
    expect(await statusOf(browser)).toBe(404);
  });

  test('without a session goes home', async () => {
    const page = await signOut(createBrowser());
    expect([page.status, page.headers.get('Location')]).toEqual([303, `${server.url}/`]);
  });
});

describe('a registry', () => {
  const secrets = { clientSecret: { env: 'A_SECRET' }, sessionSecret: { env: 'B_SECRET' } };

  function create(url: string, issuer: string, secret = 'x'.repeat(32)) {
    process.env['A_SECRET'] = 'a';
    process.env['B_SECRET'] = secret;
    const { registry } = createWorld({ login: { issuer, clientId: 'x', ...secrets } });
    return createLogin({ ...registry, url });
  }

  test('without login in its configuration has none', () => {
    expect(createLogin({ ...createWorld().registry, url: 'http://registry.test' })).toBeNull();
  });

  test.each(['https://registry.test', 'http://localhost:7700', 'http://127.0.0.1:7700', 'http://[::1]:7700'])(
    'at %s can have sign-in',
    (url) => {
      expect(create(url, 'https://id.test')!.signInUrl('/@acme/apis/pay?format=json')).toBe(
        '/login?returnTo=%2F%40acme%2Fapis%2Fpay%3Fformat%3Djson',
      );
    },
  );

  test.each(['http://registry.test', 'http://localhost.evil.test', 'http://127.0.0.1.evil.test', 'http://10.0.0.1'])(
    'at %s cannot, and says so',
    (url) => {
      expect(() => create(url, 'https://id.test')).toThrow('login needs an https url');
    },
  );

  test('refuses an issuer without https, and secrets that are short or not set', () => {
    expect(() => create('https://registry.test', 'http://id.test')).toThrow('must be an https URL');
    expect(() => create('https://registry.test', 'https://id.test', 'short')).toThrow('at least 32 characters');
    expect(() => create('https://registry.test', 'https://id.test', '')).toThrow('B_SECRET');
  });

  test('sends to plain sign-in from where nobody can be sent back to', () => {
    expect(create('https://registry.test', 'https://id.test')!.signInUrl('//evil.test')).toBe('/login');
  });
});
