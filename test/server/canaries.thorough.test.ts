import { afterAll, beforeAll, expect, test } from 'vitest';
import { outlineDocument } from '../../src/render/render.ts';
import type { Scope } from '../../src/model/access.ts';
import { approvalsRef } from '../../src/model/approval.ts';
import { repositoryId } from '../../src/model/connection.ts';
import { digestOf } from '../../src/model/digest.ts';
import { createWebhook } from '../../src/events/endpoints.ts';
import { reportConsumer } from '../../src/registry/graph/dependants.ts';
import { createResource } from '../../src/registry/change-resource.ts';
import { giveRights } from '../../src/registry/keys/change-rights.ts';
import { noteSignIn } from '../../src/registry/keys/people.ts';
import { createPersonalKey } from '../../src/registry/keys/personal-keys.ts';
import { connectRecord } from '../../src/sync/connect.ts';
import { deploy, writeSite } from '../sites/server/site-world.ts';
import { changeResource, createTestRegistry, publishVersion, setStatus } from './registry.ts';
import { description } from './v1/described.ts';
import { openApi, unlimited, type Api } from './v1/api.ts';

/**
 * Each private fact has a word of its own. Whoever may not know a fact never gets its word: over all operations that
 * read, all addresses that lead on from any other, feeds, MCP and OCI.
 */
const issuer = 'https://id.test';
const author = { actor: 'operator:test', origin: null };

/**
 * Who may know each word. `all`: reads all of acme; `pays`: publishes its public API `pay` alone; `schemas`: administers
 * its schemas; `admin`: administers all of it. With any right in an organization one gets the settings and syncs of what
 * is public there, and so what these name.
 */
const settings = ['all', 'admin', 'pays', 'schemas'];
const facts = {
  zqapi: ['all', 'admin'],
  zqsecret: ['all', 'admin'],
  zqdeleted: ['all', 'admin'],
  zqsite: ['all', 'admin'],
  zqrules: settings,
  zquser: ['all', 'admin'],
  zqconsumer: ['all', 'admin'],
  zqheld: ['pays', 'admin'],
  zqreject: settings,
  zqrepo: settings,
  zqkey: ['admin'],
  zqgroup: ['admin'],
  zqperson: ['admin'],
  zqhook: ['admin'],
  zqglobex: [],
  zqelsewhere: [],
} satisfies Record<string, readonly string[]>;
const words = Object.keys(facts) as (keyof typeof facts)[];

const readers: Record<string, { org: string; scopes: Scope[]; resources?: string[] } | null> = {
  nobody: null,
  partner: { org: 'partner', scopes: ['admin'] },
  all: { org: 'acme', scopes: ['read'] },
  pays: { org: 'acme', scopes: ['publish'], resources: ['apis/pay'] },
  schemas: { org: 'acme', scopes: ['admin'], resources: ['schemas/*'] },
};

let api: Api;
/** By reader: a key of an organization, one of a person, and a token of feeds. */
const keys = new Map<string, (string | null)[]>();
const values: Record<string, string> = {};

