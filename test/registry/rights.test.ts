import { expect, test } from 'vitest';
import type { UserConfig } from '../../src/config.ts';
import { checkConfig } from '../../src/config/load-config.ts';
import { readAudit } from '../../src/registry/audit.ts';
import { createOrganization, giveRights, takeRights } from '../../src/registry/keys/change-rights.ts';
import { noteSignIn, rightsIn, rightsOf } from '../../src/registry/keys/people.ts';
import { changeKey } from '../../src/registry/keys/change-key.ts';
import { authenticateKey, createKey, revokeKey } from '../../src/registry/keys/keys.ts';
import { listKeys } from '../../src/registry/keys/list-keys.ts';
import { createPersonalKey } from '../../src/registry/keys/personal-keys.ts';
import { listOrganizations } from '../../src/registry/maintenance/organizations.ts';
import { newId } from '../../src/registry/registry.ts';
import { createRefs } from '../../src/store/refs.ts';
import { createTestRegistry } from '../server/registry.ts';

const author = { actor: 'operator:test', origin: null };
const secret = { env: 'NONE' };
const login: NonNullable<UserConfig['login']> = {
  issuer: 'https://id.test',
  clientId: 'stele',
  clientSecret: secret,
  sessionSecret: secret,
  organizations: { staff: [{ organization: 'acme', scopes: ['publish'] }] },
  others: { partners: { issuer: 'https://partners.test', clientId: 'stele', clientSecret: secret } },
};
const issuers = { ours: 'https://id.test', theirs: 'https://partners.test' };

const open = () => createTestRegistry({ organizations: { acme: {} }, login });
const whole = (scope: string) => ({ scopes: [scope], resources: null });
const ada = (groups: string[], issuer = issuers.ours) => ({ actor: `user:${issuer}#ada`, groups });

test('what administrators give adds to the configuration, holds on every node, and ends when it is taken back', async () => {
  const registry = open();
  const { now, monotonic } = registry;
  // Another process on the same store.
  const other = {
    ...registry,
    refs: createRefs(registry.bucket, { now, monotonic, uniqueId: () => newId(registry), maxAge: 0 }),
  };
  const given = await giveRights(
    registry,
    'acme',
    { group: 'leads', issuer: issuers.ours, scopes: ['admin'], resources: ['apis/pay-*'] },
    author,
  );
  const narrow = { scopes: ['admin'], resources: ['apis/pay-*'] };
  for (const node of [registry, other]) {
    expect(await rightsOf(node, ada(['staff', 'leads']))).toEqual({ acme: [whole('publish'), narrow] });
    expect(await rightsOf(node, ada(['leads']))).toEqual({ acme: [narrow] });
  }
  await giveRights(registry, 'acme', { person: `${issuers.ours}#ada`, scopes: ['keys'] }, author);
  expect(await rightsOf(other, ada([]))).toEqual({ acme: [whole('keys')] });
  await takeRights(registry, 'acme', given.id, author);
  expect(await rightsOf(other, ada(['staff', 'leads']))).toEqual({ acme: [whole('publish'), whole('keys')] });
  await expect(takeRights(registry, 'acme', given.id, author)).rejects.toThrow('no such rights');
});

test('a group that has several rights keeps the others when one of them is taken back', async () => {
  const registry = open();
  const give = (scopes: 'read' | 'publish', glob: string) =>
    giveRights(registry, 'acme', { group: 'leads', issuer: issuers.ours, scopes: [scopes], resources: [glob] }, author);
  const rights = async () => (await rightsOf(registry, ada(['leads'])))['acme'];
  const [first] = [await give('read', 'apis/*'), await give('publish', 'apis/pay'), await give('publish', 'apis/tax')];
  expect(await rights()).toHaveLength(3);
  await takeRights(registry, 'acme', first.id, author);
  expect(await rights()).toEqual([
    { scopes: ['publish'], resources: ['apis/pay'] },
    { scopes: ['publish'], resources: ['apis/tax'] },
  ]);
});

test('the configuration is a floor: it is listed as such, has no id, and cannot be taken back', async () => {
  const registry = open();
  expect(await rightsIn(registry, 'acme')).toMatchObject([{ id: null, group: 'staff', issuer: issuers.ours }]);
  await expect(takeRights(registry, 'acme', 'null', author)).rejects.toThrow('no such rights');
  expect(await rightsOf(registry, ada(['staff']))).toEqual({ acme: [whole('publish')] });
});

test('two issuers never share a person or a group', async () => {
  const registry = open();
  await giveRights(registry, 'acme', { group: 'leads', issuer: issuers.theirs, scopes: ['read'] }, author);
  await giveRights(registry, 'acme', { person: `${issuers.theirs}#ada`, scopes: ['keys'] }, author);
  expect(await rightsOf(registry, ada(['staff', 'leads'], issuers.theirs))).toEqual({
    acme: [whole('read'), whole('keys')],
  });
  expect(await rightsOf(registry, ada(['leads']))).toEqual({});
  await expect(giveRights(registry, 'acme', { group: 'x', scopes: ['read'] }, author)).rejects.toThrow('/issuer');
  await expect(
    giveRights(registry, 'acme', { group: 'x', issuer: 'https://other.test', scopes: ['read'] }, author),
  ).rejects.toThrow('/issuer');
  await expect(
    giveRights(registry, 'acme', { person: 'https://other.test#a', scopes: ['read'] }, author),
  ).rejects.toThrow('/person');
  // An issuer that is not configured any more opens nothing.
  const { others: _, ...one } = login;
  const config = checkConfig({ login: one }, { base: '/', data: '/' });
  expect(await rightsOf({ ...registry, config }, ada(['staff', 'leads'], issuers.theirs))).toEqual({});
});

