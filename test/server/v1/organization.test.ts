import { expect, test } from 'vitest';
import { createRefs } from '../../../src/store/refs.ts';
import { createAnswerCache } from '../../../src/registry/answer-cache.ts';
import { newId } from '../../../src/registry/registry.ts';
import { createTestRegistry } from '../registry.ts';
import { documentOf, openApi, unlimited } from './api.ts';

test('keys: created and shown once, listed without secrets, narrowed, revoked', async () => {
  await using api = await openApi();
  const body = { name: 'ci', scopes: ['publish'], resources: ['apis/pay-*'], expiresAt: '2999-01-01T00:00:00Z' };
  const made = await api.call('POST', '/v1/keys', { body });
  expect(made.status).toBe(201);
  const { secret, ...record } = made.json;
  expect(secret).toMatch(/^stele_[0-9a-z]{12}_[0-9A-Za-z]{38}$/);
  expect(made.headers.get('location')).toBe(`http://registry.test/v1/keys/${String(record['id'])}`);
  const key = secret as string;
  const me = await api.call('GET', '/v1/me', { key });
  // The use may be noted after the answer.
  const { lastUsedAt } = me.json['key'] as { lastUsedAt: unknown };
  expect(me.json).toEqual({ organization: 'acme', key: { ...record, lastUsedAt } });

  expect((await api.call('POST', '/v1/apis', { key, body: { name: 'x', slug: 'pay-1' } })).status).toBe(201);
  expect((await api.call('POST', '/v1/apis', { body: { name: 'x', slug: 'ledger' } })).status).toBe(201);
  expect((await api.call('GET', '/v1/apis', { key })).json['items']).toMatchObject([{ id: 'pay-1' }]);

  const listed = await api.call('GET', '/v1/keys?q=CI');
  expect(listed.json['items']).toMatchObject([{ ...record, lastUsedAt: expect.any(String) }]);
  expect(listed.text).not.toContain(key);
  expect(listed.text).not.toContain('hash');

  expect((await api.call('DELETE', `/v1/keys/${String(record['id'])}`)).status).toBe(204);
  expect((await api.call('GET', '/v1/me', { key })).status).toBe(401);
  expect((await api.call('DELETE', `/v1/keys/${String(record['id'])}`)).status).toBe(204);
  const got = await api.call('GET', `/v1/keys/${String(record['id'])}`);
  expect(got.json['revokedAt']).not.toBeNull();
  const etag = got.headers.get('etag')!;
  const again = await api.call('GET', `/v1/keys/${String(record['id'])}`, { headers: { 'if-none-match': etag } });
  expect(again.status).toBe(304);
  expect((await api.call('DELETE', '/v1/keys/000000000000')).status).toBe(404);
});

test('how documents are isolated is shown to keys that may do everything, and to no others', async () => {
  const registry = createTestRegistry();
  registry.compiler.isolation = async () => ({ kind: 'node' });
  await using api = await openApi(registry);
  expect((await api.call('GET', '/v1/limits')).json).toMatchObject({ sandbox: { isolation: 'node' } });
  for (const narrow of [{ scopes: ['read', 'publish'] }, { scopes: ['admin'], resources: ['apis/pay-*'] }]) {
    const made = await api.call('POST', '/v1/keys', { body: { name: 'narrow', ...narrow } });
    const limits = await api.call('GET', '/v1/limits', { key: made.json['secret'] as string });
    expect(limits.status).toBe(200);
    expect(limits.json).not.toHaveProperty('sandbox');
  }
});

test.for([
  [{ name: 'x', scopes: [] }, '/scopes'],
  [{ name: 'x', scopes: ['root'] }, '/scopes/0'],
  [{ name: 'x', scopes: ['read', 'read'] }, '/scopes'],
  [{ name: 'x', scopes: ['read'], resources: [] }, '/resources'],
  [{ name: 'x', scopes: ['read'], resources: ['pages/*'] }, '/resources/0'],
  [{ name: 'x', scopes: ['read'], expiresAt: '2020-01-01T00:00:00Z' }, '/expiresAt'],
  [{ name: 'x', scopes: ['read'], expiresAt: 'soon' }, '/expiresAt'],
] as const)('a key like %j is refused', async ([body, pointer]) => {
  await using api = await openApi();
  const { status, json } = await api.call('POST', '/v1/keys', { body });
  expect(status).toBe(400);
  expect(json['errors']).toMatchObject([{ pointer }]);
});

