import createClient from 'openapi-fetch';
import { Webhook as Verifier } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { resourceTypes } from '../../../src/model/address.ts';
import { openDeliveries } from '../../../src/events/deliveries.ts';
import { openReceiver } from '../../servers/receiver.ts';
import { createHosts } from '../../../src/hosts/hosts.ts';
import { createTestRegistry, publishVersion } from '../registry.ts';
import { documentOf, openApi, unlimited, type Api } from './api.ts';
import { calls, type Client } from './calls.ts';
import { breaches, description } from './described.ts';
import type { paths } from '../../../src/server/v1/management.d.ts';
import { createTestRepository } from './repository.ts';

/**
 * Calls every operation by openapi-fetch, with types that `scripts/client-types.ts` writes from the description: what the description says
 * of arguments and answers is what the server takes and gives.
 */
const repository = createTestRepository('https://github.com/acme/contracts');
const called = new Set<string>();
let api: Api;
let client: Client;

function clientWith(key: string | null): Client {
  const made = createClient<paths>({
    baseUrl: api.url,
    ...(key !== null && { headers: { authorization: `Bearer ${key}` } }),
  });
  made.use({
    async onResponse({ request, response, schemaPath }) {
      const { method, url } = request;
      called.add(`${method} ${schemaPath}`);
      const { pathname, search } = new URL(url);
      const { status, headers } = response;
      const text = await response.clone().text();
      expect(breaches({ method, target: pathname + search, status, headers, text })).toEqual([]);
    },
  });
  return made;
}

beforeAll(async () => {
  const user = { ...unlimited, webhooks: { allowPrivateAddresses: true } };
  const plain = createTestRegistry(user);
  api = await openApi({ ...plain, source: repository.source, hosts: createHosts(plain.config) });
  client = clientWith(api.admin);
});
afterAll(() => api[Symbol.asyncDispose]());

