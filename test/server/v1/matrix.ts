import { repositoryId, type Run } from '../../../src/model/connection.ts';
import { connectRecord } from '../../../src/sync/connect.ts';
import { createDelivery } from '../../../src/events/delivery.ts';
import { testEvent } from '../../../src/events/events.ts';
import { noteSignIn } from '../../../src/registry/keys/people.ts';
import { createKey, revokeKey } from '../../../src/registry/keys/keys.ts';
import { recordRun } from '../../../src/sync/runs.ts';
import { newId, type Registry } from '../../../src/registry/registry.ts';
import { createWebhook } from '../../../src/events/endpoints.ts';
import { listAll } from '../../../src/store/bucket.ts';
import { createMemoryBucket } from '../../memory-store.ts';
import { createObjects } from '../../../src/store/objects.ts';
import { createRefs } from '../../../src/store/refs.ts';
import type { ResourceType } from '../../../src/model/address.ts';
import { createHosts } from '../../../src/hosts/hosts.ts';
import { createTestRegistry, publishVersion, type TestRegistry } from '../registry.ts';
import { writeSite } from '../../sites/server/site-world.ts';
import { documentOf, openApi, unlimited, type Answered, type Api } from './api.ts';
import { description } from './described.ts';
import { digestOf } from '../../../src/model/digest.ts';
import { approvalsRef, type Approvals } from '../../../src/model/approval.ts';
import type { FaultyPorts } from '../../faults/faulty-ports.ts';

/**
 * The columns of the table. `narrow-…`: keys for `apis/pay-*` alone; `ruleset-publish`: one for `rulesets/style` alone.
 * `other`: an admin of another organization; `personal`: a key with the scope admin of a person who may publish;
 * `keys`: a key with that scope.
 */
export const credentials = [
  'anonymous',
  'malformed',
  'expired',
  'revoked',
  'read',
  'publish',
  'admin',
  'narrow-read',
  'narrow-publish',
  'narrow-admin',
  'ruleset-publish',
  'other',
  'personal',
  'keys',
] as const;
export type Credential = (typeof credentials)[number];

/** A world that every cell of the table starts from anew. */
export interface World extends AsyncDisposable {
  /** The answer to an operation on a slug (`-` where it has none) with a credential. `begin`: called before it is sent. */
  observe(
    operation: string,
    slug: string,
    credential: Credential,
    begin?: () => void,
    query?: string,
  ): Promise<Answered>;
}

const author = { actor: 'operator:test', origin: null };
const eventId = '0mgx1c2k3'.padEnd(31, '0');
const repository = 'https://github.com/acme/contracts';
const issuer = 'https://id.test';
/** Ids of what is held, by slug. */
const heldIds: Record<string, string> = { 'pay-api': '0mgx1c2k3v5h0q8t2n4p', ledger: '0mgx1c2k3v5h0q8t2n4q' };
const runId = '0mgx1c2k3v5h0q8t2n4r';
/** Nobody listens there. */
const deadEnd = 'http://127.0.0.1:9/';

/** What an operation is called with; `createApi`, `createSchema` and `createRuleset` with the same. After a space: another body. */
const bodies: Record<string, (slug: string) => unknown> = {
  create: (slug) => ({ name: 'New', slug }),
  'create ruleset': (slug) => ({ name: 'New', slug, ruleset: '@acme/rulesets/style' }),
  'create lenient': (slug) => ({ name: 'New', slug, validation: 'lenient' }),
  update: () => ({ name: 'Renamed' }),
  'update visibility': () => ({ visibility: 'public' }),
  'update ruleset': () => ({ ruleset: null }),
  'update attach': () => ({ ruleset: '@acme/rulesets/style' }),
  'update lenient': () => ({ validation: 'lenient' }),
  'update latest': () => ({ latest: '1.0.0' }),
  publish: () => ({ document: documentOf('2.0.0') }),
  compare: () => ({ document: documentOf('2.0.0') }),
  replay: () => ({ version: '1.0.0' }),
  updateVersion: () => ({ status: { state: 'yanked', reason: 'broken' } }),
  'updateVersion withdrawn': () => ({ status: { state: 'withdrawn', reason: 'leaked' } }),
  connect: () => ({ repository, path: 'other.json' }),
  createKey: () => ({ name: 'ci', scopes: ['read'] }),
  'createKey admin': () => ({ name: 'ci', scopes: ['admin'] }),
  'createKey ruleset': () => ({ name: 'ci', scopes: ['publish'], resources: ['rulesets/style'] }),
  createMyKey: () => ({ name: 'laptop', scopes: ['read'] }),
  decideDevice: () => ({ granted: true }),
  askForKey: () => ({ name: 'tool' }),
  takeKey: () => ({ deviceCode: 'BCDFGHJK.secret' }),
  updateOrganization: () => ({ ruleset: null }),
  createMyWatch: () => ({ organization: 'acme' }),
  createOrganization: () => ({ organization: 'globex' }),
  createRights: () => ({ group: 'staff', scopes: ['read'] }),
  decideApproval: () => ({ verdict: 'approved', reason: 'Nobody calls it.' }),
  reportConsumer: () => ({ contracts: [] }),
  updateKey: () => ({ name: 'renamed' }),
  followRepository: () => ({ repository: 'https://github.com/acme/other' }),
  createWebhook: () => ({ url: deadEnd }),
  'createWebhook wide': () => ({ url: deadEnd, resources: ['apis/*'] }),
  updateWebhook: () => ({ description: 'Another.' }),
  receiveHook: () => ({}),
  createSite: (slug) => ({ title: 'New', slug }),
  updateSite: () => ({ title: 'Renamed' }),
  'updateSite visibility': () => ({ visibility: 'public' }),
  putSitePage: () => ({ title: 'Home', markdown: 'Text' }),
  putSiteFile: () => ({}),
  deploySite: () => ({}),
  connectSite: () => ({ repository, folder: 'docs' }),
  checkDocument: (slug) => ({ coordinate: `@acme/apis/${slug}`, document: documentOf('2.0.0') }),
  exchangeToken: () => ({ token: 'aaaaaaaaaa.bbbbbbbbbb.cccccccccc' }),
};

