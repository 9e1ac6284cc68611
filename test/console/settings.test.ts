import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkConfig } from '../../src/config/load-config.ts';
import { createTestRegistry, publishVersion } from '../server/registry.ts';
import { unlimited } from '../server/v1/api.ts';
import { hiddenIn, openConsole, type ConsoleServer, type Person } from './harness.ts';

const registry = createTestRegistry(unlimited);
let server: ConsoleServer;
let admin: Person;
beforeAll(async () => {
  server = await openConsole(registry);
  for (const name of ['@acme/rulesets/style', '@acme/apis/pay']) await publishVersion(registry, name, '1.0.0');
  admin = await server.signIn();
});
afterAll(() => server[Symbol.asyncDispose]());

const form = '/console/acme/settings/ruleset';
const pageOf = async (name: string) =>
  (await fetch(`${server.url}/@acme/${name}`, { headers: { accept: 'text/html' } })).text();

describe('in this order', { shuffle: false }, () => {
  test('an administrator sets the default ruleset, and the pages of APIs show it', async () => {
    for (let time = 0; time < 3; time++) expect(await pageOf('apis/pay')).not.toContain('/@acme/rulesets/style');
    const shown = (await admin.get('/console/acme/settings')).text;
    expect(shown).toContain('Choose one');
    expect(shown.replaceAll(/<[^>]*>|\s+/g, ' ')).toMatch(/Live keys +\d+ of 1,000 .*Files sent +0, without a limit/);
    const saved = await admin.send(form, { '/ruleset': '@acme/rulesets/style@^1' });
    expect(saved.status).toBe(303);
    const page = await admin.get('/console/acme/settings');
    expect(page.text).toContain('<a href="/@acme/rulesets/style@^1"><code>@acme/rulesets/style@^1</code></a>');
    expect(await pageOf('apis/pay')).toContain('/@acme/rulesets/style');
    expect(await pageOf('rulesets/style')).toContain('/@acme/apis/pay');
    expect((await admin.get('/console/acme/apis/pay')).text).toContain('<code>@acme/rulesets/style@^1</code>');
    expect((await admin.get('/console/acme/audit')).text).toMatch(/change ruleset.*organization/s);
  });

  test('how everything is doing is a page of what its reader may read; only who may publish all has all checked', async () => {
    const { text, status } = await admin.get('/console/acme/health');
    expect(status).toBe(200);
    expect(text.replaceAll(/<[^>]*>|\s+/g, ' ')).toMatch(/Health.*Score.*Resources.*@acme\/apis\/pay.*nobody/);
    expect(text).toMatch(/title="0: errors in the latest/);
    expect((await admin.get('/console/acme/health?rule=no-such')).text).toContain('No latest version fails this rule.');
    expect((await admin.get('/console/acme/health?concern=owner')).text).toContain('@acme/apis/pay');
    expect((await admin.get('/console/acme/health?concern=behind')).text).toContain('Nothing has this concern.');
    expect(text).toContain('action="/console/acme/health/replay"');
    expect((await admin.send('/console/acme/health/replay', {})).status).toBe(303);
    expect((await admin.get('/console/acme/health')).text).toContain('waits');
    const narrow = await server.signIn({ name: 'ned', scopes: ['read'], resources: ['apis/*'] });
    const part = (await narrow.get('/console/acme/health')).text;
    expect(part).toContain('href="/console/acme/health"');
    expect((await narrow.send('/console/acme/health/replay', {})).status).toBe(403);
  });

  test('owner, system and links are a form, and other addresses than those of the web and mail are refused', async () => {
    const path = '/console/acme/apis/pay/ownership';
    const typed = { '/owner': 'payments', '/system': 'checkout', '/topics': '', '/lifecycle': '' };
    const links = '- title: Runbook\n  url: https://wiki.example/pay\n- title: Mail\n  url: mailto:pay@acme.example';
    expect((await admin.send(path, { ...typed, '/links': links })).status).toBe(303);
    expect((await admin.get(path)).text).toContain(links);
    const page = await pageOf('apis/pay');
    expect(page).toContain('<a href="https://wiki.example/pay" rel="nofollow noopener">Runbook</a>');
    expect(page).toContain('?q=checkout">checkout</a>');
    const refused = await admin.send(path, { ...typed, '/links': '- title: Run\n  url: javascript:alert(1)' });
    expect([refused.status, refused.text.includes('Links at /0/url is not written as it must be')]).toEqual([
      400,
      true,
    ]);
    await admin.send(path, { '/owner': '', '/system': '', '/links': '' });
  });

  test('the page of an API names the ruleset that checks it, and the default only to who may read the organization', async () => {
    const narrow = await server.signIn({ name: 'nia', scopes: ['read'], resources: ['apis/*'] });
    const [pay, order] = ['/console/acme/apis/pay', '/console/acme/schemas/order'];
    await publishVersion(registry, '@acme/schemas/order', '1.0.0');
    const rulesetOn = async (person: Person, path: string) =>
      /<dt>Ruleset<\/dt><dd>(.*?)<\/dd>/s
        .exec((await person.get(path)).text)![1]!
        .replaceAll(/<[^>]*>|\s+/g, ' ')
        .trim();
    await admin.send(form, { '/ruleset': '@acme/rulesets/style' });
    expect(await rulesetOn(admin, pay)).toMatch(/^@acme\/rulesets\/style +the organization&#39;s default$/);
    expect(await rulesetOn(narrow, pay)).toBe('the organization&#39;s default');
    // A default is that of APIs.
    expect(await rulesetOn(admin, order)).toBe('none');
    await admin.send(`${pay}/checks`, { '/ruleset': '@acme/rulesets/style@^1' });
    for (const person of [admin, narrow]) expect(await rulesetOn(person, pay)).toBe('@acme/rulesets/style@^1');
    await admin.send(`${pay}/checks`, { '/ruleset': '' });
  });

  test('the ruleset that is the default cannot be deleted by mistake', async () => {
    await admin.send(form, { '/ruleset': '@acme/rulesets/style' });
    const refused = await admin.send('/console/acme/rulesets/style/delete', {});
    expect(refused.status).toBe(409);
    expect(refused.text).toContain('is attached to the default of acme');
  });

  test('a ruleset that does not exist is refused, and what was typed stays', async () => {
    const refused = await admin.send(form, { '/ruleset': '@acme/rulesets/none' });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('value="@acme/rulesets/none"');
  });

  test('where the configuration names the ruleset, it counts, and cannot be changed here', async () => {
    const ruleset = '@acme/rulesets/strict';
    const config = checkConfig({ organizations: { acme: { defaults: { ruleset } } } }, { base: '/', data: '/nowhere' });
    const before = registry.config.organizations;
    registry.config.organizations = config.organizations;
    try {
      const page = (await admin.get('/console/acme/settings')).text;
      expect(page).toContain('set by the configuration');
      expect(page).not.toContain(form);
      expect((await admin.send(form, { '/ruleset': '@acme/rulesets/style' })).status).toBe(409);
    } finally {
      registry.config.organizations = before;
    }
  });

  test('only who administers the organization gets there', async () => {
    const publisher = await server.signIn({ name: 'pia', scopes: ['publish'] });
    const overview = (await publisher.get('/console/acme')).text;
    expect(overview).not.toContain('/console/acme/settings');
    for (const path of ['/console/acme/settings', form]) expect((await publisher.get(path)).status).toBe(403);
    const sent = await publisher.send(form, { '/ruleset': '' }, { hidden: hiddenIn(overview) });
    expect(sent.status).toBe(403);
  });
});