describe('in this order', { shuffle: false }, () => {
  test.for(resourceTypes)('%s', async (type) => {
    const call = calls[type];
    const { data: created, error } = await call.create(client, 'payments', `${type}-1`);
    expect(error).toBeUndefined();
    expect(created!.coordinate).toBe(`@acme/${type}/payments`);
    expect((await call.create(client, 'payments', `${type}-1`)).data).toEqual(created);
    const { error: taken } = await call.create(client, 'payments', `${type}-2`);
    expect(taken!.title).toBe('Conflict with the current state');
    expect((await call.list(client)).data!.items.map(({ id }) => id)).toEqual(['payments']);

    const { data: published } = await call.publish(client, 'payments', documentOf('1.0.0'));
    expect(published!.outcome).toBe('published');
    const { error: refused } = await call.publish(client, 'payments', '{"refuse": "No."}');
    expect(refused!.problems![0]!.message).toBe('No.');
    expect((await call.compare(client, 'payments', documentOf('2.0.0'), '1')).data).toMatchObject({ from: '1.0.0' });
    expect((await call.versions(client, 'payments')).data!.items[0]!.digest).toBe(published!.digest);
    expect((await call.version(client, 'payments', '1.0.0')).data!.status.state).toBe('active');
    expect((await call.dependants(client, 'payments')).data!.items).toEqual([]);

    const { response } = await call.get(client, 'payments');
    const { data: changed } = await call.update(client, 'payments', response.headers.get('etag')!);
    expect(changed!.visibility).toBe('public');
    expect((await call.update(client, 'payments', '"0"')).error!.status).toBe(412);

    const path = `${type}.json`;
    const commit = repository.commit({ [path]: documentOf('2.0.0') });
    expect((await call.connect(client, 'payments', repository.url, path)).data!.document).toBeNull();
    const { data: run } = await call.sync(client, 'payments');
    expect(run!.documents).toMatchObject([{ outcome: 'published', version: '2.0.0' }]);
    expect((await call.syncs(client, 'payments')).data!.items[0]).toEqual(run);
    expect((await call.syncRun(client, 'payments', run!.id)).data).toEqual(run);
    expect((await call.connection(client, 'payments')).data!.commit).toBe(commit);
    await call.disconnect(client, 'payments');

    expect((await call.yank(client, 'payments', '2.0.0')).data!.status.state).toBe('yanked');
    expect((await call.get(client, 'payments')).data!.latest).toBe('1.0.0');
    expect((await call.remove(client, 'payments')).response.status).toBe(204);
    expect((await call.get(client, 'payments')).error!.status).toBe(404);
    expect((await call.undelete(client, 'payments')).data!.latest).toBe('1.0.0');
    expect((await call.get(client, 'payments')).data!.connection).toBeNull();
  });

  test('a replay of a ruleset', async () => {
    await publishVersion(api.registry, '@acme/rulesets/candidate', '1.0.0');
    const path = { ruleset: 'candidate' };
    const { data } = await client.POST('/v1/rulesets/{ruleset}/replay', {
      params: { path },
      body: { version: '1.0.0' },
    });
    expect(data).toMatchObject({ items: [], totals: { checked: 0, others: 0 }, next: null });
  });

  test('keys, and who one is', async () => {
    const { data: key } = await client.POST('/v1/keys', { body: { name: 'ci', scopes: ['read'] } });
    const { data: me } = await clientWith(key!.secret).GET('/v1/me');
    expect([me!.organization, me!.key!.id]).toEqual(['acme', key!.id]);
    const path = { key: key!.id };
    expect((await client.GET('/v1/keys')).data!.items.map(({ id }) => id)).toContain(key!.id);
    expect((await client.GET('/v1/keys/{key}', { params: { path } })).data!.revokedAt).toBeNull();
    const { data: renamed } = await client.PATCH('/v1/keys/{key}', { params: { path }, body: { name: 'ci of pay' } });
    expect(renamed!.name).toBe('ci of pay');
    const { data: rotated } = await client.POST('/v1/keys/{key}/rotate', { params: { path }, body: { overlap: 60 } });
    expect([rotated!.name, rotated!.id === key!.id]).toEqual(['ci of pay', false]);
    await client.DELETE('/v1/keys/{key}', { params: { path } });
    expect((await clientWith(key!.secret).GET('/v1/me')).error!.status).toBe(401);
  });

  test('keys of people are not for the key of an organization, nor for a registry without sign-in', async () => {
    expect((await client.GET('/v1/me/keys')).error!.status).toBe(403);
    const body = { name: 'laptop', scopes: ['read' as const] };
    expect((await client.POST('/v1/me/keys', { body })).error!.status).toBe(403);
    const key = { params: { path: { key: '0'.repeat(12) } } };
    expect((await client.DELETE('/v1/me/keys/{key}', key)).error!.status).toBe(403);
    expect((await client.GET('/v1/me/watches')).error!.status).toBe(403);
    expect((await client.POST('/v1/me/watches', { body: { organization: 'acme' } })).error!.status).toBe(403);
    const watch = { params: { path: { watch: '0123456789abcdefghij' } } };
    expect((await client.DELETE('/v1/me/watches/{watch}', watch)).error!.status).toBe(403);
    const code = { params: { path: { code: 'BCDF-GHJK' } } };
    expect((await client.GET('/v1/me/devices/{code}', code)).error!.status).toBe(403);
    const decided = await client.POST('/v1/me/devices/{code}', { ...code, body: { granted: true } });
    expect(decided.error!.status).toBe(403);
    expect((await client.POST('/v1/devices', { body: { name: 'tool', scopes: ['read'] } })).error!.status).toBe(404);
    const taken = await client.POST('/v1/devices/token', { body: { deviceCode: 'BCDFGHJK.secret' } });
    expect(taken.error!.status).toBe(404);
  });

  test('documentation sites', async () => {
    const { data: made } = await client.POST('/v1/sites', { body: { title: 'Handbook', slug: 'handbook' } });
    const site = { path: { site: made!.id } };
    expect((await client.GET('/v1/sites')).data!.items.map(({ id }) => id)).toEqual(['handbook']);
    const { data: changed } = await client.PATCH('/v1/sites/{site}', {
      params: site,
      body: { theme: { accent: '#123' } },
    });
    expect(changed!.theme).toEqual({ accent: '#123' });
    const page = { path: { site: 'handbook', page: 'guide/start.md' } };
    const body = { title: 'Start', markdown: '---js\nNo front matter.\n', api: '@acme/apis/none' };
    const { response: saved } = await client.PUT('/v1/sites/{site}/pages/{page}', { params: page, body });
    expect((await client.GET('/v1/sites/{site}/pages/{page}', { params: page })).data).toMatchObject(body);
    const stale = { ...page, header: { 'If-Match': '"0"' } };
    expect((await client.PUT('/v1/sites/{site}/pages/{page}', { params: stale, body })).error!.status).toBe(412);
    const current = { ...page, header: { 'If-Match': saved.headers.get('etag')! } };
    expect((await client.PUT('/v1/sites/{site}/pages/{page}', { params: current, body })).error).toBeUndefined();

    const put = (name: string, raw: string) =>
      api.call('PUT', `/v1/sites/handbook/files/${name}`, { key: api.admin, raw });
    expect((await put('index.md', '# Home')).status).toBe(200);
    const data = { path: { site: 'handbook', file: 'data.json' } };
    expect(
      (await client.PUT('/v1/sites/{site}/files/{file}', { params: data, body: {} as never })).error,
    ).toBeUndefined();
    expect((await put('images/a.png', '<html>')).status).toBe(415);
    expect((await put('a.html', '<html>')).status).toBe(415);
    const files = (await client.GET('/v1/sites/{site}/files', { params: site })).data!.items.map(({ path }) => path);
    expect(files).toEqual(['data.json', 'guide/start.md', 'index.md']);
    expect((await client.GET('/v1/sites/{site}/pages', { params: site })).data!.items).toHaveLength(2);

    const { data: bytes } = await client.GET('/v1/sites/{site}/files/{file}', {
      params: { path: { site: 'handbook', file: 'guide/start.md' } },
      parseAs: 'text',
    });
    expect(bytes).toBe('---\ntitle: "Start"\napi: "@acme/apis/none"\n---\n---js\nNo front matter.\n');

    const { data: preview } = await client.POST('/v1/sites/{site}/previews', { params: site });
    expect(preview).toMatchObject({ rendered: 2, report: { problems: [{ rule: 'site-reference-missing' }] } });
    expect(preview!.url).toMatch(/\/previews\/[0-9a-z]{9}-[0-9a-f]{32}\/$/);
    expect((await client.GET('/v1/sites/{site}', { params: site })).data!.current).toBeNull();
    const number = { path: { site: 'handbook', deployment: '1' } };
    expect((await client.GET('/v1/sites/{site}/deployments/{deployment}', { params: number })).error!.status).toBe(404);

    const { data: first } = await client.POST('/v1/sites/{site}/publish', { params: site, body: {} });
    expect(first).toMatchObject({ outcome: 'published', rendered: 2, deployment: { id: '1', current: true } });
    expect(first!.report.problems.map(({ rule }) => rule)).toEqual(['site-reference-missing']);
    const { data: shown } = await client.GET('/v1/sites/{site}/deployments/{deployment}', { params: number });
    expect(shown).toEqual(first!.deployment);
    const file = { path: { site: 'handbook', file: 'guide/start.md' } };
    await client.DELETE('/v1/sites/{site}/files/{file}', { params: file });
    await client.POST('/v1/sites/{site}/publish', { params: site, body: {} });
    const { data: again } = await client.POST('/v1/sites/{site}/publish', { params: site, body: { deployment: '1' } });
    expect(again).toMatchObject({ outcome: 'published', deployment: { id: '3', again: '1' } });
    const { data: all } = await client.GET('/v1/sites/{site}/deployments', { params: site });
    expect(all!.items.map(({ id, current: is }) => [id, is])).toEqual([
      ['3', true],
      ['2', false],
      ['1', false],
    ]);
    const home = { path: { site: 'handbook', page: 'index.md' } };
    expect((await client.DELETE('/v1/sites/{site}/pages/{page}', { params: home })).response.status).toBe(204);
    const { error } = await client.POST('/v1/sites/{site}/publish', { params: site, body: {} });
    expect(error).toMatchObject({ status: 422, problems: [{ rule: 'site-empty' }] });
    expect((await client.GET('/v1/sites/{site}', { params: site })).data!.current).toBe('3');
    const folder = { repository: repository.url, folder: 'docs' };
    const { data: connected } = await client.PUT('/v1/sites/{site}/connection', { params: site, body: folder });
    expect(connected).toMatchObject({ ...folder, settings: 'site', state: 'behind' });
    expect((await client.GET('/v1/sites/{site}/connection', { params: site })).data).toEqual(connected);
    repository.commit({ 'docs/index.md': '# Synced' });
    const { data: run } = await client.POST('/v1/sites/{site}/sync', { params: { ...site, query: { wait: 30 } } });
    expect(run!.documents).toMatchObject([{ path: 'docs', outcome: 'published' }]);
    expect((await client.GET('/v1/sites/{site}/syncs', { params: site })).data!.items[0]).toEqual(run);
    const one = { path: { site: 'handbook', run: run!.id } };
    expect((await client.GET('/v1/sites/{site}/syncs/{run}', { params: one })).data).toEqual(run);
    await client.DELETE('/v1/sites/{site}/connection', { params: site });
    expect((await client.DELETE('/v1/sites/{site}', { params: site })).response.status).toBe(204);
    const { data: gone } = await client.GET('/v1/sites', { params: { query: { deleted: true } } });
    expect(gone!.items.map(({ id, deletedAt }) => [id, typeof deletedAt])).toEqual([['handbook', 'string']]);
    const { data: back } = await client.POST('/v1/sites/{site}/undelete', { params: site });
    expect([back!.current, back!.deletedAt]).toEqual(['4', undefined]);
  });

  test('webhook endpoints', async () => {
    await using receiver = await openReceiver();
    const { data: made } = await client.POST('/v1/webhooks', { body: { url: receiver.url, events: ['latest.moved'] } });
    const path = { webhook: made!.id };
    const { response } = await client.GET('/v1/webhooks/{webhook}', { params: { path } });
    const header = { 'If-Match': response.headers.get('etag')! };
    const body = { description: 'Mine.' };
    const { data: changed } = await client.PATCH('/v1/webhooks/{webhook}', { params: { path, header }, body });
    expect([changed!.description, changed!.url]).toEqual(['Mine.', receiver.url]);
    const { data: rotated } = await client.POST('/v1/webhooks/{webhook}/rotate', { params: { path } });
    const { data: tested } = await client.POST('/v1/webhooks/{webhook}/test', { params: { path } });
    expect(tested).toMatchObject({ delivered: true, status: 204, error: null });
    const [received] = receiver.received;
    for (const { secret } of [made!, rotated!]) {
      const verified = new Verifier(secret).verify(received!.body, received!.headers as Record<string, string>);
      expect(verified).toEqual(received!.event);
    }
    expect((await client.GET('/v1/webhooks')).data!.items.map(({ id }) => id)).toEqual([made!.id]);

    const deliveries = openDeliveries(api.registry, 'http://registry.test');
    await publishVersion(api.registry, '@acme/apis/events', '1.0.0');
    await deliveries.poke();
    const query = { state: 'delivered' } as const;
    const { data: log } = await client.GET('/v1/webhooks/{webhook}/deliveries', { params: { path, query } });
    expect(log!.items).toMatchObject([{ type: 'latest.moved', attempts: [{ status: 204 }] }]);
    const event = { ...path, event: log!.items[0]!.id };
    const again = await client.POST('/v1/webhooks/{webhook}/deliveries/{event}/redeliver', { params: { path: event } });
    expect(again.data!.state).toBe('pending');
    await deliveries.close();
    expect((await client.DELETE('/v1/webhooks/{webhook}', { params: { path } })).response.status).toBe(204);
  });

  test('the organization, the limits and the description', async () => {
    const { data: audit } = await client.GET('/v1/audit', { params: { query: { limit: 5 } } });
    expect(audit!.items.length).toBeGreaterThan(0);
    const gate = { blockOn: 'error', ratchet: false, compatibility: 'none', impact: 'warn', approval: 'none' };
    const defaults = { visibility: 'private', validation: 'strict', ...gate, teams: {}, fromConfiguration: [] };
    const settings = { organization: 'acme', ruleset: null, configured: false, ...defaults };
    expect((await client.PATCH('/v1/organization', { body: { ruleset: null } })).data).toEqual(settings);
    expect((await client.GET('/v1/organization')).data).toEqual(settings);
    expect((await client.GET('/v1/members')).data).toEqual({ items: [], next: null });
    expect((await client.GET('/v1/organizations')).data!.items).toMatchObject([{ organization: 'acme' }]);
    expect((await client.POST('/v1/organizations', { body: { organization: 'new' } })).error!.status).toBe(403);
    expect((await client.GET('/v1/rights')).data!.items).toHaveLength(0);
    expect((await client.POST('/v1/rights', { body: { group: 'x', scopes: ['read'] } })).error!.status).toBe(409);
    const unknown = { params: { path: { rights: '0123456789abcdefghij' } } };
    expect((await client.DELETE('/v1/rights/{rights}', unknown)).error!.status).toBe(404);
    const report = { params: { path: { consumer: 'shop' } }, body: { contracts: [] } };
    const { data: consumer } = await client.PUT('/v1/consumers/{consumer}', report);
    expect((await client.GET('/v1/consumers')).data).toEqual({ items: [consumer], next: null });
    const { data: followed } = await client.GET('/v1/repositories', { params: { query: { state: 'synced' } } });
    expect(followed!.items.every(({ state }) => state === 'synced')).toBe(true);
    const { data: made } = await client.POST('/v1/repositories', {
      body: { repository: repository.url, branch: 'next' },
    });
    const path = { repository: made!.id };
    expect((await client.GET('/v1/repositories/{repository}', { params: { path } })).data!.state).toBe('behind');
    const { data: run } = await client.POST('/v1/repositories/{repository}/sync', {
      params: { path, query: { wait: 30 } },
    });
    const { data: runs } = await client.GET('/v1/repositories/{repository}/syncs', { params: { path } });
    expect(runs!.items.map(({ id }) => id)).toEqual([run!.id]);
    const one = { params: { path: { ...path, run: run!.id } } };
    expect((await client.GET('/v1/repositories/{repository}/syncs/{run}', one)).data).toEqual(run);
    expect((await client.DELETE('/v1/repositories/{repository}', { params: { path } })).response.status).toBe(204);
    const { data: changes } = await client.GET('/v1/changes', { params: { query: { limit: 5 } } });
    expect(changes!.items).toHaveLength(5);
    expect((await client.GET('/v1/owners')).data!.items).toEqual([]);
    const held = { params: { path: { approval: '0'.repeat(20) } } };
    expect((await client.GET('/v1/approvals')).data!.items).toEqual([]);
    expect((await client.GET('/v1/approvals/{approval}', held)).response.status).toBe(404);
    const decision = { ...held, body: { verdict: 'approved', reason: 'Nobody calls it.' } } as const;
    expect((await client.POST('/v1/approvals/{approval}', decision)).response.status).toBe(404);
    const ofAcme = { params: { path: { organization: 'acme' } } };
    const { data: health } = await client.GET('/v1/organizations/{organization}/health', ofAcme);
    expect(health).toMatchObject({ organization: 'acme', truncated: false });
    const asked = await client.POST('/v1/organizations/{organization}/health/replay', ofAcme);
    expect(asked.data).toMatchObject({ startedAt: null });
    expect((await client.GET('/v1/limits')).data!.request.pageItems).toBe(100);
    const open = clientWith(null);
    expect((await open.GET('/v1/openapi.json')).data!.openapi).toBe('3.1.0');
    const document = JSON.stringify({ openapi: '3.1.0', info: { title: 'New', version: '1.0.0' }, paths: {} });
    const candidate = { coordinate: '@acme/apis/brand-new', document, onConflict: 'revise' } as const;
    expect((await client.POST('/v1/check', { body: candidate })).data!.isNew).toBe(true);
    const { error } = await open.POST('/v1/token', { body: { token: 'aaaaaaaaaa.bbbbbbbbbb.cccccccccc' } });
    expect([400, 401]).toContain(error!.status);
  });

  test('hooks, which nobody signed', async () => {
    const open = clientWith(null);
    const payload = { ref: 'refs/heads/main', repository: { full_name: 'acme/contracts' } };
    for (const host of ['github', 'gitlab', 'gitea', 'bitbucket', 'azure']) {
      const { error } = await open.POST('/v1/hooks/{host}', { params: { path: { host } }, body: payload as never });
      expect(error!.status, host).toBe(401);
    }
  });

  test('every operation was called', () => {
    const all = description.operations.map(({ method, path }) => `${method.toUpperCase()} ${path}`);
    expect([...called].sort()).toEqual(all.sort());
  });
});
