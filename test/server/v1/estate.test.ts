import { expect, test, vi } from 'vitest';
import type { Sandboxes } from '../../../src/compile/sandboxes.ts';
import { openReplays, replayEstate } from '../../../src/registry/estate/replay-estate.ts';
import { shareCompiler } from '../../compile/shared-compiler.ts';
import { createTestRegistry } from '../registry.ts';
import { openApi, unlimited, type Api } from './api.ts';

/** The health of an organization, as its rulesets are now. */
async function openEstate() {
  const compiled: string[] = [];
  const real = shareCompiler();
  const compiler: Sandboxes = {
    ...real,
    compile(input, load, turn) {
      if (input.reportOnly) compiled.push(turn?.org ?? '');
      return real.compile(input, load, turn);
    },
  };
  return { compiled, api: await openApi({ ...createTestRegistry(unlimited), compiler }) };
}

const operation = (more: string) => `openapi: 3.1.0
info: { title: Pay, version: 1.0.0 }
paths: { /a: { get: { operationId: a, ${more} responses: { '200': { description: A. } } } } }
`;
const publishRuleset = (api: Api, text: string) =>
  api.call('POST', '/v1/rulesets/style/document', { body: { document: text } });

interface Item {
  resource: string;
  rules: { rule: string; severity: string }[];
  blocking: number;
  recheckedAt: string | null;
}
const health = async (api: Api, query = '', key = api.admin) =>
  (await api.call('GET', `/v1/organizations/acme/health${query}`, { key })).json as {
    items: Item[];
    replay: Record<string, string | null>;
  };

test('a replay of everything says what fails the ruleset of today, and checks only what nothing said before', async () => {
  const { api, compiled } = await openEstate();
  await using _ = api;
  await api.call('POST', '/v1/rulesets', { body: { name: 'Style', slug: 'style', visibility: 'private' } });
  await publishRuleset(api, 'rules: { operation-summary: warn }\nversion: 1.0.0\n');
  for (const [slug, document] of [
    ['bad', operation('')],
    ['good', operation('summary: A., deprecated: true,')],
    ['free', operation('')],
  ] as const) {
    const ruleset = slug === 'free' ? null : '@acme/rulesets/style';
    await api.call('POST', '/v1/apis', { body: { name: slug, slug, ruleset } });
    await api.call('POST', `/v1/apis/${slug}/spec`, { body: { document } });
  }
  const failing = async (query = '', key = api.admin) =>
    (await health(api, query, key)).items.map(({ resource, rules, blocking }) => [
      resource,
      blocking,
      rules.filter(({ rule }) => rule.startsWith('operation-')).map(({ rule, severity }) => `${severity} ${rule}`),
    ]);
  await replayEstate(api.registry, 'acme');
  expect(compiled).toEqual([]);
  expect(await failing('?rule=operation-summary')).toEqual([['@acme/apis/bad', 0, ['warning operation-summary']]]);

  await publishRuleset(api, 'rules: { operation-summary: error }\nversion: 2.0.0\n');
  await replayEstate(api.registry, 'acme');
  expect(compiled).toEqual(['acme', 'acme']);
  const now = [['@acme/apis/bad', 1, ['error operation-summary']]];
  expect(await failing('?rule=operation-summary')).toEqual(now);
  expect(await failing('?concern=blocked')).toEqual(now);
  await replayEstate(api.registry, 'acme');
  expect(compiled).toHaveLength(2);

  const narrow = await api.makeKey({ scopes: ['read'], resources: ['apis/*', 'schemas/*'] });
  expect(await failing('?rule=operation-summary', narrow)).toEqual([]);
  expect(await failing('?concern=blocked', narrow)).toEqual([['@acme/apis/bad', 1, []]]);
  const { items, replay } = await health(api);
  expect(items.find(({ resource }) => resource === '@acme/apis/bad')!.recheckedAt).not.toBeNull();
  expect(items.find(({ resource }) => resource === '@acme/apis/free')!.recheckedAt).toBeNull();
  expect(replay['endedAt']).not.toBeNull();

  // A new version speaks for itself.
  const mended = operation('summary: A.,').replace('1.0.0', '2.0.0');
  await api.call('POST', '/v1/apis/bad/spec', { body: { document: mended } });
  expect(await failing('?concern=blocked')).toEqual([]);
  expect((await health(api, '?concern=deprecated-in-use')).items).toEqual([]);
  const [version] = (await api.call('GET', '/v1/apis/good/versions')).json['items'] as { digest: string }[];
  const pinned = { contract: '@acme/apis/good', range: '^1', version: '1.0.0', digest: version!.digest };
  await api.call('PUT', '/v1/consumers/shop', { body: { contracts: [pinned] } });
  expect((await health(api, '?concern=deprecated-in-use')).items).toMatchObject([
    { resource: '@acme/apis/good', consumers: 1, deprecated: [{ operation: 'GET /a', sunset: null }] },
  ]);
  const csv = await api.call('GET', '/v1/organizations/acme/health?concern=deprecated-in-use&format=csv');
  expect(csv.text.split('\r\n')[1]).toMatch(/^acme\/apis\/good,Pay,1.0.0,.*,1,1,0,GET \/a$/);
});

