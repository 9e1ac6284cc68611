import { afterAll, beforeAll, expect, test } from 'vitest';
import { giveRights } from '../../../src/registry/keys/change-rights.ts';
import { openIdentityProvider, type IdentityProvider } from '../../servers/oidc.ts';
import { createBrowser, type Browser } from './browser.ts';
import { loginConfig, openLoginServer, relyingParty, type LoginServer } from './harness.ts';

let ours: IdentityProvider;
let partners: IdentityProvider;
let server: LoginServer;

beforeAll(async () => {
  let port = 0;
  const login: NonNullable<Parameters<typeof openLoginServer>[0]['login']> = { creators: ['admins'] };
  server = await openLoginServer({
    async issuer(url) {
      port = Number(new URL(url).port);
      ours = await openIdentityProvider({ clients: [relyingParty(url)], groups: { ann: ['staff'], cyd: ['admins'] } });
      const second = { ...relyingParty(url), redirectUri: `${url}/login/callback/partners` };
      partners = await openIdentityProvider({ clients: [second], groups: { ann: ['staff', 'guests'] } });
      const { issuer, clientId, clientSecret, scope } = loginConfig(port, partners.issuer);
      login.others = { partners: { title: 'Partners', issuer, clientId, clientSecret, scope } };
      return ours.issuer;
    },
    login,
  });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await Promise.all([ours, partners].map((provider) => provider[Symbol.asyncDispose]()));
});

/** Signs in at a provider and answers the URL to which the provider sends the browser back. */
async function comeBackFrom(browser: Browser, name: string, person: string): Promise<string> {
  const page = await browser.open(`${server.url}/login?provider=${name}&returnTo=/`);
  return browser.until(page.url, `${server.url}/login/callback`, {
    method: 'POST',
    body: new URLSearchParams({ login: person }),
  });
}

const meOf = async (browser: Browser) => browser.request(`${server.url}/account`);

test('the sign-in page offers each issuer, and comes back to where one was', async () => {
  const browser = createBrowser();
  const first = await browser.request(`${server.url}/login?returnTo=/changes`);
  expect(first.headers.get('Location')).toBe('/account?returnTo=%2Fchanges');
  const { text } = await browser.request(`${server.url}/account?returnTo=%2Fchanges`);
  expect(text).toContain(`href="/login?returnTo=%2Fchanges&amp;provider=partners">Sign in with Partners`);
  expect(text).toContain(`provider=">Sign in with ${new URL(ours.issuer).host}`);
  expect((await browser.request(`${server.url}/login?provider=other`)).status).toBe(400);
});

test('a person of the second issuer is another one, with rights that hold without a new sign-in', async () => {
  const browser = createBrowser();
  // The groups of the second issuer are others, too: `staff` has rights at the first.
  const before = createBrowser();
  expect((await before.request(await comeBackFrom(before, 'partners', 'ann'))).status).toBe(403);
  const author = { actor: 'operator:test', origin: null };
  const give = (group: string, org: string) =>
    giveRights(server.world.registry, org, { group, issuer: partners.issuer, scopes: ['read'] }, author);
  await give('guests', 'globex');
  expect((await browser.request(await comeBackFrom(browser, 'partners', 'ann'))).status).toBe(303);
  expect((await meOf(browser)).text).toMatch(/@globex/);
  expect((await meOf(browser)).text).not.toMatch(/@acme/);
  await give('staff', 'acme');
  expect((await meOf(browser)).text).toMatch(/@acme/);
});

test('one issuer cannot answer for the other: each has a callback of its own', async () => {
  const browser = createBrowser();
  const back = await comeBackFrom(browser, 'partners', 'ann');
  expect(back).toContain('/login/callback/partners?');
  const mixed = await browser.request(back.replace('/callback/partners', '/callback'));
  expect(mixed.status).toBe(400);
  // The attempt used up the pending sign-in.
  expect((await browser.request(back)).status).toBe(400);
});

test('a member of a group that creates organizations may sign in, and is offered it', async () => {
  const browser = createBrowser();
  expect((await browser.request(await comeBackFrom(browser, '', 'cyd'))).status).toBe(303);
  expect((await meOf(browser)).text).toContain('/console/-/organizations/new');
  const other = createBrowser();
  await other.request(await comeBackFrom(other, '', 'ann'));
  expect((await meOf(other)).text).not.toContain('/console/-/organizations/new');
});