test('the audit: who did what, when, from where, to which generation, newest first', async () => {
  await using api = await openApi();
  const { json } = await api.call('GET', '/v1/me');
  const actor = `key:${(json['key'] as { id: string }).id}`;
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
  await api.call('POST', '/v1/apis/pay/spec', { body: { document: documentOf('1.0.0') } });
  await api.call('PATCH', '/v1/apis/pay', { body: { visibility: 'public', name: 'Payments', latest: '1.0.0' } });
  await api.call('PATCH', '/v1/apis/pay/versions/1.0.0', { body: { status: { state: 'yanked', reason: 'x' } } });
  await api.call('POST', '/v1/schemas', { body: { name: 'Money', slug: 'money' } });
  await api.call('DELETE', '/v1/apis/pay');
  const other = await api.makeKey({ org: 'other' });
  await api.call('POST', '/v1/apis', { key: other, body: { name: 'Theirs', slug: 'pay' } });

  const subject = { kind: 'resource', id: '@acme/apis/pay' };
  const expected = ['delete', 'yank 1.0.0', 'make public, change name, pin 1.0.0', 'publish 1.0.0', 'create'];
  const one = await api.call('GET', '/v1/audit?resource=apis/pay');
  const seen = (one.json['items'] as { action: string }[]).map(({ action }) => action);
  expect(seen[2]!.split(', ').sort()).toEqual(expected[2]!.split(', ').sort());
  expect(seen.toSpliced(2, 1)).toEqual(expected.toSpliced(2, 1));
  expect((one.json['items'] as object[])[0]).toEqual({
    at: expect.any(String),
    actor,
    origin: '127.0.0.1',
    action: 'delete',
    subject,
    generation: 5,
  });
  expect((await api.call('GET', '/v1/audit?resource=@acme/apis/pay')).json).toEqual(one.json);
  expect((await api.call('GET', '/v1/audit?resource=@other/apis/pay')).json['items']).toEqual([]);

  const all: unknown[] = [];
  for (let next: unknown = ''; next !== null;) {
    const page = await api.call('GET', `/v1/audit?limit=2${next === '' ? '' : `&cursor=${String(next)}`}`);
    all.push(...(page.json['items'] as unknown[]));
    next = page.json['next'];
  }
  const whole = await api.call('GET', '/v1/audit');
  expect(all).toEqual(whole.json['items']);
  const times = (all as { at: string }[]).map(({ at }) => at);
  expect(times).toEqual(times.toSorted().toReversed());
  expect(all).toHaveLength(7);
  expect(whole.text).not.toContain('Theirs');

  expect((await api.call('GET', `/v1/audit?actor=${actor}`)).json['items']).toHaveLength(6);
  expect((await api.call('GET', '/v1/audit?actor=key:nobody')).json['items']).toEqual([]);
  const { at } = (all as { at: string }[])[2]!;
  const later = (await api.call('GET', `/v1/audit?since=${at}`)).json['items'] as { at: string }[];
  const earlier = (await api.call('GET', `/v1/audit?until=${at}`)).json['items'] as { at: string }[];
  expect(later.every((entry) => entry.at >= at) && earlier.every((entry) => entry.at < at)).toBe(true);
  expect(later.length + earlier.length).toBe(7);
});

test('a change of visibility and a revoked key hold in another process within a second', async () => {
  let late = 0;
  const registry = {
    ...createTestRegistry(unlimited),
    now: () => new Date(Date.now() + late),
    monotonic: () => performance.now() + late,
  };
  // As the server has it: what it read is taken as the newest for a while.
  const asServed = () => {
    const refs = createRefs(registry.bucket, { ...registry, uniqueId: () => newId(registry) });
    return { ...registry, refs, answers: createAnswerCache(refs) };
  };
  await using one = await openApi(registry, asServed);
  await using two = await openApi(registry, asServed);
  await one.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay', visibility: 'public' } });
  await one.call('POST', '/v1/apis/pay/spec', { body: { document: documentOf('1.0.0') } });
  const read = async () => (await fetch(`${two.url}/@acme/apis/pay@1.0.0.json`)).status;
  const keyed = async () => (await two.call('GET', '/v1/me', { key: one.admin })).status;
  late += 1000;
  expect([await read(), await keyed()]).toEqual([200, 200]);
  const { json } = await one.call('GET', '/v1/me');
  await one.call('PATCH', '/v1/apis/pay', { body: { visibility: 'private' } });
  await one.call('DELETE', `/v1/keys/${(json['key'] as { id: string }).id}`);
  late += 1000;
  expect([await read(), await keyed()]).toEqual([404, 401]);
});

