import { UnsecuredJWT, SignJWT, type JWTPayload } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createBrowser, type Browser, type Page } from './browser.ts';
import { clientId, openLoginServer, type LoginServer } from './harness.ts';
import { openIssuer, type Issuer } from './issuer.ts';

let issuer: Issuer;
let server: LoginServer;

beforeAll(async () => {
  issuer = await openIssuer();
  server = await openLoginServer({ issuer: issuer.issuer });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await issuer[Symbol.asyncDispose]();
});

const tokens = { access_token: 'access', token_type: 'Bearer' };
const seconds = () => Math.floor(Date.now() / 1000);

function claimsOf(nonce: string): JWTPayload & { groups?: unknown } {
  return {
    iss: issuer.issuer,
    sub: 'ann',
    aud: clientId,
    nonce,
    iat: seconds(),
    exp: seconds() + 60,
    groups: ['staff'],
  };
}

function without(claims: JWTPayload, name: string): JWTPayload {
  return Object.fromEntries(Object.entries(claims).filter(([key]) => key !== name));
}

/** The provider answers the code with this ID token. */
function answerWith(make: (claims: JWTPayload) => Promise<string> | string): void {
  issuer.answer = async (nonce) => ({ body: { ...tokens, id_token: await make(claimsOf(nonce)) } });
}

beforeEach(() => {
  answerWith((claims) => issuer.sign(claims));
});

/** Begins a sign-in and answers the callback URL, not yet opened. */
async function begin(browser: Browser, at: LoginServer = server): Promise<URL> {
  return new URL(await browser.until(`${at.url}/login?returnTo=/home`, `${at.url}/login/callback`));
}

/** The status of a proper refusal: a problem document that leads nowhere, and no session. Else what is wrong with it. */
function refusalOf(browser: Browser, page: Page): number | string {
  const isProblem = page.headers.get('Content-Type') === 'application/problem+json';
  const hasSession = browser.cookies('localhost').has('__Host-stele-session');
  if (isProblem && page.headers.get('Location') === null && !hasSession) return page.status;
  return `${page.status} ${page.headers.get('Location') ?? ''} ${hasSession ? 'with a session' : ''} ${page.text}`;
}

/** Signs in, with a callback that was changed on its way, and answers how that was refused. */
async function attempt(change: (callback: URL) => void = () => {}): Promise<number | string> {
  const browser = createBrowser();
  const callback = await begin(browser);
  change(callback);
  return refusalOf(browser, await browser.request(callback.href));
}

test('what is not forged is let in', async () => {
  const browser = createBrowser();
  const page = await browser.request((await begin(browser)).href);
  expect([page.status, page.headers.get('Location')]).toEqual([303, `${server.url}/home`]);
});

describe('the callback is refused', () => {
  test.each<[string, (callback: URL) => void]>([
    ['without state', ({ searchParams }) => searchParams.delete('state')],
    ['with an empty state', ({ searchParams }) => searchParams.set('state', '')],
    [
      'with a state of one more character',
      ({ searchParams }) => searchParams.set('state', `${searchParams.get('state')}x`),
    ],
    ['with the state of nobody', ({ searchParams }) => searchParams.set('state', 'a.b')],
    ['with two states', ({ searchParams }) => searchParams.append('state', searchParams.get('state')!)],
    ['with a state that names another cookie', ({ searchParams }) => searchParams.set('state', '../session')],
    ['with a very long state', ({ searchParams }) => searchParams.set('state', 'x'.repeat(8000))],
    ['without anything', (callback) => (callback.search = '')],
    ['with what is no query', (callback) => (callback.search = '?%%%=%&&&=')],
  ])('%s', async (_name, change) => {
    expect(await attempt(change)).toBe(400);
  });

  test.each<[string, (callback: URL) => void]>([
    ['without a code', ({ searchParams }) => searchParams.delete('code')],
    ['with two codes', ({ searchParams }) => searchParams.append('code', 'other')],
    ['from another issuer (mix-up)', ({ searchParams }) => searchParams.set('iss', 'https://evil.test')],
    ['with an error of the provider', ({ searchParams }) => searchParams.set('error', 'access_denied')],
    ['with an error of any text', ({ searchParams }) => searchParams.set('error', '<script>alert(1)</script>')],
  ])('%s', async (_name, change) => {
    expect(await attempt(change)).toBe(401);
  });

  test('and what it says holds nothing of what came with it', async () => {
    const browser = createBrowser();
    const callback = await begin(browser);
    callback.searchParams.set('error', '<script>alert(1)</script>');
    callback.searchParams.set('error_description', 'come to evil.test');
    expect((await browser.request(callback.href)).text).not.toMatch(/script|evil/);
  });

  test('in a browser that did not begin it', async () => {
    const callback = await begin(createBrowser());
    const other = createBrowser();
    expect(refusalOf(other, await other.request(callback.href))).toBe(400);
    await begin(other);
    expect(refusalOf(other, await other.request(callback.href))).toBe(400);
  });

  test('with the code of another sign-in', async () => {
    const victim = createBrowser();
    const callback = await begin(victim);
    // The attacker's own sign-in; what the provider gives for its code carries the attacker's nonce.
    const attacker = createBrowser();
    await begin(attacker);
    expect(refusalOf(victim, await victim.request(callback.href))).toBe(401);
  });

  test('the second time', async () => {
    const browser = createBrowser();
    const callback = await begin(browser);
    expect((await browser.request(callback.href)).status).toBe(303);
    const again = await browser.request(callback.href);
    expect([again.status, again.headers.get('Location')]).toEqual([400, null]);
  });

  test('after ten minutes', async () => {
    const browser = createBrowser();
    const callback = await begin(browser);
    server.world.pass(600_000);
    expect(refusalOf(browser, await browser.request(callback.href))).toBe(400);
  });

  test('with the sign-in cookie of another registry', async () => {
    await using other = await openLoginServer({ issuer: issuer.issuer });
    const browser = createBrowser();
    const callback = await begin(browser, other);
    expect(refusalOf(browser, await browser.request(server.url + callback.pathname + callback.search))).toBe(400);
  });

  test('with a session cookie in place of the sign-in cookie', async () => {
    const browser = createBrowser();
    await browser.request((await begin(browser)).href);
    const session = browser.cookies('localhost').get('__Host-stele-session')!;
    const callback = await begin(browser);
    const [name] = [...browser.cookies('localhost').keys()].filter((key) => key.includes('-login-'));
    browser.setCookie('localhost', name!, session);
    expect((await browser.request(callback.href)).status).toBe(400);
  });
});