beforeAll(async () => {
  const secret = { env: 'NONE' };
  const login = { issuer, clientId: 'x', clientSecret: secret, sessionSecret: secret };
  const registry = createTestRegistry({ ...unlimited, login, url: 'http://registry.test' });
  registry.compiler.outline = async (document) => outlineDocument(document);
  api = await openApi(registry);
  const put = async (name: string, visibility: 'public' | 'private', version = '1.0.0', text = '') =>
    publishVersion(registry, name, version, {
      visibility,
      document: { paths: { [`/${text || 'things'}`]: { get: { operationId: `get${text}`, description: text } } } },
    });
  const { version: pay } = await put('@acme/apis/pay', 'public');
  await put('@acme/rulesets/zqrules', 'private');
  await changeResource(registry, '@acme/apis/pay', (each) => ({ ...each, ruleset: '@acme/rulesets/zqrules' }));
  await put('@acme/apis/pay', 'public', '1.1.0');
  await put('@acme/apis/zqapi', 'private', '1.0.0-zqapi', 'zqapi');
  await put('@acme/apis/zqapi', 'private', '1.1.0', 'zqapi');
  await setStatus(registry, '@acme/apis/zqapi', '1.1.0', {
    state: 'withdrawn',
    reason: 'zqapi',
    since: pay.publishedAt,
  });
  await put('@acme/apis/zqsecret', 'private', '1.0.0', 'zqsecret');
  await put('@acme/apis/zqdeleted', 'private');
  await changeResource(registry, '@acme/apis/zqdeleted', (each) => ({ ...each, deletedAt: pay.publishedAt }));
  const uses = {
    coordinate: '@acme/apis/pay',
    range: '^1',
    version: '1.0.0',
    digest: pay.manifest,
    how: 'url',
  } as const;
  for (const name of ['@acme/apis/zquser', '@globex/apis/zqglobex']) {
    await put(name, 'private');
    await changeResource(registry, name, ({ versions: [only], ...each }) => ({ ...each, versions: [{ ...only!, dependencies: [uses] }] })); // prettier-ignore
  }
  const pinned = { contract: '@acme/apis/pay', range: '^1', version: '1.0.0', digest: pay.manifest };
  await reportConsumer(registry, 'acme', 'zqconsumer', [pinned], author);
  await reportConsumer(registry, 'globex', 'zqglobex', [pinned], author);
  await setStatus(registry, '@acme/apis/pay', '1.0.0', { state: 'deprecated', reason: 'Old', since: pay.publishedAt });
  await writeHeld(registry);
  const repository = 'https://github.com/acme/zqrepo.git';
  const plain = { repository, branch: null, tags: null, onConflict: 'revise', credential: null } as const;
  const empty = { org: 'acme', type: 'apis', slug: 'empty' } as const;
  await createResource(registry, empty, { name: 'Empty', visibility: 'public' }, author);
  await connectRecord(registry, empty, { ...plain, path: 'empty.yaml' }, author);
  values['repository'] = repositoryId(repository, null);
  await registry.refs.update<object>(`repositories/acme/${values['repository']}`, (current) => ({
    value: {
      ...current!.value,
      documents: { 'empty.yaml': { resource: '@acme/apis/empty', outcome: 'rejected', detail: 'zqreject', blobs: {} } },
    },
    change: { ...author, action: 'sync' },
  }));
  await writeSite(registry, { 'index.md': '# Home\n\n::operation @acme/apis/zqapi getzqapi\n' });
  await deploy(registry);
  const site = { org: 'acme', slug: 'zqsite' };
  await writeSite(registry, { 'index.md': '# zqsite' }, { visibility: 'private', title: 'zqsite' }, site);
  await deploy(registry, site);
  await createWebhook(registry, 'acme', { url: 'https://example.com/zqhook', description: 'zqhook' }, author);
  await api.makeKey({ name: 'zqkey', owner: 'zqkey' });
  await giveRights(registry, 'acme', { group: 'zqgroup', scopes: ['read'] }, author);
  await giveRights(registry, 'zqelsewhere', { person: `${issuer}#zqperson`, scopes: ['read'] }, author);
  const signedInAt = registry.now().toISOString();
  const person = { actor: `user:${issuer}#zqperson`, name: 'zqperson', groups: ['zqgroup', 'zqelsewhere'], signedInAt };
  await noteSignIn(registry, ['acme', 'zqelsewhere'], person);
  const laptop = { name: 'laptop', scopes: ['read' as const], organizations: ['acme', 'zqelsewhere'] };
  await createPersonalKey(registry, person.actor, laptop, author);
  await makeReaders();
}, 60_000);
afterAll(() => api[Symbol.asyncDispose]());

async function writeHeld({ refs, now }: Api['registry']): Promise<void> {
  const of = { source: 'upload', label: '2.0.0-zqheld', from: '1.1.0', commit: null, preview: null };
  const change = {
    fingerprint: digestOf('zqheld'),
    rule: 'zqheld',
    message: 'zqheld',
    operations: ['zqheld'],
    reach: 1,
  };
  const authors = [{ name: 'zqheld', emails: [] }];
  values['approval'] = '0mgx1c2k3v5h0q8t2n4p';
  const held = [{ id: values['approval'], ...of, authors, count: 1, changes: [change], fingerprints: [digestOf('zqheld')], at: now().toISOString() }]; // prettier-ignore
  await refs.update<object>(approvalsRef({ org: 'acme', type: 'apis', slug: 'pay' }), () => ({
    value: { held, decisions: [] },
    change: { ...author, action: 'hold 2.0.0' },
  }));
}

/** Each reader has a key of its organization, and is a person with the same rights, who has a token of feeds, too. */
async function makeReaders(): Promise<void> {
  const { registry } = api;
  keys.set('admin', [api.admin]);
  for (const [name, given] of Object.entries(readers)) {
    if (given === null) {
      keys.set(name, [null]);
      continue;
    }
    const { org, scopes, resources = null } = given;
    const key = await api.makeKey({ org, scopes, resources });
    const actor = `user:${issuer}#${name}`;
    await giveRights(registry, org, { person: `${issuer}#${name}`, scopes, resources }, author);
    await noteSignIn(registry, [org], { actor, name, groups: [], signedInAt: registry.now().toISOString() });
    const own = await createPersonalKey(registry, actor, { name: 'k', scopes: ['admin'] }, author);
    const feeds = await createPersonalKey(registry, actor, { name: 'k', scopes: ['read'], use: 'feeds' }, author);
    keys.set(name, [key, own.text, `?token=${feeds.text}`]);
  }
}

