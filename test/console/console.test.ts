import { deleteRecord, restoreRecord } from '../../src/registry/lives.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeResource } from '../../src/registry/change-resource.ts';
import { revokeKey } from '../../src/registry/keys/keys.ts';
import { createWorld } from '../registry/world.ts';
import { createTestRegistry, publishVersion } from '../server/registry.ts';
import { createBrowser } from '../server/login/browser.ts';
import { documentOf, unlimited } from '../server/v1/api.ts';
import { hiddenIn, openConsole, ownPage, textOf, type ConsoleServer, type Person, useLink } from './harness.ts';

let server: ConsoleServer;
let admin: Person;
let reader: Person;
beforeAll(async () => {
  server = await openConsole();
  await publishVersion(server.registry, '@acme/apis/pay', '1.0.0', { visibility: 'private' });
  await publishVersion(server.registry, '@acme/apis/pay', '1.1.0', { visibility: 'private' });
  await publishVersion(server.registry, '@other/apis/secret', '1.0.0', { visibility: 'private' });
  admin = await server.signIn();
  reader = await server.signIn({ name: 'rae', scopes: ['read'] });
});
afterAll(() => server[Symbol.asyncDispose]());

const pay = '/console/acme/apis/pay';

async function recordOf(path: string): Promise<Record<string, unknown>> {
  return JSON.parse((await admin.get(`/v1${path}`)).text) as Record<string, unknown>;
}