function bodyFor(operation: string, slug: string): unknown {
  const name = /^create(?:My)?Key/.test(operation)
    ? operation
    : operation.replace(/(?:Api|Schema|Ruleset)(?=$|Version| )/, '');
  return Object.hasOwn(bodies, name) ? bodies[name]!(slug) : undefined;
}

/** `apis/pay-api`, `apis/ledger`, `schemas/money` and `rulesets/style` are private, `apis/open` is public; each has a version, a connection and a run. */
export async function openWorld(ports?: FaultyPorts): Promise<World> {
  const plain = createTestRegistry({
    ...unlimited,
    webhooks: { allowPrivateAddresses: true },
    organizations: { acme: {} },
    login: {
      issuer,
      clientId: 'stele',
      clientSecret: { env: 'NONE' },
      sessionSecret: { env: 'NONE' },
      organizations: { staff: [{ organization: 'acme', scopes: ['publish'] }] },
    },
  });
  const template = {
    ...plain,
    hosts: createHosts(plain.config).map((host) => ports?.host(host) ?? host),
    source: ports?.source(plain.source) ?? plain.source,
    compiler: ports?.compiler(plain.compiler) ?? plain.compiler,
    cache: ports?.cache(plain.cache) ?? plain.cache,
  };
  const keys = new Map<Credential, string>();
  await makeResources(template);
  await writeSite(template, { 'index.md': 'Text' }, { visibility: 'private' });
  const keyId = await makeKeys(template, keys);
  const webhooks = await makeWebhooks(template);
  const pristine = new Map<string, Uint8Array>();
  for await (const key of listAll(template.bucket, '')) pristine.set(key, (await template.bucket.get(key))!);
  const current: Registry = { ...template };
  const api = await openApi(current);

  async function renew(): Promise<void> {
    const memory = createMemoryBucket();
    for (const [key, bytes] of pristine) await memory.putIfAbsent(key, bytes);
    const bucket = ports?.bucket(memory) ?? memory;
    const refs = createRefs(bucket, { ...template, uniqueId: () => newId(template), maxAge: 0 });
    Object.assign(current, { bucket, objects: createObjects(bucket), refs });
  }

  /** Whether a request may have changed something: a read does not, nor does one that is refused. */
  let isChanged = true;

  return {
    async observe(operation, slug, credential, begin, query = '') {
      if (isChanged) await renew();
      begin?.();
      const { method, path } = description.operations.find(({ id }) => id === operation.split(' ')[0])!;
      const target = path
        .replace(/\{(?:api|schema|ruleset)\}/, slug)
        .replace('{site}', slug)
        .replace(/\{(?:page|file)\}/, 'index.md')
        .replace('{deployment}', '1')
        .replace('{version}', '1.0.0')
        .replace('{run}', runId)
        .replace('{consumer}', 'shop')
        .replace('{organization}', 'acme')
        .replace('{key}', keyId)
        .replace('{watch}', '0123456789abcdefghij')
        .replace('{rights}', '0123456789abcdefghij')
        .replace('{code}', 'BCDF-GHJK')
        .replace('{repository}', repositoryId(repository, null))
        .replace('{webhook}', webhooks.get(slug) ?? runId)
        .replace('{approval}', heldIds[slug] ?? runId)
        .replace('{event}', eventId)
        .replace('{host}', 'github');
      const body = bodyFor(operation, slug);
      const key = keys.get(credential) ?? null;
      isChanged = true;
      const answered = await api.call(method.toUpperCase(), target + query, {
        key,
        ...(body !== undefined && { body }),
      });
      isChanged = begin !== undefined || (method !== 'get' && answered.status < 400);
      return answered;
    },
    [Symbol.asyncDispose]: () => (api satisfies Api)[Symbol.asyncDispose](),
  };
}