describe('an ID token is refused', () => {
  test.each<[string, (claims: JWTPayload) => JWTPayload]>([
    ['that is over', (claims) => ({ ...claims, exp: seconds() - 60 })],
    ['that is over in the farthest past', (claims) => ({ ...claims, exp: 0 })],
    ['without an end', (claims) => without(claims, 'exp')],
    ['from the future', (claims) => ({ ...claims, nbf: seconds() + 600 })],
    ['for another client', (claims) => ({ ...claims, aud: 'other' })],
    ['for several clients, of another', (claims) => ({ ...claims, aud: [clientId, 'other'], azp: 'other' })],
    ['for nobody', (claims) => without(claims, 'aud')],
    ['of another issuer', (claims) => ({ ...claims, iss: 'https://evil.test' })],
    ['of no issuer', (claims) => without(claims, 'iss')],
    ['of nobody', (claims) => without(claims, 'sub')],
    ['with another nonce', (claims) => ({ ...claims, nonce: 'other' })],
    ['without a nonce', (claims) => without(claims, 'nonce')],
    ['without a time of issue', (claims) => without(claims, 'iat')],
    ['whose subject is no text', (claims) => ({ ...claims, sub: 1 as unknown as string })],
  ])('%s', async (_name, change) => {
    answerWith((claims) => issuer.sign(change(claims)));
    expect(await attempt()).toBe(401);
  });

  test.each<[string, (claims: JWTPayload) => Promise<string> | string]>([
    ['without a signature', (claims) => new UnsecuredJWT(claims).encode()],
    ['signed by another, under the same key id', (claims) => issuer.sign(claims, { strange: true })],
    [
      'signed with the secret that the client has',
      (claims) =>
        new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode('x'.repeat(40))),
    ],
    ['whose claims were changed', async (claims) => changeClaims(await issuer.sign(claims), { sub: 'root' })],
    ['whose signature was cut off', async (claims) => (await issuer.sign(claims)).replace(/[^.]*$/, '')],
    ['that is no token', () => 'a.b.c'],
    ['that is empty', () => ''],
  ])('%s', async (_name, make) => {
    answerWith(make);
    expect(await attempt()).toBe(401);
  });

  test('without a signature, also from a provider that says that it gives such', async () => {
    issuer.metadata = { id_token_signing_alg_values_supported: ['none', 'HS256', 'RS256'] };
    await using other = await openLoginServer({ issuer: issuer.issuer });
    issuer.metadata = {};
    const forged = (claims: JWTPayload) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256' })
        .sign(new TextEncoder().encode('the secret of the client'));
    for (const make of [forged, (claims: JWTPayload) => new UnsecuredJWT(claims).encode()]) {
      answerWith(make);
      const browser = createBrowser();
      expect(refusalOf(browser, await browser.request((await begin(browser, other)).href))).toBe(401);
    }
  });

  test('that did not come at all', async () => {
    issuer.answer = async () => ({ body: tokens });
    expect(await attempt()).toBe(401);
  });

  test('and the log says why', async () => {
    answerWith((claims) => issuer.sign({ ...claims, aud: 'other' }));
    server.world.events.length = 0;
    expect(await attempt()).toBe(401);
    const told = server.world.events.find(({ event }) => event === 'sign-in refused');
    expect(JSON.stringify(told)).toContain('aud');
  });
});

