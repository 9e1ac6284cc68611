import { expect, test } from 'vitest';
import { createHosts } from '../../../src/hosts/hosts.ts';
import { shareCompiler } from '../../compile/shared-compiler.ts';

import { changeResource, createTestRegistry } from '../registry.ts';
import { openApi, unlimited } from './api.ts';
import { createTestRepository } from './repository.ts';

/** What `POST /v1/check` says, and to whom. */

const summaries = 'rules:\n  operation-summary: error\n';
const compiler = shareCompiler();

function payments(version: string, response = 'description: Fine.'): string {
  return `openapi: 3.1.0\ninfo: {title: Pay, version: ${version}}\npaths: {/a: {get: {operationId: a, responses: {'200': {${response}}}}}}\n`;
}

async function openWorld() {
  const registry = { ...createTestRegistry(unlimited), compiler };
  const api = await openApi(registry);
  await api.call('POST', '/v1/rulesets', { body: { name: 'Style', slug: 'style' } });
  await api.call('POST', '/v1/rulesets/style/document', { body: { document: summaries } });
  for (const [slug, visibility] of [
    ['pay', 'public'],
    ['secret', 'private'],
  ]) {
    await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug, visibility } });
    await api.call('POST', `/v1/apis/${slug}/spec`, { body: { document: payments('1.0.0') } });
  }
  const read = await api.makeKey({ scopes: ['read'] });
  const check = (key: string | null, body: object) => api.call('POST', '/v1/check', { key, body });
  return { registry, api, read, check, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

test('a reader is told what publishing would say, of a new resource too, and nothing is stored', async () => {
  await using world = await openWorld();
  const { check, read, api } = world;
  const same = await check(read, { coordinate: '@acme/apis/secret', document: payments('1.0.0') });
  expect(same.json).toMatchObject({ outcome: 'unchanged', version: '@acme/apis/secret@1.0.0', isNew: false });
  await api.call('PATCH', '/v1/apis/secret', { body: { ruleset: '@acme/rulesets/style', compatibility: 'semver' } });
  const rejected = await check(read, {
    coordinate: '@acme/apis/secret',
    document: payments('1.0.1').replace('/a', '/b'),
  });
  expect(rejected).toMatchObject({ status: 200, json: { outcome: 'rejected', version: null } });
  expect(JSON.stringify(rejected.json)).toContain('"rule":"compatibility"');
  const fresh = { coordinate: '@acme/apis/fresh', document: payments('0.1.0') };
  expect((await check(read, fresh)).json).toMatchObject({
    outcome: 'published',
    version: '@acme/apis/fresh@0.1.0',
    isNew: true,
  });
  const gated = await check(read, { ...fresh, settings: { ruleset: '@acme/rulesets/style' } });
  expect(gated.json).toMatchObject({ outcome: 'rejected', report: { problems: [{ rule: 'operation-summary' }] } });
  expect((await api.call('GET', '/v1/apis/fresh')).status).toBe(404);
  expect((await api.call('GET', '/v1/apis/secret/versions')).json['items']).toHaveLength(1);
});

test('without a key, only what is public is checked, and private looks the same as absent', async () => {
  await using world = await openWorld();
  const { check, read } = world;
  expect((await check(null, { coordinate: '@acme/apis/pay', document: payments('1.1.0') })).json).toMatchObject({
    outcome: 'published',
    version: '@acme/apis/pay@1.1.0',
  });
  const told = async (slug: string) => {
    const { status, json } = await check(null, { coordinate: `@acme/apis/${slug}`, document: payments('1.1.0') });
    return [status, String(json['detail']).replace(slug, '')];
  };
  expect(await told('secret')).toEqual(await told('absent'));
  expect((await told('secret'))[0]).toBe(401);
  const ruleset = { coordinate: '@acme/rulesets/style', document: summaries };
  expect((await check(null, ruleset)).status).toBe(401);
  expect((await check(read, ruleset)).status).toBe(200);
  const other = { coordinate: '@other/apis/pay', document: payments('1.1.0') };
  expect((await check(read, other)).status).toBe(404);
});

test('the findings of a private ruleset are counted for a stranger, and not shown', async () => {
  await using world = await openWorld();
  const { api, check, read } = world;
  await api.call('PATCH', '/v1/apis/pay', { body: { ruleset: '@acme/rulesets/style' } });
  const body = { coordinate: '@acme/apis/pay', document: payments('1.1.0') };
  expect((await check(null, body)).json).toMatchObject({ outcome: 'rejected', report: { problems: [], hidden: 1 } });
  expect((await check(read, body)).json).toMatchObject({ report: { problems: [{ rule: 'operation-summary' }] } });
});

test('files that come with a document are read, and findings name their own lines', async () => {
  await using world = await openWorld();
  const { check, read, api } = world;
  const body = {
    coordinate: '@acme/apis/pay',
    document: payments('1.1.0', "description: Fine., content: {application/json: {schema: {$ref: '../money.yaml'}}}"),
    path: 'apis/pay.yaml',
    files: { 'money.yaml': 'type: object\nproperties:\n  amount: {type: nonsense}\n' },
  };
  const { json } = await check(read, body);
  expect(json).toMatchObject({ report: { problems: [{ file: 'money.yaml', line: 3 }] } });
  const right = { ...body, files: { 'money.yaml': 'type: object\n' } };
  expect((await check(read, right)).json).toMatchObject({ outcome: 'published' });
  for (const bad of [
    { ...body, path: '../pay.yaml' },
    { ...body, files: { '/etc/passwd': '' } },
  ])
    expect((await check(read, bad)).status).toBe(400);
  const { coordinate: _, ...publishing } = right;
  expect((await api.call('POST', '/v1/apis/pay/spec', { body: publishing })).status).toBe(201);
  const provenance = await api.call('GET', '/@acme/apis/pay@1.1.0/provenance');
  expect(provenance.json).toMatchObject({ path: 'apis/pay.yaml' });
});

test('a document that its next tag publishes is judged by no label', async () => {
  await using world = await openWorld();
  const { api, check, read } = world;
  const checked = async (document: string, slug = 'pay') =>
    (await check(read, { coordinate: `@acme/apis/${slug}`, document, tagged: true })).json;
  await api.call('PATCH', '/v1/apis/pay', { body: { compatibility: 'semver' } });
  const same = { outcome: 'unchanged', version: '@acme/apis/pay@1.0.0', isNew: false, detail: null };
  expect(await checked(payments('1.0.0'))).toMatchObject(same);
  const broken = payments('1.0.0').replace('/a', '/b');
  const detail = 'Breaking changes compared with 1.0.0: 1 breaking, 1 safe.';
  expect(await checked(broken)).toMatchObject({ outcome: 'published', version: null, isNew: false, detail });
  expect(await checked(payments('0.0.0'), 'fresh')).toMatchObject({ outcome: 'published', version: null, isNew: true });
  expect(await checked('openapi: 3.1.0\ninfo: {title: A}\npaths: {}\n')).toMatchObject({ outcome: 'rejected' });
  // What no label allows.
  await api.call('PATCH', '/v1/apis/pay', { body: { compatibility: 'strict' } });
  expect(await checked(broken)).toMatchObject({ outcome: 'rejected' });
  await api.call('PATCH', '/v1/apis/pay', { body: { ruleset: '@acme/rulesets/style' } });
  expect(await checked(payments('1.0.0'))).toMatchObject(same);
});

test('what a connection publishes from tags is checked as what its next tag publishes, unless a version is given', async () => {
  await using world = await openWorld();
  const { registry, check, read } = world;
  const at = { repository: 'https://git.test/a.git', branch: null, path: 'a.yaml', credential: null } as const;
  const connection = { ...at, tags: 'pay-v*', onConflict: 'revise' } as const;
  await changeResource(registry, '@acme/apis/pay', (resource) => ({ ...resource, connection }));
  const body = { coordinate: '@acme/apis/pay', document: payments('1.0.0').replace('/a', '/b'), impact: true };
  expect((await check(read, body)).json).toMatchObject({
    outcome: 'published',
    version: null,
    tags: 'pay-v*',
    impact: { users: [] },
  });
  expect((await check(read, { ...body, tagged: false })).json).not.toHaveProperty('tags');
  expect((await check(read, { ...body, stated: '3.0.0' })).json).toMatchObject({ version: '@acme/apis/pay@3.0.0' });
});

test('a new resource of a repository that publishes its release tags is published when one is pushed', async () => {
  const repository = createTestRepository('https://github.com/acme/contracts.git');
  const { source, url } = repository;
  repository.tag('v1.5.0', repository.commit({ 'pay.json': payments('1.5.0') }));
  const registry = createTestRegistry(unlimited);
  await using api = await openApi({ ...registry, hosts: createHosts(registry.config), source, compiler });
  const read = await api.makeKey({ scopes: ['read'] });
  const checked = async (given: object, slug = 'fresh') => {
    const body = { coordinate: `@acme/apis/${slug}`, document: payments('1.6.0'), ...given };
    return (await api.call('POST', '/v1/check', { key: read, body })).json;
  };
  const plain = { outcome: 'published', version: '@acme/apis/fresh@1.6.0', isNew: true };
  expect(await checked({ repository: url })).toMatchObject(plain);
  const { json } = await api.call('POST', '/v1/repositories', { body: { repository: url, versions: 'tags' } });
  const tagged = { outcome: 'published', version: null, isNew: true, tags: 'v*' };
  for (const each of [url, 'git@github.com:acme/contracts.git', 'https://github.com/acme/contracts'])
    expect(await checked({ repository: each })).toMatchObject(tagged);
  repository.tag('fresh-v1.0.0', repository.commit({}));
  expect(await checked({ repository: url })).toMatchObject({ tags: 'fresh-v*' });
  for (const given of [{}, { repository: 'https://github.com/acme/other.git' }, { repository: url, version: '1.6.0' }])
    expect(await checked(given)).toMatchObject(plain);
  await api.call('DELETE', `/v1/repositories/${String(json['id'])}`);
  expect(await checked({ repository: url })).toMatchObject(plain);
});

test('exemptions count for a new resource, and not for one that is uploaded', async () => {
  await using world = await openWorld();
  const { api, check, read } = world;
  const at = { file: 'stele.yaml', pointer: '', line: 1, column: 1 };
  const exemptions = [{ rule: 'operation-summary', reason: 'Later', at }];
  const settings = { ruleset: '@acme/rulesets/style' };
  const body = { document: payments('1.1.0'), exemptions, settings };
  const fresh = await check(read, { coordinate: '@acme/apis/fresh', ...body });
  const detail = expect.stringContaining('"stele publish" would be rejected') as string;
  expect(fresh.json).toMatchObject({ outcome: 'published', detail });
  const summarized = { ...body, document: payments('1.1.0').replace('get: {', 'get: {summary: A, ') };
  const without = await check(read, { coordinate: '@acme/apis/fresh', ...summarized });
  expect(without.json).toMatchObject({ outcome: 'published', detail: null });
  await api.call('PATCH', '/v1/apis/pay', { body: settings });
  expect((await check(read, { coordinate: '@acme/apis/pay', ...body })).json).toMatchObject({ outcome: 'rejected' });
});

test('whom a version breaks is said to who asks with a key, and only of what that key may read', async () => {
  const url = 'https://registry.test';
  await using api = await openApi({ ...createTestRegistry({ ...unlimited, url }), compiler });
  const money = (required: string[]) =>
    JSON.stringify({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      required,
      properties: { amount: { type: 'integer' } },
    });
  const user = JSON.stringify({
    openapi: '3.1.0',
    info: { title: 'Shop', version: '1.0.0' },
    paths: {
      '/orders': {
        post: {
          requestBody: { content: { 'application/json': { schema: { $ref: `${url}/@acme/schemas/money` } } } },
          responses: { 200: { description: 'OK' } },
        },
      },
    },
  });
  await api.call('POST', '/v1/schemas', { body: { name: 'Money', slug: 'money', visibility: 'public' } });
  await api.call('POST', '/v1/schemas/money/document', { body: { document: money([]), version: '1.0.0' } });
  for (const slug of ['shop', 'till']) {
    await api.call('POST', '/v1/apis', { body: { name: slug, slug } });
    expect((await api.call('POST', `/v1/apis/${slug}/spec`, { body: { document: user } })).status).toBe(201);
  }
  const body = { coordinate: '@acme/schemas/money', document: money(['amount']), version: '1.1.0' };
  const read = await api.makeKey({ scopes: ['read'] });
  const ask = (key: string | null, more: object) => api.call('POST', '/v1/check', { key, body: { ...body, ...more } });
  expect((await ask(read, {})).json).not.toHaveProperty('impact');
  expect(await ask(null, { impact: true })).toMatchObject({ status: 401 });
  const told = (await ask(read, { impact: true })).json;
  expect(told).toMatchObject({
    outcome: 'published',
    impact: {
      unchecked: 0,
      users: [
        {
          coordinate: '@acme/apis/shop',
          version: '1.0.0',
          gets: 'range',
          verdict: 'breaking',
          detail: expect.stringMatching(/^POST \/orders: /),
        },
        { coordinate: '@acme/apis/till' },
      ],
    },
  });
  const shopOnly = await api.makeKey({ scopes: ['read'], resources: ['apis/shop'] });
  expect((await ask(shopOnly, { impact: true })).json['impact']).toMatchObject({
    users: [{ coordinate: '@acme/apis/shop' }],
    unchecked: 0,
  });
});