test('a ruleset gates what is published, and must be there to be named', async () => {
  await using api = await openApi();
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
  const name = (ruleset: string | null) => api.call('PATCH', '/v1/apis/pay', { body: { ruleset } });
  expect((await name('@acme/rulesets/style')).status).toBe(422);
  await api.call('POST', '/v1/rulesets', { body: { name: 'Style', slug: 'style' } });
  expect((await name('@acme/rulesets/style')).status).toBe(422);
  await api.call('POST', '/v1/rulesets/style/document', { body: { document: documentOf('1.0.0') } });
  expect((await name('@acme/rulesets/style@^1')).json).toMatchObject({ ruleset: '@acme/rulesets/style@^1' });
  expect((await name('@acme/rulesets/style@2')).status).toBe(422);
  const other = await api.makeKey({ org: 'other' });
  await api.call('POST', '/v1/apis', { key: other, body: { name: 'x', slug: 'x' } });
  const theirs = () => api.call('PATCH', '/v1/apis/x', { key: other, body: { ruleset: '@acme/rulesets/style' } });
  expect((await theirs()).status).toBe(422);
  await api.call('PATCH', '/v1/rulesets/style', { body: { visibility: 'public' } });
  expect((await theirs()).status).toBe(200);
  expect((await api.call('DELETE', '/v1/rulesets/style')).status).toBe(409);
  await api.call('DELETE', '/v1/rulesets/style?force=true');
  const shut = await api.call('POST', '/v1/apis/pay/spec', { body: { document: documentOf('1.0.0') } });
  expect([shut.status, shut.json['detail']]).toEqual([422, expect.stringContaining('does not exist')]);
  expect((await name(null)).status).toBe(200);
  expect((await api.call('POST', '/v1/apis/pay/spec', { body: { document: documentOf('1.0.0') } })).status).toBe(201);
});

test('a cursor that counts changes which the registry lost is 410, and not the end', async () => {
  await using api = await openApi();
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay', visibility: 'public' } });
  for (const label of ['1.0.0', '1.1.0'])
    await api.call('POST', '/v1/apis/pay/spec', { body: { document: documentOf(label) } });
  const { next } = (await api.call('GET', '/v1/changes')).json as { next: string };
  const page = (await api.call('GET', '/v1/audit?limit=1')).json as { next: string };
  const paths = [`/v1/changes?after=${next}`, `/v1/audit?cursor=${page.next}`];
  const { registry } = api;
  const answers = async () => {
    // Another process, without what this one has in memory.
    const refs = createRefs(registry.bucket, { ...registry, uniqueId: () => newId(registry), maxAge: 0 });
    await using other = await openApi({ ...registry, refs, answers: createAnswerCache(refs) });
    return await Promise.all(paths.map(async (path) => (await other.call('GET', path, { key: api.admin })).status));
  };
  expect(await answers()).toEqual([200, 200]);
  const entries = await registry.bucket.list('log/@acme/', { limit: 2 });
  for (const key of entries) await registry.bucket.delete(key);
  expect(await answers()).toEqual([410, 410]);
});

