import { expect, test } from 'vitest';
import { createBrowser, type Browser } from '../server/login/browser.ts';
import { comeBack, loginConfig, relyingParty } from '../server/login/harness.ts';
import { createTestRegistry } from '../server/registry.ts';
import { unlimited } from '../server/v1/api.ts';
import { openIdentityProvider } from '../servers/oidc.ts';
import { freePort } from '../servers/ports.ts';
import { hiddenIn, openConsole, ownPage } from './harness.ts';

test('an administrator sees who signed in, what they may do and by which group, and nobody else does', async () => {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const groups = { ann: ['admins'], bob: ['payments', 'unmapped'], eve: ['strangers'] };
  await using provider = await openIdentityProvider({ clients: [relyingParty(url)], groups });
  const organizations = {
    '*': [{ organization: 'acme', scopes: ['read'] as const }],
    admins: [{ organization: 'acme', scopes: ['admin'] as const }],
    payments: [{ organization: 'acme', scopes: ['publish'] as const, resources: ['apis/pay-*'] }],
    strangers: [{ organization: 'globex', scopes: ['admin'] as const }],
  };
  const login = { ...loginConfig(port, provider.issuer), organizations: structuredClone(organizations) as never };
  const registry = createTestRegistry({ ...unlimited, url, login });
  await using _ = await openConsole(registry, { port });
  const signIn = async (name: string): Promise<Browser> => {
    const browser = createBrowser();
    await browser.request(await comeBack(browser, url, name));
    return browser;
  };

  await signIn('bob');
  const bob = await signIn('bob');
  const eve = await signIn('eve');
  const ann = await signIn('ann');
  const page = (await ann.request(`${url}/console/acme/members`)).text;
  const rows = [...page.matchAll(/<tr><td.*?<\/tr>/gs)].map(([row]) =>
    row.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' '),
  );
  const people = rows.filter((row) => row.includes(`${provider.issuer}#`));
  expect(people.map((row) => row.includes('#bob'))).toEqual([false, false, true]);
  expect(people[2]).toMatch(/read: everything; publish: apis\/pay-\* everybody, payments/);
  expect(page).not.toContain('unmapped');
  expect(rows.some((row) => /payments publish: apis\/pay-\*/.test(row))).toBe(true);
  expect((await bob.request(`${url}/console/acme/members`)).status).toBe(403);
  const headers = { 'stele-organization': 'acme' };
  const { items } = JSON.parse((await ann.request(`${url}/v1/members`, { headers })).text) as { items: object[] };
  expect(items).toHaveLength(3);
  expect(items).toContainEqual({
    id: `${provider.issuer}#bob`,
    name: expect.any(String),
    signedInAt: expect.any(String),
    groups: ['payments'],
    rights: [
      { scopes: ['read'], resources: null },
      { scopes: ['publish'], resources: ['apis/pay-*'] },
    ],
  });
  expect(JSON.stringify(items)).not.toMatch(/strangers|unmapped/);
  expect((await bob.request(`${url}/v1/members`, { headers })).status).toBe(403);
  // The audit names people, too.
  const made = await ann.request(`${url}/console/acme/new-site`);
  const body = new URLSearchParams({
    ...hiddenIn(made.text),
    '/title': 'Guide',
    '/slug': 'guide',
    '/visibility': 'private',
  });
  await ann.request(`${url}/console/acme/new-site`, { method: 'POST', body, headers: ownPage });
  const audit = (await ann.request(`${url}/console/acme/audit`)).text;
  const who = /<td data-name="Who">(.*?)<\/td>/s
    .exec(audit)![1]!
    .replace(/<[^>]*>|\s+/g, ' ')
    .trim();
  const name = String((items.find((each) => JSON.stringify(each).includes('#ann')) as { name: string }).name);
  expect(who).toMatch(new RegExp(`^${name} +user:${provider.issuer}#ann`));
  const others = (await eve.request(`${url}/console/globex/members`)).text;
  expect(others).toContain('#eve');
  expect(others).not.toContain('#ann');
});
