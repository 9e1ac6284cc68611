import { afterAll, beforeAll, expect, test } from 'vitest';
import { isAllowed, scopes, type Grant, type Principal, type Target } from '../../../src/model/access.ts';
import { noteSignIn } from '../../../src/registry/keys/people.ts';
import { giveRights } from '../../../src/registry/keys/change-rights.ts';
import { createKey, revokeKey } from '../../../src/registry/keys/keys.ts';
import { createPersonalKey } from '../../../src/registry/keys/personal-keys.ts';
import { createTestRegistry } from '../registry.ts';
import { openApi, unlimited, type Api } from './api.ts';

/** Rights as a matrix of changes: what one may not create, one may not change into, replace or revoke. */

const author = { actor: 'operator:test', origin: null };
const issuer = 'https://id.test';
const whole = scopes.map((scope): Grant => ({ scopes: [scope], resources: null }));
const narrow = ['apis/pay-*', 'rulesets/*', 'rulesets/style', '*/*'].map((glob): Grant => ({
  scopes: ['publish'],
  resources: [glob],
}));
const grants: Grant[] = [
  ...whole,
  ...narrow,
  { scopes: ['read'], resources: ['rulesets/*'] },
  { scopes: ['admin'], resources: ['apis/pay-*'] },
];
const targets: Target[] = [
  { org: 'acme' },
  ...(['apis', 'schemas', 'rulesets', 'sites'] as const).flatMap((type) =>
    ['pay-in', 'style', 'other'].map((slug): Target => ({ org: 'acme', resource: { type, slug } })),
  ),
];
const nameOf = ({ scopes: [scope], resources }: Grant) => `${scope} of ${resources?.join() ?? 'all'}`;

/** What a grant allows, as the policy says it, one by one. */
function allowedBy({ scopes: held, resources }: Grant): Set<string> {
  const principal: Principal = { kind: 'key', id: 'k', org: 'acme', scopes: held, resources };
  return new Set(
    targets.flatMap((target, at) =>
      scopes.flatMap((scope) => (isAllowed(principal, scope, target) ? [`${at} ${scope}`] : [])),
    ),
  );
}
const isPart = (inner: Grant, outer: Grant) => allowedBy(inner).isSubsetOf(allowedBy(outer));
const mayMake = (asker: Grant, made: Grant) => asker.scopes[0] === 'admin' || isPart(made, asker);

let api: Api;
/** Made before the clock of the test, so that it lasts. */
const keyWith = async (grant: Grant) =>
  createKey(api.registry, { org: 'acme', name: 'k', scopes: [...grant.scopes], resources: grant.resources && [...grant.resources] }, author); // prettier-ignore

beforeAll(async () => {
  const login = { issuer, clientId: 'stele', clientSecret: { env: 'NONE' }, sessionSecret: { env: 'NONE' } };
  const quotas = { keys: 10_000 };
  api = await openApi(createTestRegistry({ ...unlimited, quotas, organizations: { acme: {} }, login }));
});
afterAll(() => api[Symbol.asyncDispose]());

const askers: Grant[] = [whole[3]!, whole[4]!];

test.each(askers.map((asker) => ({ asker, name: nameOf(asker) })))(
  'a key with $name makes, changes, replaces and revokes what it may have itself',
  async ({ asker }) => {
    const wrong: string[] = [];
    const { text: key } = await keyWith(asker);
    const ask = async (what: string, expected: boolean, method: string, path: string, body?: unknown) => {
      const { status } = await api.call(method, path, { key, ...(body !== undefined && { body }) });
      if (status < 300 !== expected) wrong.push(`${what}: ${status}`);
    };
    for (const from of grants) {
      const mayHave = mayMake(asker, from);
      await ask(`create ${nameOf(from)}`, mayHave, 'POST', '/v1/keys', { name: 'k', ...from });
      for (const to of grants) {
        const { key: made } = await keyWith(from);
        const expected = mayHave && mayMake(asker, to) && isPart(to, from);
        await ask(`${nameOf(from)} → ${nameOf(to)}`, expected, 'PATCH', `/v1/keys/${made.id}`, to);
      }
      const { key: made } = await keyWith(from);
      await ask(`rotate ${nameOf(from)}`, mayHave, 'POST', `/v1/keys/${made.id}/rotate`, { overlap: 60 });
      await ask(`revoke ${nameOf(from)}`, mayHave, 'DELETE', `/v1/keys/${made.id}`);
    }
    expect(wrong).toEqual([]);
  },
);