async function makeResources(registry: TestRegistry): Promise<void> {
  const all: [ResourceType, string, 'private' | 'public'][] = [
    ['apis', 'pay-api', 'private'],
    ['apis', 'ledger', 'private'],
    ['apis', 'open', 'public'],
    ['schemas', 'money', 'private'],
    ['rulesets', 'style', 'private'],
  ];
  for (const [slug, id] of Object.entries(heldIds)) await holdVersion(registry, slug, id);
  const documents: Run['documents'] = [];
  for (const [type, slug, visibility] of all) {
    const coordinate = `@acme/${type}/${slug}`;
    await publishVersion(registry, coordinate, '1.0.0', { visibility });
    const connection = {
      repository,
      branch: null,
      path: `${slug}.json`,
      tags: null,
      onConflict: 'revise',
      credential: null,
    } as const;
    await connectRecord(registry, { org: 'acme', type, slug }, connection, author);
    documents.push({
      path: connection.path,
      resource: coordinate,
      outcome: 'unchanged',
      label: '1.0.0',
      report: null,
      detail: null,
    });
  }
  const at = registry.now().toISOString();
  await recordRun(registry, {
    id: runId,
    org: 'acme',
    repository: repositoryId(repository, null),
    url: repository,
    branch: null,
    trigger: 'manual',
    process: 'test/1',
    state: 'succeeded',
    from: null,
    to: 'f'.repeat(40),
    startedAt: at,
    finishedAt: at,
    documents,
    detail: null,
  });
}

async function holdVersion(registry: TestRegistry, slug: string, id: string): Promise<void> {
  const at = registry.now().toISOString();
  const from = { source: 'upload', label: '2.0.0', from: '1.0.0', commit: null, authors: [] };
  const held = { id, ...from, count: 0, changes: [], fingerprints: [digestOf(slug)], preview: null, at };
  await registry.refs.update<Approvals>(approvalsRef({ org: 'acme', type: 'apis', slug }), () => ({
    value: { held: [held], decisions: [] },
    change: { ...author, action: 'hold 2.0.0' },
  }));
}

/** Makes a key for each column that has one; answers the id of a key of `acme`. */
async function makeKeys(registry: Registry, keys: Map<Credential, string>): Promise<string> {
  const resources = ['apis/pay-*'];
  const make = async (credential: Credential, given: object) => {
    const made = await createKey(registry, { org: 'acme', name: credential, scopes: ['admin'], ...given }, author);
    keys.set(credential, made.text);
    return made.key.id;
  };
  keys.set('malformed', 'stele_notakey');
  await make('expired', { expiresAt: '2020-01-01T00:00:00.000Z' });
  const revoked = await make('revoked', {});
  await revokeKey(registry, 'acme', revoked, author, { last: true });
  await make('read', { scopes: ['read'] });
  await make('publish', { scopes: ['publish'] });
  await make('admin', {});
  await make('narrow-read', { scopes: ['read'], resources });
  await make('narrow-publish', { scopes: ['publish'], resources });
  await make('narrow-admin', { resources });
  await make('ruleset-publish', { scopes: ['publish'], resources: ['rulesets/style'] });
  await make('keys', { scopes: ['keys'] });
  await make('other', { org: 'other' });
  const person = `user:${issuer}#ada`;
  const signIn = { actor: person, name: 'Ada', groups: ['staff'], signedInAt: registry.now().toISOString() };
  await noteSignIn(registry, ['acme'], signIn);
  await make('personal', { org: null, person });
  return revoked;
}

/** Makes an endpoint for `apis/pay-*` alone and one for everything, each with a delivery; answers their ids. */
async function makeWebhooks(registry: Registry): Promise<Map<string, string>> {
  const made = new Map<string, string>();
  for (const [name, resources] of [
    ['of-pay', ['apis/pay-*']],
    ['of-all', null],
  ] as const) {
    const given = { url: deadEnd, resources: resources?.slice() ?? null };
    const { value } = (await createWebhook(registry, 'acme', given, author)).webhook;
    const event = testEvent('http://registry.test', 'acme', eventId, registry.now());
    await createDelivery(registry, value, { ...event, type: 'dev.stele.version.published' });
    made.set(name, value.id);
  }
  return made;
}