/** All operations that read, on what is public and on what is private, and where a reader begins. */
function beginnings(): string[] {
  const names = {
    org: ['acme', 'globex'],
    slug: ['pay', 'empty', 'zqapi', 'zquser', 'zqsecret', 'zqdeleted', 'zqrules'],
    version: ['1.0.0', '1.0.0-zqapi'],
    site: ['handbook', 'zqsite'],
  };
  const operations = description.operations
    .filter(({ method }) => method === 'get')
    .flatMap(({ path }) =>
      names.slug.flatMap((slug) =>
        names.version.map((version) =>
          path
            .replace(/\{(?:api|schema|ruleset)\}/, slug)
            .replace('{version}', version)
            .replace('{site}', names.site[slug.startsWith('zq') ? 1 : 0]!)
            .replace(/\{(?:page|file)\}/, 'index.md')
            .replace('{organization}', 'acme')
            .replace('{consumer}', 'zqconsumer')
            .replace(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '0123456789abcdefghij'),
        ),
      ),
    );
  const views = ['', '.json', '/index.html', '/index.md', '/versions', '/dependants', '/diff', '/report', '/provenance', '/manifest', '/try', '/embed', '/graph']; // prettier-ignore
  const reads = ['@acme/apis/pay', '@acme/apis/empty', '@acme/apis/zqapi', '@acme/rulesets/zqrules'].flatMap((name) =>
    views.flatMap((view) => [`/${name}${view}`, `/${name}@1.0.0${view}`]),
  );
  const oci = ['pay', 'zqapi'].flatMap((slug) => ['tags/list', 'manifests/latest', 'manifests/1.0.0'].map((what) => `/v2/acme/apis/${slug}/${what}`)); // prettier-ignore
  const feeds = names.org.flatMap((org) => ['', '/consumers', '/apis/pay', '/apis/zqapi'].map((what) => `/feeds/${org}${what}.atom`)); // prettier-ignore
  const searches = words.flatMap((word) => [`/search?q=${word}`, `/search/suggest.json?q=${word.slice(0, 5)}`]);
  const others = ['/', '/@acme', '/@acme/apis', '/@acme/graph', '/@globex', '/@globex/graph', '/sites/acme/handbook/', '/sites/acme/handbook/index.md', '/sites/acme/zqsite/', '/feed.atom', '/feed.json', '/llms.txt', '/sitemap.xml', '/apis.json', '/search/index.json', '/@acme/catalog.json', '/@acme/catalog-info.yaml', '/.well-known/api-catalog', '/log/checkpoint', '/log/tile/0/000', '/metrics', '/readyz', '/account']; // prettier-ignore
  return [...new Set([...operations, ...reads, ...oci, ...feeds, ...searches, ...others])];
}

const questions: [string, Record<string, string>][] = [
  ['list', {}],
  ['search', { query: 'zqapi' }],
  ['search', { query: 'getzqapi' }],
  ['who_uses', { document: '@acme/apis/pay' }],
  ['compare', { document: '@acme/apis/pay' }],
  ['list_parts', { document: '@acme/apis/zqapi' }],
];

/** Which words an answer has that were not in the question. */
const wordsIn = (answer: string, question: string) =>
  words.filter((word) => answer.includes(word) && !question.includes(word.slice(0, 5)));

async function wordsFor(key: string | null): Promise<Map<string, string>> {
  const told = new Map<string, string>();
  const token = key?.startsWith('?') ? key : null;
  const headers: Record<string, string> = key === null || token !== null ? {} : { authorization: `Bearer ${key}` };
  const note = (question: string, answer: string) => {
    for (const word of wordsIn(answer, question)) told.set(word, told.get(word) ?? question);
  };
  const seen = new Set(beginnings());
  for (const path of seen) {
    if (token !== null && !path.startsWith('/feed')) continue;
    for (const accept of path.startsWith('/v1') ? ['application/json'] : ['text/html', 'application/json']) {
      const sent = { ...headers, accept };
      const response = await fetch(`${api.url}${path}${token ?? ''}`, { redirect: 'manual', headers: sent });
      const text = `${JSON.stringify([...response.headers])}\n${await response.text()}`;
      note(path, text);
      if (seen.size > 1500) continue;
      for (const [, whole, local] of text.matchAll(
        /http:\/\/registry\.test(\/[^\s"'<>#)\\]*)|(?:href|src)="(\/[^\s"'<>#]*)/g,
      ))
        if (!/^\/(?:assets|docs|problems|login)/.test((whole ?? local)!))
          seen.add((whole ?? local)!.replaceAll('&amp;', '&'));
    }
  }
  for (const [name, given] of token === null ? questions : []) {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: given } };
    const sent = { ...headers, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const response = await fetch(`${api.url}/mcp`, { method: 'POST', headers: sent, body: JSON.stringify(body) });
    note(JSON.stringify(body), await response.text());
  }
  return told;
}

test(
  'the one who administers an organization finds all of its words, so the others could',
  { timeout: 120_000 },
  async () => {
    const told = await wordsFor(api.admin);
    const own = words.filter((word) => (facts[word] as string[]).includes('admin'));
    expect([...told.keys()].sort()).toEqual(own.sort());
  },
);

test.each(Object.keys(readers))('no word of what they may not know: %s', { timeout: 240_000 }, async (name) => {
  const found: string[] = [];
  for (const key of keys.get(name)!)
    for (const [word, question] of await wordsFor(key))
      if (!(facts[word as keyof typeof facts] as string[]).includes(name)) found.push(`${word}: ${question}`);
  expect(found).toEqual([]);
});