test('one issuer twice is refused', () => {
  const others = { again: { issuer: issuers.ours, clientId: 'x', clientSecret: secret } };
  expect(() => checkConfig({ login: { ...login, others } }, { base: '/', data: '/' })).toThrow('a second time');
});

test('an organization is created without a restart, by one of two at a time, and is in the audit', async () => {
  const registry = open();
  const create = () => createOrganization(registry, 'globex', `${issuers.ours}#ada`, author);
  const results = await Promise.allSettled([create(), create()]);
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  await expect(createOrganization(registry, 'acme', null, author)).rejects.toThrow('already an organization');
  expect(await listOrganizations(registry)).toEqual(['acme', 'globex']);
  expect(await rightsOf(registry, ada([]))).toEqual({ globex: [whole('admin')] });
  await giveRights(registry, 'globex', { group: 'devs', issuer: issuers.ours, scopes: ['read'] }, author);
  const entries = await Array.fromAsync(readAudit(registry, 'globex'), ({ entry }) => [entry.action, entry.subject]);
  const subject = { kind: 'organization', id: 'globex' };
  expect(entries).toEqual([
    ['give read to the group devs', subject],
    ['create organization', subject],
  ]);
});

test('an organization that has anything is there, so nobody else gets its name', async () => {
  const { organizations: _groups, ...people } = login;
  const registry = createTestRegistry({
    login: { ...people, organizations: { staff: [{ organization: 'mapped', scopes: ['publish'] }] } },
    trustedPublishing: [{ issuer: 'https://ci.test', repository: 'a/b', organization: 'trusted', scopes: ['publish'] }],
  });
  await createKey(registry, { org: 'keyed', name: 'k', scopes: ['admin'] }, author);
  for (const org of ['sited', 'hooked', 'followed']) {
    const kind = { sited: 'sites/sited/guide', hooked: 'webhooks/hooked/one', followed: 'repositories/followed/one' }[
      org
    ]!;
    await registry.refs.update(kind, () => ({ value: { deployments: [] }, change: { ...author, action: 'make' } }));
  }
  const all = ['followed', 'hooked', 'keyed', 'mapped', 'sited', 'trusted'];
  expect(await listOrganizations(registry)).toEqual(all);
  for (const org of all)
    await expect(createOrganization(registry, org, `${issuers.ours}#eve`, author)).rejects.toThrow('already');
});

test("a person's key loses what is taken back from the person", async () => {
  const registry = open();
  const given = await giveRights(registry, 'acme', { person: `${issuers.ours}#ada`, scopes: ['admin'] }, author);
  const person = { ...ada([]), name: 'Ada', signedInAt: registry.now().toISOString() };
  await noteSignIn(registry, ['acme'], person);
  const { text } = await createPersonalKey(registry, person.actor, { name: 'laptop', scopes: ['publish'] }, author);
  expect(await authenticateKey(registry, text)).toMatchObject({ organizations: { acme: [whole('publish')] } });
  await takeRights(registry, 'acme', given.id, author, { last: true });
  expect(await authenticateKey(registry, text)).toMatchObject({ organizations: {} });
});

test.for(['of one node', 'of two nodes'])(
  'two administrators %s who remove each other at once: one stays',
  async (nodes) => {
    const registry = open();
    const { now, monotonic } = registry;
    const refs = createRefs(registry.bucket, { now, monotonic, uniqueId: () => newId(registry) });
    const other = nodes === 'of two nodes' ? { ...registry, refs } : registry;
    // While something is being written, what is asked for waits, and is decided together.
    const busy = () =>
      giveRights(registry, 'hooli', { group: newId(registry), issuer: issuers.ours, scopes: ['read'] }, author);
    const refused = (results: readonly PromiseSettledResult<unknown>[]) =>
      results.flatMap((each) => (each.status === 'rejected' ? [(each.reason as { code: string }).code] : []));

    const make = (name: string) =>
      createKey(registry, { org: 'globex', name, scopes: ['admin', 'read'], expiresAt: null }, author);
    const [one, two] = [await make('one'), await make('two')].map(({ key }) => key.id) as [string, string];
    const revoked = await Promise.allSettled([
      busy(),
      revokeKey(registry, 'globex', one, author),
      revokeKey(other, 'globex', two, author),
    ]);
    expect(refused(revoked)).toEqual(['conflict']);
    const [left] = (await listKeys(registry, 'globex')).filter(({ revokedAt }) => revokedAt === null);
    const [again, third] = [left!.id, (await make('three')).key.id] as [string, string];
    const narrowed = await Promise.allSettled([
      busy(),
      changeKey(registry, 'globex', again, { scopes: ['read'] }, author),
      revokeKey(other, 'globex', third, author),
    ]);
    expect(refused(narrowed)).toEqual(['conflict']);

    const give = (person: string) =>
      giveRights(registry, 'initech', { person: `${issuers.ours}#${person}`, scopes: ['admin'] }, author);
    const [ada1, bob] = [await give('ada'), await give('bob')];
    const taken = await Promise.allSettled([
      busy(),
      takeRights(registry, 'initech', ada1.id, author),
      takeRights(other, 'initech', bob.id, author),
    ]);
    expect(refused(taken)).toEqual(['conflict']);
    expect(await rightsIn(registry, 'initech')).toHaveLength(1);
  },
);