function changeClaims(token: string, change: Record<string, unknown>): string {
  const [header, payload, signature] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload!, 'base64url').toString()) as Record<string, unknown>;
  return [header, Buffer.from(JSON.stringify({ ...claims, ...change })).toString('base64url'), signature].join('.');
}

describe('userinfo', () => {
  test('gives the groups that the ID token lacks', async () => {
    answerWith((claims) => issuer.sign(without(claims, 'groups')));
    issuer.userinfo = { sub: 'ann', groups: ['staff'] };
    const browser = createBrowser();
    expect((await browser.request((await begin(browser)).href)).status).toBe(303);
  });

  test('of somebody else is refused', async () => {
    answerWith((claims) => issuer.sign(without(claims, 'groups')));
    issuer.userinfo = { sub: 'root', groups: ['admins'] };
    expect(await attempt()).toBe(401);
  });
});

describe('a session cookie', () => {
  async function session(at: LoginServer = server): Promise<string> {
    const browser = createBrowser();
    await browser.request((await begin(browser, at)).href);
    return browser.cookies('localhost').get('__Host-stele-session')!;
  }

  /** Signing out tells who has a session: it goes on to the provider or, where there is none, home. */
  async function isSession(value: string, more = ''): Promise<boolean> {
    const headers = { Cookie: `__Host-stele-session=${value}${more}`, 'Sec-Fetch-Site': 'same-origin' };
    const response = await fetch(`${server.url}/logout`, { method: 'POST', headers, redirect: 'manual' });
    expect([200, 303]).toContain(response.status);
    return server.world.events.some(({ event }) => event === 'signed out') && (server.world.events.length = 0) === 0;
  }

  test('that is ours is taken', async () => {
    server.world.events.length = 0;
    expect(await isSession(await session())).toBe(true);
  });

  test('is invalid when it was changed, cut, doubled, too long or another registry’s', async () => {
    await using other = await openLoginServer({ issuer: issuer.issuer });
    const ours = await session();
    const theirs = await session(other);
    server.world.events.length = 0;
    const bytes = Buffer.from(ours, 'base64url');
    const forgedTag = Buffer.concat([bytes.subarray(0, 12), bytes.subarray(12, 28).toReversed(), bytes.subarray(28)]);
    const [iv, tag, text] = [bytes.subarray(0, 12), bytes.subarray(12, 28), bytes.subarray(28)].map((part) =>
      Buffer.from(part).toString('base64url'),
    );
    const forged = [
      '',
      'x',
      theirs,
      ours.slice(0, -2),
      `${ours}x`,
      forgedTag.toString('base64url'),
      [Buffer.from('{"alg":"none"}').toString('base64url'), '', iv, text, tag].join('.'),
      [Buffer.from('{"alg":"dir","enc":"none"}').toString('base64url'), '', iv, text, tag].join('.'),
      'x'.repeat(4001),
      '%00%ff',
      '"',
    ];
    for (const value of forged) expect([value, await isSession(value)]).toEqual([value, false]);
    expect(await isSession(ours, '; __Host-stele-session=x')).toBe(false);
    expect(await isSession(ours, `; __Host-stele-session=${ours}`)).toBe(false);
    expect(await isSession(ours)).toBe(true);
  });

  test('holds as many groups as fit, and says so when they do not', async () => {
    const groups = Array.from({ length: 300 }, (_, number) => `group-with-a-rather-long-name-${number}`);
    const organizations = Object.fromEntries(
      groups.map((group) => [group, [{ organization: 'acme', scopes: ['read' as const] }]]),
    );
    await using many = await openLoginServer({ issuer: issuer.issuer, login: { organizations } });
    const browser = createBrowser();
    answerWith((claims) => issuer.sign({ ...claims, groups: [...groups.slice(0, 60), 'x'.repeat(9000)] }));
    expect((await browser.request((await begin(browser, many)).href)).status).toBe(303);
    const other = createBrowser();
    answerWith((claims) => issuer.sign({ ...claims, groups }));
    expect(refusalOf(other, await other.request((await begin(other, many)).href))).toBe(403);
  });
});