test('the scope keys does not revoke the personal key of an administrator', async () => {
  const { registry } = api;
  const [admin, publisher] = ['ada', 'bob'].map((name) => ({ actor: `user:${issuer}#${name}`, name }));
  await giveRights(registry, 'acme', { person: `${issuer}#ada`, scopes: ['admin'] }, author);
  await giveRights(registry, 'acme', { person: `${issuer}#bob`, scopes: ['publish'] }, author);
  const { text: keeper } = await keyWith(whole[3]!);
  const revoked: Record<string, number> = {};
  for (const person of [admin!, publisher!]) {
    const signedInAt = registry.expiryTime().toISOString();
    await noteSignIn(registry, ['acme'], { ...person, groups: [], signedInAt });
    for (const scope of ['publish', 'admin'] as const) {
      const { key } = await createPersonalKey(registry, person.actor, { name: 'k', scopes: [scope] }, author);
      const { status } = await api.call('DELETE', `/v1/keys/${key.id}`, { key: keeper });
      revoked[`${person.name} ${scope}`] = status;
    }
  }
  expect(revoked).toEqual({ 'ada publish': 204, 'ada admin': 403, 'bob publish': 204, 'bob admin': 204 });
});

test('the last administrator vanishes only when that is said', async () => {
  const login = { issuer, clientId: 'stele', clientSecret: { env: 'NONE' }, sessionSecret: { env: 'NONE' } };
  await using other = await openApi(createTestRegistry({ ...unlimited, organizations: { acme: {} }, login }));
  const { items } = (await other.call('GET', '/v1/keys')).json as unknown as { items: { id: string }[] };
  const path = `/v1/keys/${items[0]!.id}`;
  const refused = await other.call('DELETE', path);
  expect([refused.status, refused.json['detail']]).toEqual([
    409,
    expect.stringMatching(/^Nobody else administers @acme/),
  ]);
  expect((await other.call('PATCH', path, { body: { scopes: ['publish'] } })).status).toBe(409);
  const ends = { expiresAt: new Date(Date.now() + 86_400_000).toISOString() };
  expect((await other.call('PATCH', path, { body: ends })).status).toBe(409);
  expect((await other.call('PATCH', path, { body: { name: 'renamed' } })).status).toBe(200);
  const given = await giveRights(other.registry, 'acme', { person: `${issuer}#ada`, scopes: ['admin'] }, author);
  // A program that has a key is nobody whom people could ask.
  expect((await other.call('DELETE', `/v1/rights/${given.id}`)).status).toBe(409);
  expect((await other.call('DELETE', `/v1/rights/${given.id}?last=true`)).status).toBe(204);
  expect((await other.call('DELETE', `${path}?last=true`)).status).toBe(204);
});

test('a key that ends sooner is no administrator that is left', async () => {
  await using other = await openApi(createTestRegistry({ ...unlimited, organizations: { acme: {} } }));
  const { items } = (await other.call('GET', '/v1/keys')).json as unknown as { items: { id: string }[] };
  const first = `/v1/keys/${items[0]!.id}`;
  const inDays = (count: number) => new Date(Date.now() + count * 86_400_000).toISOString();
  const add = async (expiresAt: string | null) =>
    (await other.call('POST', '/v1/keys', { body: { name: 'k', scopes: ['admin'], expiresAt } })).json as { id: string; secret: string }; // prettier-ignore
  const soon = await add(inDays(1));
  expect((await other.call('DELETE', first)).status).toBe(409);
  expect((await other.call('PATCH', first, { body: { expiresAt: inDays(2) } })).status).toBe(409);
  const later = await add(inDays(5));
  expect((await other.call('DELETE', `/v1/keys/${soon.id}`)).status).toBe(204);
  const lasting = await add(null);
  expect((await other.call('DELETE', first)).status).toBe(204);
  // What is rotated still works for the overlap, and is nobody who stays.
  const key = later.secret;
  const { json } = await other.call('POST', `/v1/keys/${lasting.id}/rotate`, { key, body: { overlap: 3600 } });
  expect((await other.call('DELETE', `/v1/keys/${json['id'] as string}`, { key })).status).toBe(409);
  expect((await other.call('DELETE', `/v1/keys/${lasting.id}`, { key })).status).toBe(204);
});