describe('in this order', { shuffle: false }, () => {
  describe('the first run', () => {
    test('a link signs in once, an empty store leads to the first document, and that to its page', async () => {
      await using empty = await openConsole(createTestRegistry(unlimited));
      const link = empty.server.signInUrl()!;
      const browser = createBrowser();
      // What looks at links before people do, such as a mail scanner, uses none up.
      for (const method of ['HEAD', 'GET']) expect((await createBrowser().request(link, { method })).status).toBe(200);
      const page = await useLink(browser, link);
      expect(page.url).toBe(`${empty.url}/console/new`);
      const again = await useLink(createBrowser(), link);
      expect([again.status, again.text]).toEqual([400, expect.stringContaining('expired or was used')]);

      const typed = {
        '/document': documentOf('1.2.0', 'Pay Ments'),
        '/type': 'apis',
        '/org': 'acme',
        '/visibility': 'public',
      };
      const send = (more: object) =>
        browser.request(page.url, {
          method: 'POST',
          headers: ownPage,
          body: new URLSearchParams({ ...hiddenIn(page.text), ...typed, ...more }),
        });
      const checked = await send({ do: 'check' });
      expect(textOf(checked.text, 'good')).toBe('This can be published, as version 1.2.0.');
      expect(checked.text).toContain('value="pay-ments"');
      expect((await browser.request(`${empty.url}/@acme/apis/pay-ments`)).status).toBe(404);

      const published = await send({ do: 'go' });
      expect(published.headers.get('location')).toBe('/console/acme/apis/pay-ments/published/1.2.0');
      const stranger = await createBrowser().request(`${empty.url}/@acme/apis/pay-ments@1.2.0.json`);
      expect(stranger.text).toBe(typed['/document']);
      expect((await createBrowser().open(`${empty.url}/account`)).text).toContain('it printed a link');

      // A generator sends no key, so what is private is read to a file first.
      const snippet = async () => {
        const { text } = await browser.request(empty.url + published.headers.get('location')!);
        expect(text).toContain('Version 1.2.0 is published');
        return /npx openapi-typescript \S+/.exec(text)![0];
      };
      expect(await snippet()).toBe(`npx openapi-typescript ${empty.url}/@acme/apis/pay-ments@1.2.0`);
      const coordinate = { org: 'acme', type: 'apis', slug: 'pay-ments' } as const;
      await changeResource(
        empty.registry,
        coordinate,
        { visibility: 'private' },
        { actor: 'operator:test', origin: null },
      );
      expect(await snippet()).toBe('npx openapi-typescript pay-ments.json');
    });

    test('what cannot be published is shown with its report, and makes nothing', async () => {
      const typed = {
        '/type': 'apis',
        '/org': 'acme',
        '/slug': 'bad',
        '/document': '{"refuse":"why <not>"}',
        do: 'go',
      };
      const page = await admin.send('/console/new', typed);
      expect(page.status).toBe(422);
      expect(page.text).toContain('why &lt;not&gt;');
      expect(page.text).toContain('{&quot;refuse&quot;:&quot;why &lt;not&gt;&quot;}</textarea>');
      expect((await admin.get('/v1/apis/bad')).status).toBe(404);
    });

    test.each([
      [{ '/org': '' }, 'Choose the organization.'],
      [{ '/slug': 'Pay Ments' }, '&quot;pay-ments&quot; would do'],
      [{ '/document': ' ' }, 'Paste a document'],
      [{ '/slug': 'pay' }, 'exists already'],
      [{ '/org': 'other' }, 'You may not publish'],
    ])('the error in %j is shown beside the form, and nothing that was typed is lost', async (typed, said) => {
      const whole = { '/type': 'apis', '/org': 'acme', '/document': documentOf('1.0.0'), do: 'check', ...typed };
      const page = await admin.send('/console/new', whole);
      expect(page.text).toContain(said);
      for (const value of Object.values(typed)) expect(page.text).toContain(value.trim());
    });

    test('a registry with a public address has no such link', async () => {
      await using open = await openConsole(createTestRegistry({ ...unlimited, url: 'https://registry.test' }));
      expect(open.server.signInUrl()).toBeNull();
    });
  });

  describe('signing in with a key', () => {
    test('exchanges it for a cookie that has nothing of it, and ends when the key is revoked', async () => {
      const person = await server.signIn({ name: 'short' });
      const [cookie] = [...person.browser.cookies('127.0.0.1')].filter(([name]) => name.startsWith('stele-session-'));
      expect(cookie![1]).not.toContain('stele_');
      expect((await person.get('/console/acme')).status).toBe(200);
      await revokeKey(server.registry, 'acme', person.key!, { actor: 'operator:test', origin: null });
      const gone = await person.get('/console/acme');
      expect([gone.status, gone.headers.get('location')]).toEqual([303, '/account?returnTo=%2Fconsole%2Facme']);
      expect(gone.headers.get('cache-control')).toBe('private, no-store');
    });

    test('an invalid key leads back to the form, and another site cannot sign anybody in', async () => {
      const sign = (headers: Record<string, string>) =>
        createBrowser().request(`${server.url}/login`, {
          method: 'POST',
          headers,
          body: new URLSearchParams({ key: 'x' }),
        });
      const refused = await sign(ownPage);
      expect(refused.headers.get('location')).toBe(`${server.url}/account?failed=key&returnTo=%2Fconsole`);
      expect((await createBrowser().open(refused.headers.get('location')!)).text).toContain('This key is not valid.');
      expect((await sign({ 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    });

    test('signing out ends the session, also its copies', async () => {
      const person = await server.signIn({ name: 'out' });
      const copy = createBrowser();
      for (const [name, value] of person.browser.cookies('127.0.0.1')) copy.setCookie('127.0.0.1', name, value);
      await person.browser.request(`${server.url}/logout`, { method: 'POST', headers: ownPage });
      expect((await copy.request(`${server.url}/console/acme`)).status).toBe(303);
    });

    test('a session, its key and a link that have expired stay so when the clock is set back', async () => {
      const { registry, pass, step } = createWorld(unlimited);
      await using open = await openConsole(registry);
      const link = open.server.signInUrl()!;
      const inHours = (hours: number) => new Date(registry.now().getTime() + hours * 3_600_000).toISOString();
      const whole = await open.signIn();
      const short = await open.signIn({ expiresAt: inHours(1) });
      const statusOf = async ({ get }: Person) => (await get('/console/acme')).status;
      expect([await statusOf(whole), await statusOf(short)]).toEqual([200, 200]);
      pass(3_600_000);
      step(-3_600_000);
      expect([await statusOf(whole), await statusOf(short)]).toEqual([200, 303]);
      pass(7 * 3_600_000);
      step(-3_600_000);
      expect([await statusOf(whole), await statusOf(short)]).toEqual([303, 303]);
      pass(16 * 3_600_000);
      step(-3_600_000);
      expect((await useLink(createBrowser(), link)).status).toBe(400);
    });
  });

  describe('rights', () => {
    test('a reader sees what there is, and no way to change it', async () => {
      expect((await reader.get('/console/acme')).text).toContain('apis/pay');
      const page = await reader.get(pay);
      for (const verb of ['Publish a version', 'Withdraw', 'Delete it', 'Connect a file'])
        expect(page.text).not.toContain(verb);
      for (const path of ['/visibility', '/delete', '/versions/1.0.0/yank']) {
        expect((await reader.get(pay + path)).status, path).toBe(403);
        const hidden = { token: hiddenIn((await reader.get(pay)).text)['token'] ?? (await tokenOf(reader)) };
        expect((await reader.send(pay + path, { '/visibility': 'public' }, { hidden })).status, path).toBe(403);
      }
      expect((await reader.get('/console/acme/keys')).status).toBe(403);
      expect(await recordOf('/apis/pay')).toMatchObject({ visibility: 'private' });
    });

    test('where nothing is published, one begins with what one may do', async () => {
      const starts = [
        '/console/new?org=empty">Publish a document',
        '/console/empty/repositories/new">Follow a repository',
      ];
      const offered = { admin: [true, true], publish: [true, false], read: [false, false] } as const;
      for (const [scope, expected] of Object.entries(offered)) {
        const person = await server.signIn({ org: 'empty', scopes: [scope as keyof typeof offered] });
        const { text } = await person.get('/console/empty');
        expect(text).toContain('Nothing is published yet');
        expect([scope, starts.map((start) => text.includes(start))]).toEqual([scope, expected]);
      }
      expect((await admin.get('/console/acme')).text).not.toContain('Follow a repository');
    });

    test('who may publish only some names begins there, too, and who may only read is offered nothing', async () => {
      const team = await server.signIn({ org: 'empty', scopes: ['publish'], resources: ['apis/pay-*', 'sites/pay-*'] });
      expect((await team.get('/console/empty')).text).toContain('/console/new?org=empty');
      expect((await team.get('/console/empty/sites')).text).toContain('/console/empty/new-site');
      const typed = { '/title': 'Pay', '/slug': 'pay-guide', '/visibility': 'private' };
      expect((await team.send('/console/empty/new-site', typed)).status).toBe(303);
      expect((await team.get('/account')).text).toContain('Publish a document');
      const person = await server.signIn({ org: 'empty', scopes: ['read'] });
      expect((await person.get('/console/empty')).text).not.toContain('Paste a document');
      expect((await person.get('/account')).text).not.toContain('Publish a document');
    });

    test('whoever is signed in is not told to sign in', async () => {
      for (const path of ['/console/acme/apis/absent', '/@other/apis/secret', '/@other/apis/absent']) {
        const { status, text } = await admin.get(path);
        expect([status, text.includes('you have no access.')]).toEqual([404, true]);
        expect(text, path).not.toMatch(/send a key|Sign in/);
      }
    });

    test('another organization looks as if it were not there, whatever is asked', async () => {
      const paths = ['', '/apis/secret', '/apis/absent', '/keys', '/apis/secret/delete'];
      const answers = await Promise.all(
        ['other', 'nobody'].map((org) => Promise.all(paths.map((path) => admin.get(`/console/${org}${path}`)))),
      );
      const [other, nobody] = answers.map((pages) =>
        pages.map(({ status, text }) => [status, text.replace(/[0-9a-f-]{36}|"signIn".*/g, '')]),
      );
      expect(other).toEqual(nobody);
      expect(new Set(other!.map(([status]) => status))).toEqual(new Set([404]));
    });

    test('pages of resources are the same for everybody; scripts show who may publish where one manages them', async () => {
      await publishVersion(server.registry, '@acme/apis/open', '1.0.0');
      const html = { headers: { accept: 'text/html' } };
      for (const person of [createBrowser(), admin.browser]) {
        const page = await person.request(`${server.url}/@acme/apis/open`, html);
        expect(page.text).toMatch(
          /<a class="manage" href="\/console\/acme\/apis\/open" data-manage="acme" rel="nofollow" hidden>/,
        );
      }
      const stranger = await createBrowser().request(`${server.url}/console/acme/apis/open`);
      expect(stranger.headers.get('location')).toBe('/account?returnTo=%2Fconsole%2Facme%2Fapis%2Fopen');
    });

    test('a key that is narrowed to some resources does to those what it may', async () => {
      const team = await server.signIn({ name: 'team', resources: ['apis/team-*'] });
      const document = { '/type': 'apis', '/org': 'acme', '/document': documentOf('1.0.0') };
      expect((await team.send('/console/new', { ...document, '/slug': 'team-a', do: 'go' })).status).toBe(303);
      expect((await team.send('/console/new', { ...document, '/slug': 'teams', do: 'go' })).status).toBe(403);
      expect((await team.get(pay)).status).toBe(404);
      expect((await team.get('/console/acme/apis/team-a')).text).toContain('Delete it');
    });
  });

  describe('forms', () => {
    test('ask the same operations as /v1 and say what they did', async () => {
      const sent = await admin.send(`${pay}/details`, { '/name': 'Pay <b>', '/description': 'Money.\r\nBack.' });
      expect(sent.headers.get('location')).toBe(`${pay}?done=%2F%3Atype%2F%3Aslug%2Fdetails`);
      const page = await admin.get(sent.headers.get('location')!);
      expect(textOf(page.text, 'notice')).toBe('Name and description are saved.');
      expect(page.text).toContain('Pay &lt;b&gt;');
      expect(await recordOf('/apis/pay')).toMatchObject({ name: 'Pay <b>', description: 'Money.\nBack.' });
      const audit = JSON.parse((await admin.get('/v1/audit?limit=1')).text) as { items: { actor: string }[] };
      expect(audit.items[0]).toMatchObject({ actor: `key:${admin.key}`, action: 'change name, change description' });
    });

    test('a version is deprecated, made active, yanked and withdrawn, each on a page of its own', async () => {
      const stateOf = async () => (await recordOf('/apis/pay/versions/1.0.0'))['status'];
      const to = (verb: string, typed = {}) => admin.send(`${pay}/versions/1.0.0/${verb}`, typed);
      const missing = await to('deprecate', { '/status/reason': '' });
      expect(missing.status).toBe(400);
      expect(missing.text).toContain('Reason is missing.');
      await to('deprecate', {
        '/status/reason': 'old',
        '/status/sunset': '2030-01-02',
        '/status/replacement': '1.1.0',
      });
      expect(await stateOf()).toMatchObject({
        state: 'deprecated',
        reason: 'old',
        replacement: '1.1.0',
        sunset: '2030-01-02T00:00:00Z',
      });
      await to('restore');
      expect(await stateOf()).toEqual({ state: 'active' });
      await to('yank', { '/status/reason': 'wrong' });
      const page = await admin.get(`${pay}/versions/1.0.0/withdraw`);
      expect(page.text).toContain('This cannot be undone');
      await to('withdraw', { '/status/reason': 'secret' });
      expect(await stateOf()).toMatchObject({ state: 'withdrawn', reason: 'secret' });
    });

    test('of two who edit the same, the second sees a conflict, and keeps what was typed', async () => {
      const path = `${pay}/details`;
      const hidden = hiddenIn((await admin.get(path)).text);
      await admin.send(path, { '/name': 'First', '/description': '' });
      const second = await admin.send(path, { '/name': 'Second', '/description': '' }, { hidden });
      expect(second.status).toBe(412);
      expect(second.text).toContain('Somebody changed this');
      expect(second.text).toContain('value="Second"');
      expect(second.text).toContain('Theirs: First');
      expect(second.text).not.toContain('Theirs is empty');
      expect(await recordOf('/apis/pay')).toMatchObject({ name: 'First' });
      await admin.send(path, { '/name': 'Second', '/description': '' }, { hidden: hiddenIn(second.text) });
      expect(await recordOf('/apis/pay')).toMatchObject({ name: 'Second' });
    });

    test('what does not exist has no form', async () => {
      expect((await admin.get('/console/acme/apis/none/details')).status).toBe(404);
    });

    test('a key is shown once, and sending its form twice makes one key', async () => {
      const path = '/console/acme/keys/new';
      const hidden = hiddenIn((await admin.get(path)).text);
      const typed = { '/name': 'ci', '/scopes': ['read', 'publish'], '/resources': 'apis/pay-*\nschemas/*' };
      const [one, two] = [await admin.send(path, typed, { hidden }), await admin.send(path, typed, { hidden })];
      const [secret] = /stele_[0-9a-z]{12}_\w{38}/.exec(one.text)!;
      expect(two.text).toContain(secret);
      const page = await admin.get('/console/acme/keys');
      expect(page.text).not.toContain(secret);
      expect(page.text.match(/>ci</g) ?? page.text.match(/\bci\b <span/g)).toHaveLength(1);
    });

    test('a version is checked before it is published, by the same gate', async () => {
      const typed = { '/document': documentOf('2.0.0'), '/latest': 'yes' };
      const checked = await admin.send(`${pay}/publish`, { ...typed, do: 'check' });
      expect(textOf(checked.text, 'good')).toBe('This can be published, as version 2.0.0.');
      expect((await admin.get('/v1/apis/pay/versions/2.0.0')).status).toBe(404);
      const published = await admin.send(`${pay}/publish`, { ...typed, do: 'go' });
      expect(published.headers.get('location')).toBe(`${pay}/published/2.0.0`);
      const body = new FormData();
      for (const [name, value] of Object.entries(hiddenIn((await admin.get(`${pay}/publish`)).text)))
        body.set(name, value);
      body.set('/document', new File([documentOf('3.0.0')], 'pay.json'));
      const uploaded = await admin.browser.request(`${server.url}${pay}/publish`, {
        method: 'POST',
        body,
        headers: ownPage,
      });
      expect(uploaded.headers.get('location')).toBe(`${pay}/published/3.0.0`);
      expect(await recordOf('/apis/pay')).toMatchObject({ latest: '2.0.0' });
    });

    test('the form of the latest version offers what the rules chose as their choice, and pins nothing by being saved', async () => {
      const chosen = async () =>
        /<option value="([^"]*)" selected/.exec((await admin.get(`${pay}/latest`)).text)?.[1] ?? '';
      expect(await chosen()).toBe('');
      await admin.send(`${pay}/latest`, { '/latest': '2.0.0' });
      expect([await chosen(), await recordOf('/apis/pay')]).toMatchObject(['2.0.0', { latestPinned: true }]);
      await admin.send(`${pay}/latest`, { '/latest': '' });
      expect([await chosen(), await recordOf('/apis/pay')]).toMatchObject(['', { latestPinned: false }]);
    });
  });

  describe('keys', () => {
    const admins = (path: string, method: string, body?: object) => async () => {
      const headers = { ...ownPage, 'content-type': 'application/json', 'stele-session-token': await tokenOf(admin) };
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      const { status, text } = await admin.browser.request(`${server.url}/v1${path}`, init);
      return { status, json: JSON.parse(text) as Record<string, unknown> };
    };
    const make = admins('/keys', 'POST', { name: 'wide', scopes: ['publish'], resources: ['apis/pay-*', 'schemas/*'] });

    test.each([
      [{ name: 'other' }, 200],
      [{ scopes: ['read'], resources: ['apis/pay-in', 'schemas/a-*'] }, 200],
      [{ expiresAt: '2090-01-01T00:00:00Z' }, 200],
      [{ scopes: ['admin'] }, 400],
      [{ resources: null }, 400],
      [{ resources: ['apis/*'] }, 400],
      [{ resources: ['apis/pay-in', '*/x'] }, 400],
      [{ expiresAt: '2001-01-01T00:00:00Z' }, 400],
    ])('a key may lose rights and never gets any: %j', async (change, status) => {
      const { json } = await make();
      const changed = await admins(`/keys/${String(json['id'])}`, 'PATCH', change)();
      expect(changed.status).toBe(status);
      if (status === 200) expect(changed.json).toMatchObject(change);
      else expect(changed.json['errors']).toMatchObject([{ pointer: `/${Object.keys(change)[0]}` }]);
    });

    test('a key is replaced, with an overlap in which both work', async () => {
      const { json: old } = await make();
      const page = await admin.send(`/console/acme/keys/${String(old['id'])}/rotate`, { '/overlap': '3600' });
      const [secret] = /stele_[0-9a-z]{12}_\w{38}/.exec(page.text)!;
      const statusOf = async (key: unknown) =>
        (await fetch(`${server.url}/v1/me`, { headers: { authorization: `Bearer ${String(key)}` } })).status;
      expect(await Promise.all([secret, old['secret']].map(statusOf))).toEqual([200, 200]);
      const { json } = await admins(`/keys/${String(old['id'])}`, 'GET')();
      const left = Date.parse(String(json['expiresAt'])) - Date.now();
      expect(left).toBeGreaterThan(3_000_000);
      expect(left).toBeLessThan(3_600_001);
      await admin.send(`/console/acme/keys/${String(old['id'])}/rotate`, { '/overlap': '0' });
      expect(await statusOf(old['secret'])).toBe(401);
    });
  });

  describe('what was deleted', () => {
    test('comes back with all its versions, by whoever may delete it, and nobody else learns of it', async () => {
      await publishVersion(server.registry, '@acme/apis/gone', '1.0.0', { visibility: 'private' });
      const path = '/console/acme/apis/gone';
      const sent = await admin.send(`${path}/delete`);
      expect(sent.headers.get('location')).toMatch(/^\/console\/acme\/deleted\?/);
      expect((await admin.get('/@acme/apis/gone')).status).toBe(410);
      const list = (await admin.get('/console/acme/deleted')).text;
      expect(list).toContain(`href="${path}/undelete"`);
      const [deleted, until] = [...list.matchAll(/<time datetime="([^"]*)"/g)].map(([, time]) => Date.parse(time!));
      expect(until! - deleted!).toBe(30 * 86_400_000);
      const taken = await admin.send('/console/new', {
        '/type': 'apis',
        '/org': 'acme',
        '/slug': 'gone',
        '/document': documentOf('1.0.0'),
        do: 'go',
      });
      expect([taken.status, taken.text]).toEqual([409, expect.stringContaining('was deleted')]);
      const hidden = { token: await tokenOf(reader) };
      expect((await reader.send(`${path}/undelete`, {}, { hidden })).status).toBe(403);
      const stranger = await server.signIn({ org: 'other' });
      expect((await stranger.get(`/console/acme/deleted`)).status).toBe(404);
      const back = await admin.send(`${path}/undelete`);
      expect(back.headers.get('location')).toMatch(/^\/console\/acme\/apis\/gone\?/);
      expect((await admin.get('/@acme/apis/gone@1.0.0')).status).toBe(200);
      expect((await admin.send(`${path}/undelete`)).status).toBe(409);
    });

    test('stays away after thirty days', async () => {
      const late = createTestRegistry(unlimited);
      await publishVersion(late, '@acme/apis/old', '1.0.0');
      const coordinate = { org: 'acme', type: 'apis', slug: 'old' } as const;
      const author = { actor: 'operator:test', origin: null };
      await deleteRecord(late, coordinate, author);
      const inDays = (days: number) => ({ ...late, now: () => new Date(Date.now() + days * 86_400_000) });
      await expect(restoreRecord(inDays(31), coordinate, author)).rejects.toThrow('more than 30 days ago');
      const once = { ...author, operation: 'one' };
      await restoreRecord(inDays(29), coordinate, once);
      // The same request again, whose first answer was lost.
      await restoreRecord(inDays(29), coordinate, once);
      await expect(restoreRecord(inDays(29), coordinate, author)).rejects.toThrow('is not deleted');
    });
  });

  test('a repository is followed, and its first sync is watched to its end', async () => {
    const { registry, source } = createWorld(unlimited);
    const url = 'https://github.com/acme/contracts';
    source.push(url, { 'pay.yaml': 'openapi: 3.1.0\ninfo: {title: Pay, version: "1.0.0"}\n' });
    await using world = await openConsole(registry);
    const person = await world.signIn();
    const refused = await person.send('/console/acme/repositories/new', { '/repository': 'https://evil.test/x' });
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('value="https://evil.test/x"');
    const typed = { '/repository': url, '/branch': '', '/path': '', '/visibility': 'public' };
    const followed = (await person.send('/console/acme/repositories/new', typed)).headers.get('location')!;
    // It is read at once, which shows whether it can be.
    const run = followed.replace(/\?.*/, '');
    const at = run.replace(/\/runs\/.*/, '');
    const page = await person.follow(run);
    expect(page.text).toContain('Sync succeeded');
    expect(page.text).toMatch(/<dt>Because of<\/dt><dd>\s*somebody asked/);
    expect((await person.get(at)).text).toMatch(/<td data-name="[^"]*">\s*somebody asked/);
    expect(page.text).toContain('href="/console/acme/apis/pay"');
    const isPublished = async () =>
      (await createBrowser().request(`${world.url}/@acme/apis/pay@1.0.0.json`)).status === 200;
    expect(await isPublished()).toBe(true);

    source.push(url, { 'pay.yaml': 'broken: true\nopenapi: 3.1.0\n' });
    const rejected = await person.get((await person.send(`${at}/sync`)).headers.get('location')!);
    expect(rejected.text).toContain('1 of 1 document rejected');
    expect(rejected.text).not.toContain('succeeded');
    expect(rejected.text).toContain('Findings in pay.yaml');
    expect(rejected.text).toContain('It is broken.');

    // One that was never published has a page, which the overview and the run lead to.
    source.push(url, {
      'pay.yaml': 'broken: true\nopenapi: 3.1.0\n',
      'new.yaml': 'openapi: 3.1.0\nbroken: true\ninfo: {title: New, version: "1.0.0"}\n',
    });
    const both = await person.get((await person.send(`${at}/sync`)).headers.get('location')!);
    expect(both.text).toContain('href="/console/acme/apis/contracts"');
    const overview = await person.get('/console/acme');
    expect(overview.text).toContain('2 rejected documents');
    expect(overview.text).toContain('href="/console/acme/apis/contracts"');
    const unseen = await person.get('/console/acme/apis/contracts');
    expect(unseen.text).toMatch(/<span class="tag bad">rejected<\/span>/);
    expect(unseen.text).toContain('Findings in new.yaml');
    expect(unseen.text).toContain('It is broken.');

    source.setReachable(false);
    const failed = await person.get((await person.send(`${at}/sync`)).headers.get('location')!);
    expect(failed.text).toContain('Sync failed');
    expect(failed.text).toMatch(new RegExp(`action="${at}/sync".*Try again`, 's'));

    expect((await person.get(`${at}/unfollow`)).text).toContain('Published versions stay');
    const left = await person.send(`${at}/unfollow`);
    expect(left.headers.get('location')).toMatch(/^\/console\/acme\/repositories\?done=/);
    expect((await person.get('/console/acme/repositories')).text).not.toContain(url);
    expect(await isPublished()).toBe(true);
  });

  describe('walls', () => {
    const path = `${pay}/visibility`;
    const typed = { '/visibility': 'public' };
    const isPrivate = async () => expect(await recordOf('/apis/pay')).toMatchObject({ visibility: 'private' });

    test.each([
      ['another site', { 'sec-fetch-site': 'cross-site' }],
      ['a sister site', { 'sec-fetch-site': 'same-site' }],
      ['another origin, in a browser that says no more', { origin: 'https://evil.test' }],
      ['a browser that says nothing', {}],
    ])('a form from %s changes nothing, even with the token', async (_, headers) => {
      expect((await admin.send(path, typed, { headers: headers as Record<string, string> })).status).toBe(403);
      await isPrivate();
    });

    test.each([[{}], [{ token: 'x' }], [{ token: '' }]])(
      'without its token, a form is shown again: %j',
      async (hidden) => {
        const page = await admin.send(path, typed, { hidden });
        expect(page.text).toContain('You signed in again.');
        expect(page.text).toContain('<option value="public" selected>');
        await isPrivate();
      },
    );

    test('a session that ended in the middle of a form: nothing is done, and nothing typed is lost', async () => {
      const nobody = createBrowser();
      const body = new URLSearchParams({ token: 'old', '/name': '"><img src=x>', '/description': 'two\nlines' });
      const target = `${server.url}${pay}/details`;
      const page = await nobody.request(target, { method: 'POST', body, headers: ownPage });
      expect(page.status).toBe(401);
      expect(page.text).toContain(
        '<textarea hidden name="/description" aria-hidden="true" tabindex="-1">\ntwo\nlines</textarea>',
      );
      expect(page.text).not.toContain('<img src=x>');
      expect(page.text).toContain(`action="${pay}/details"`);
      const kept = await admin.browser.request(target, {
        method: 'POST',
        body: new URLSearchParams({ '/name': 'Kept', '/description': 'two\nlines' }),
        headers: ownPage,
      });
      expect(kept.text).toContain('value="Kept"');
      const foreign = await nobody.request(target, {
        method: 'POST',
        body,
        headers: { 'sec-fetch-site': 'cross-site' },
      });
      expect(foreign.status).toBe(403);
    });

    test('what is typed is text on every page, whatever it is', async () => {
      const payload = `"'></textarea></title><script>alert(1)</script><img src=x onerror=alert(1)>`;
      const everywhere = ['details', 'checks', 'latest', 'connection', 'publish', 'versions/1.1.0/deprecate'].map(
        (form) => `${pay}/${form}`,
      );
      everywhere.push('/console/acme/keys/new', '/console/acme/webhooks/new', '/console/new');
      for (const form of everywhere) {
        const names = [...(await admin.get(form)).text.matchAll(/ name="([/?][^"]*)"/g)].map(([, name]) => name!);
        const page = await admin.send(form, {
          ...Object.fromEntries(names.map((name) => [name, payload])),
          do: 'check',
        });
        expect(page.text, form).not.toContain('<img src=x');
        expect(page.text, form).not.toContain('<script>alert');
      }
    });

    test('pages about versions offer to compare any two', async () => {
      for (const version of ['1.0.0', '1.1.0']) await publishVersion(server.registry, '@acme/apis/twice', version);
      const compare =
        '<form class="compare" action="/@acme/apis/twice/diff"><label>Compare <select name="from"><option>1.1.0</option><option selected>1.0.0';
      for (const view of ['', '/versions', '/diff']) {
        const page = await createBrowser().request(`${server.url}/@acme/apis/twice${view}`, {
          headers: { accept: 'text/html' },
        });
        expect(page.text, view).toContain(compare);
      }
    });

    test('the overview is one list, narrowed by words, type and state', async () => {
      await publishVersion(server.registry, '@acme/apis/listed', '1.0.0');
      const rowsOf = async (query: string) => {
        const { text } = await admin.get(`/console/acme${query}`);
        return [...text.matchAll(/<a href="\/console\/acme\/(\w+\/[\w-]+)">/g)].map(([, name]) => name);
      };
      const all = await rowsOf('');
      expect(all).toContain('apis/listed');
      expect(await rowsOf('?q=LISTED')).toEqual(['apis/listed']);
      expect(await rowsOf('?q=listed&type=schemas')).toEqual([]);
      expect(await rowsOf('?q=listed&state=none')).toEqual([]);
      // A state that there is not is none, whatever objects have by nature.
      expect((await rowsOf('?q=listed&state=constructor')).length).toBeGreaterThan(0);
      expect((await admin.get('/console/acme?q=nowhere')).text).toContain(
        'No resource is like this. Take away a filter.',
      );
    });

    test('the audit is narrowed by what and who', async () => {
      await publishVersion(server.registry, '@acme/apis/listed', '1.0.1');
      const found = (await admin.get('/console/acme/audit?resource=apis/listed')).text;
      expect(found).toContain('@acme/apis/listed');
      expect(found).toContain('name="resource" value="apis/listed"');
      expect((await admin.get('/console/acme/audit?actor=nobody')).text).toContain('No change is like this.');
    });

    test('no page may be framed, kept or run a foreign script', async () => {
      for (const page of [
        '/console/acme',
        path,
        '/console/new',
        '/console/acme/keys',
        '/console/acme/audit',
        '/account',
      ]) {
        const { headers, status } = await admin.get(page);
        expect(status, page).toBe(200);
        const policy = headers.get('content-security-policy')!;
        for (const wall of ["frame-ancestors 'none'", "script-src 'self'", "form-action 'self'"])
          expect(policy).toContain(wall);
        expect(headers.get('cache-control')).toBe('private, no-store');
        // What has a token is not compressed: its size would tell of it.
        if (page !== '/account') expect(headers.get('content-encoding')).toBeNull();
      }
    });

    test.each([
      '/console/acme/',
      '/console//',
      '/console/acme/apis/pay/%00',
      '/console/%40acme',
      '/console/__proto__',
      '/console/acme/toString',
    ])('%s is nowhere', async (target) => {
      expect((await admin.get(target)).status).toBe(404);
    });
  });

  describe('/v1 with a session', () => {
    test('reads as the person, and changes with the token of the session only', async () => {
      expect(JSON.parse((await admin.get('/v1/me')).text)).toMatchObject({
        organization: 'acme',
        key: { name: 'ada' },
      });
      const token = await tokenOf(admin);
      const ask = (headers: Record<string, string>) =>
        admin.browser.request(`${server.url}/v1/apis/pay`, {
          method: 'PATCH',
          headers: { 'content-type': 'application/json', ...headers },
          body: '{"description":"by session"}',
        });
      expect((await ask(ownPage)).status).toBe(403);
      expect((await ask({ 'stele-session-token': token })).status).toBe(403);
      expect((await ask({ 'sec-fetch-site': 'cross-site', 'stele-session-token': token })).status).toBe(403);
      expect((await ask({ ...ownPage, 'stele-session-token': token })).status).toBe(200);
    });

    test('an operator names the organization', async () => {
      const operator = await server.operate();
      const ask = (headers: Record<string, string> = {}) =>
        operator.browser.request(`${server.url}/v1/apis/secret`, { headers });
      expect((await ask()).status).toBe(400);
      expect((await ask({ 'stele-organization': 'other' })).status).toBe(200);
      expect((await ask({ 'stele-organization': 'acme' })).status).toBe(404);
    });
  });

  async function tokenOf({ get }: Person): Promise<string> {
    return hiddenIn((await get('/console/new')).text)['token']!;
  }
});