describe('while the provider is down', () => {
  test('the registry starts, sign-in is 503, and works when it is back', async () => {
    await using down = await openIssuer();
    await using registry = await openLoginServer({ issuer: down.issuer });
    down.status = 500;
    const browser = createBrowser();
    const page = await browser.request(`${registry.url}/login`);
    expect([page.status, page.headers.get('Retry-After')]).toEqual([503, '5']);
    expect(browser.cookies('localhost').size).toBe(0);
    const asked = down.requests.length;
    expect((await browser.request(`${registry.url}/login`)).status).toBe(503);
    expect(down.requests.length).toBe(asked);
    down.status = null;
    registry.world.pass(2000);
    expect((await browser.request(`${registry.url}/login`)).status).toBe(303);
  });

  test('nobody listens there', async () => {
    const gone = await openIssuer();
    await gone[Symbol.asyncDispose]();
    await using registry = await openLoginServer({ issuer: gone.issuer });
    expect((await createBrowser().request(`${registry.url}/login`)).status).toBe(503);
  });

  test.each<[string, Awaited<ReturnType<Issuer['answer']>>, number]>([
    ['a failure', { status: 500, body: {} }, 503],
    ['what is no object', { body: 'x', headers: { 'Content-Type': 'text/html' } }, 401],
    ['that it does not know the client', { status: 401, body: { error: 'invalid_client' } }, 503],
    [
      'that it does not know the client, by a challenge',
      { status: 401, body: { error: 'invalid_client' }, headers: { 'WWW-Authenticate': 'Basic realm="x"' } },
      503,
    ],
    ['a redirect', { status: 307, body: {}, headers: { Location: 'https://evil.test' } }, 503],
    ['that the code is over', { status: 400, body: { error: 'invalid_grant' } }, 401],
  ])('its token endpoint answers %s', async (_name, answer, status) => {
    issuer.answer = async () => answer;
    expect(await attempt()).toBe(status);
  });

  test('it names other places that are not https', async () => {
    await using odd = await openIssuer();
    odd.metadata = { userinfo_endpoint: 'http://evil.test/userinfo' };
    const claims = (nonce: string) => without({ ...claimsOf(nonce), iss: odd.issuer }, 'groups');
    odd.answer = async (nonce) => ({ body: { ...tokens, id_token: await odd.sign(claims(nonce)) } });
    await using registry = await openLoginServer({ issuer: odd.issuer });
    const browser = createBrowser();
    expect(refusalOf(browser, await browser.request((await begin(browser, registry)).href))).toBe(503);
  });

  test.each([
    { authorization_endpoint: undefined },
    { authorization_endpoint: 'x' },
    { token_endpoint: 1 },
    { token_endpoint: 'http://evil.test' },
    { jwks_uri: 'http://evil.test' },
  ])('it names no places that could be asked: %j', async (metadata) => {
    await using odd = await openIssuer();
    odd.metadata = metadata;
    await using registry = await openLoginServer({ issuer: odd.issuer });
    const browser = createBrowser();
    const page = await browser.open(`${registry.url}/login`);
    expect(refusalOf(browser, page)).toBe(503);
  });

  test('it says that it is somebody else', async () => {
    await using odd = await openIssuer();
    odd.metadata = { issuer: 'https://evil.test' };
    await using registry = await openLoginServer({ issuer: odd.issuer });
    expect((await createBrowser().request(`${registry.url}/login`)).status).toBe(503);
  });

  test('its keys may change', async () => {
    await using rotating = await openIssuer();
    await using registry = await openLoginServer({ issuer: rotating.issuer });
    const claims = (nonce: string) => ({ ...claimsOf(nonce), iss: rotating.issuer });
    rotating.answer = async (nonce) => ({ body: { ...tokens, id_token: await rotating.sign(claims(nonce)) } });
    const browser = createBrowser();
    expect((await browser.request((await begin(browser, registry)).href)).status).toBe(303);
    await rotating.rotate();
    registry.world.pass(3_600_000);
    const other = createBrowser();
    expect((await other.request((await begin(other, registry)).href)).status).toBe(303);
  });

  test('signing out goes home', async () => {
    await using gone = await openIssuer();
    await using registry = await openLoginServer({ issuer: gone.issuer });
    gone.answer = async (nonce) => ({
      body: { ...tokens, id_token: await gone.sign({ ...claimsOf(nonce), iss: gone.issuer }) },
    });
    const browser = createBrowser();
    await browser.request((await begin(browser, registry)).href);
    gone.status = 500;
    const page = await browser.request(`${registry.url}/logout`, {
      method: 'POST',
      headers: { 'Sec-Fetch-Site': 'same-origin' },
    });
    expect([page.status, page.headers.get('Location')]).toEqual([303, `${registry.url}/`]);
    expect(browser.cookies('localhost').has('__Host-stele-session')).toBe(false);
  });
});