test('changes are followed: each once, in order, and only what the key may read', async () => {
  await using api = await openApi();
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay', visibility: 'public' } });
  await api.call('POST', '/v1/apis', { body: { name: 'Secret', slug: 'secret', visibility: 'private' } });
  await api.call('POST', '/v1/apis/pay/spec', { body: { document: documentOf('1.0.0') } });
  const narrow = await api.makeKey({ scopes: ['read'], resources: ['apis/pay'] });
  const follow = async (query: string, key = api.admin) => {
    const { status, json } = await api.call('GET', `/v1/changes?${query}`, { key });
    expect(status).toBe(200);
    const items = json['items'] as { action: string; actor: string | null; subject: { id: string; kind: string } }[];
    return { items, next: String(json['next']), hasMore: json['hasMore'] };
  };
  const own: string[] = [];
  for (let query = 'limit=1'; ;) {
    const { items, next, hasMore } = await follow(query);
    own.push(...items.map(({ action, subject }) => `${subject.kind} ${action}`));
    query = `limit=1&after=${next}`;
    if (!hasMore) break;
  }
  expect(own.filter((each) => each.startsWith('resource'))).toEqual([
    'resource create',
    'resource create',
    'resource publish 1.0.0',
  ]);
  expect(own.filter((each) => each.startsWith('key')).length).toBeGreaterThan(1);
  const seen = await follow('limit=100', narrow);
  expect(seen.items.map(({ action, actor, subject }) => [action, actor, subject.id])).toEqual([
    ['create', null, '@acme/apis/pay'],
    ['publish 1.0.0', null, '@acme/apis/pay'],
  ]);
  // A cursor counts what is hidden: it is sealed, of one length, and good for this key alone.
  for (let n = 0; n < 10; n++) await api.makeKey();
  expect(seen.next).toHaveLength((await follow('limit=100')).next.length);
  expect((await api.call('GET', `/v1/changes?after=${seen.next}`)).status).toBe(400);
  const forged = Buffer.from('plain:{"own":1,"keys":0}').toString('base64url');
  expect((await api.call('GET', `/v1/changes?after=${forged}`, { key: narrow })).status).toBe(400);
  // What is hidden does not count as more.
  await api.call('POST', '/v1/apis/secret/spec', { body: { document: documentOf('0.8.0') } });
  const first = await follow('limit=2', narrow);
  expect(first.hasMore).toBe(false);
  await api.call('POST', '/v1/apis/secret/spec', { body: { document: documentOf('0.9.0') } });
  expect(await follow(`limit=2&after=${first.next}`, narrow)).toMatchObject({ items: [], hasMore: false });
  const waiting = follow(`wait=20&after=${seen.next}`, narrow);
  await api.call('POST', '/v1/apis/secret/spec', { body: { document: documentOf('1.0.0') } });
  await api.call('POST', '/v1/apis/pay/spec', { body: { document: documentOf('1.1.0') } });
  expect((await waiting).items.map(({ action }) => action)).toEqual(['publish 1.1.0']);
  expect((await api.call('GET', '/v1/changes?after=bm90IG91cnM')).status).toBe(400);
});

test('quotas are refused with what to do, and shown; how much there is, only to those who may see everything', async () => {
  const organizations = { acme: { quotas: { resources: 1, bytes: 1_000_000 } } };
  await using api = await openApi(createTestRegistry({ ...unlimited, organizations, quotas: { keys: 7 } }));
  const make = (slug: string) => api.call('POST', '/v1/apis', { body: { name: slug, slug } });
  expect((await make('one')).status).toBe(201);
  const refused = await make('two');
  expect([refused.status, refused.json]).toMatchObject([
    403,
    {
      type: 'http://registry.test/problems/quota_exceeded',
      quota: 'resources',
      limit: 1,
      detail:
        'The organization acme may have at most 1 resources. Delete resources that nobody needs, or ask the operator of the registry for more.',
    },
  ]);
  const published = await api.call('POST', '/v1/apis/one/spec', { body: { document: documentOf('1.0.0') } });
  expect(published.status).toBe(201);
  const quotas = { bytes: 1_000_000, resources: 1, versions: null, keys: 7, sites: null, drafts: null };
  const { json } = await api.call('GET', '/v1/limits');
  expect(json).toMatchObject({ quotas, usage: { resources: 1, versions: 1, keys: 1, sites: 0, drafts: 0 } });
  expect((json['usage'] as { bytes: number }).bytes).toBeGreaterThan(100);
  for (const given of [{ scopes: ['read' as const] }, { resources: ['apis/*'] }]) {
    const key = await api.makeKey(given);
    const limits = (await api.call('GET', '/v1/limits', { key })).json;
    expect(limits['quotas']).toEqual(quotas);
    expect(limits).not.toHaveProperty('usage');
  }
});