test('a replay of a candidate is a list for a spreadsheet, part by part', async () => {
  const { api } = await openEstate();
  await using _ = api;
  await api.call('POST', '/v1/rulesets', { body: { name: 'Style', slug: 'style' } });
  await publishRuleset(api, 'rules: { operation-summary: warn }\nversion: 1.0.0\n');
  for (const slug of ['a', 'b']) {
    await api.call('POST', '/v1/apis', { body: { name: slug, slug, ruleset: '@acme/rulesets/style' } });
    await api.call('POST', `/v1/apis/${slug}/spec`, { body: { document: operation('') } });
  }
  const body = { document: 'rules: { operation-summary: error }\n' };
  const part = (query: string) => api.call('POST', `/v1/rulesets/style/replay${query}`, { body });
  const first = await part('?format=csv&limit=1');
  expect(first.text.split('\r\n')[1]).toBe(
    'acme/apis/a@1.0.0,acme/rulesets/style,blocked,0,1,1,0,1,1,operation-summary',
  );
  const next = /^<(.*)>; rel="next"$/.exec(first.headers.get('link')!)![1]!;
  const last = await part(next);
  expect(last.text).toContain('\r\nacme/apis/b@1.0.0,');
  const [, more] = /^<(.*)>/.exec(last.headers.get('link')!)!;
  expect((await part(more!)).headers.get('link')).toBeNull();
});

test('a request is carried out once, and a running server looks each day', async () => {
  const registry = createTestRegistry(unlimited);
  let passed = 0;
  registry.now = () => new Date(Date.parse('2026-01-01T00:00:00Z') + passed);
  registry.monotonic = () => passed;
  await using api = await openApi(registry);
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
  const ask = () => api.call('POST', '/v1/organizations/acme/health/replay', { body: {} });
  const first = await ask();
  expect(first).toMatchObject({ status: 202, json: { requestedAt: '2026-01-01T00:00:00.000Z', startedAt: null } });
  passed += 1000;
  expect((await ask()).json).toEqual(first.json);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  try {
    const replays = openReplays(registry);
    const startedAfter = async (milliseconds: number) => {
      passed += milliseconds;
      await vi.advanceTimersByTimeAsync(milliseconds);
      await vi.waitFor(() => Promise.resolve());
      return (await registry.refs.readFresh<{ startedAt: string }>('estate/acme/replay'))?.value.startedAt;
    };
    const begun = await startedAfter(60_000);
    expect(begun).toBe('2026-01-01T00:01:01.000Z');
    expect(await startedAfter(5 * 60 * 60_000)).toBe(begun);
    expect(await startedAfter(20 * 60 * 60_000)).not.toBe(begun);
    await replays.close();
  } finally {
    vi.useRealTimers();
  }
});