test('rights of an identity provider that is not configured any more administer nothing', async () => {
  const login = { issuer, clientId: 'stele', clientSecret: { env: 'NONE' }, sessionSecret: { env: 'NONE' } };
  const before = createTestRegistry({ ...unlimited, organizations: { acme: {} }, login });
  await giveRights(before, 'acme', { person: `${issuer}#ada`, scopes: ['admin'] }, author);
  for (const now of [null, { ...login, issuer: 'https://other.test' }]) {
    const { config } = createTestRegistry({ organizations: { acme: {} }, ...(now && { login: now }) });
    const { key } = await createKey(before, { org: 'acme', name: 'k', scopes: ['admin'] }, author);
    const last = revokeKey({ ...before, config }, 'acme', key.id, author);
    await expect(last).rejects.toThrow('Nobody else administers @acme');
    await revokeKey(before, 'acme', key.id, author);
  }
});

test('a personal key is shown to an organization without the others in which it works', async () => {
  const login = { issuer, clientId: 'stele', clientSecret: { env: 'NONE' }, sessionSecret: { env: 'NONE' } };
  const registry = createTestRegistry({ ...unlimited, organizations: { acme: {}, takeover: {} }, login });
  await using other = await openApi(registry);
  const actor = `user:${issuer}#ada`;
  for (const org of ['acme', 'takeover'])
    await giveRights(registry, org, { person: `${issuer}#ada`, scopes: ['read'] }, author);
  const signedInAt = registry.expiryTime().toISOString();
  await noteSignIn(registry, ['acme', 'takeover'], { actor, name: 'Ada', groups: [], signedInAt });
  const given = { name: 'k', scopes: ['read' as const], organizations: ['acme', 'takeover'] };
  const { key, text } = await createPersonalKey(registry, actor, given, author);
  const [one, all] = [await other.call('GET', `/v1/keys/${key.id}`), await other.call('GET', '/v1/keys')];
  expect(one.json).toMatchObject({ person: `${issuer}#ada`, organizations: ['acme'] });
  expect(one.text + all.text).not.toContain('takeover');
  expect(
    (await other.call('GET', '/v1/me/keys', { key: text, headers: { 'stele-organization': 'acme' } })).json,
  ).toMatchObject({ items: [{ organizations: ['acme', 'takeover'] }] });
});

test('a key that expires, also one of a person, makes and replaces none that lives longer, unless it administers', async () => {
  const { registry } = api;
  const expiresAt = new Date(registry.expiryTime().getTime() + 5 * 86_400_000).toISOString();
  const statuses: unknown[] = [];
  for (const scope of ['keys', 'admin'] as const) {
    const actor = `user:${issuer}#${scope}`;
    await giveRights(registry, 'acme', { person: `${issuer}#${scope}`, scopes: [scope] }, author);
    await noteSignIn(registry, ['acme'], { actor, name: scope, groups: [], signedInAt: registry.now().toISOString() });
    const personal = await createPersonalKey(registry, actor, { name: 'k', scopes: [scope], expiresAt }, author);
    const own = await createKey(registry, { org: 'acme', name: 'k', scopes: [scope], expiresAt }, author);
    for (const { text: key } of [personal, own]) {
      const [lasting, short] = [await keyWith(whole[1]!), await createKey(registry, { org: 'acme', name: 'k', scopes: ['publish'], expiresAt }, author)]; // prettier-ignore
      for (const [path, body] of [
        ['', { name: 'made', scopes: ['publish'] }],
        ['', { name: 'made', scopes: ['publish'], expiresAt }],
        [`/${lasting.key.id}/rotate`, { overlap: 60 }],
        [`/${short.key.id}/rotate`, { overlap: 60 }],
      ] as const)
        statuses.push((await api.call('POST', `/v1/keys${path}`, { key, body })).status);
    }
  }
  const limited = [403, 201, 403, 201];
  expect(statuses).toEqual([...limited, ...limited, ...Array.from({ length: 8 }, () => 201)]);
});

test('a key for some resources that could make no keys is not made', async () => {
  const make = (held: string[], resources: string[] | null) =>
    api.call('POST', '/v1/keys', { body: { name: 'k', scopes: held, resources } });
  const refused = await make(['keys'], ['apis/pay-*']);
  expect(refused.status).toBe(400);
  expect(refused.json['errors']).toEqual([{ pointer: '/scopes', detail: expect.stringContaining('makes none') }]);
  for (const [held, resources] of [
    [['keys'], null],
    [['approve'], ['apis/pay-*']],
    [['admin', 'keys'], ['apis/pay-*']],
  ] as const)
    // prettier-ignore
    expect((await make([...held], resources && [...resources])).status).toBe(201);
});
