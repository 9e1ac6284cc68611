import { expect, test } from 'vitest';
import { sandboxLost } from '../../../src/compile/compile.ts';
import { createTestRegistry } from '../registry.ts';
import { documentOf, openApi, unlimited } from './api.ts';
import { description } from './described.ts';

test('a document whose sandbox died gets 503 and a time to try again; the same request is then done', async () => {
  const registry = createTestRegistry(unlimited);
  const { compile } = registry.compiler;
  await using api = await openApi(registry);
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
  const headers = {
    authorization: `Bearer ${api.admin}`,
    'content-type': 'application/json',
    'idempotency-key': 'one',
  };
  const body = JSON.stringify({ document: documentOf('1.0.0') });
  const publish = () => fetch(`${api.url}/v1/apis/pay/spec`, { method: 'POST', headers, body });
  registry.compiler.compile = async () => {
    throw sandboxLost('It ended with SIGKILL.');
  };
  const refused = await publish();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
  expect(await refused.text()).not.toContain('SIGKILL');
  expect(registry.logged.some(({ fields }) => String(fields['error']).includes('SIGKILL'))).toBe(true);
  registry.compiler.compile = compile;
  expect((await publish()).status).toBe(201);
});

test('an organization that publishes too much at once gets 429, and another one is not kept waiting', async () => {
  const registry = createTestRegistry(unlimited);
  const { compile } = registry.compiler;
  const gate = Promise.withResolvers<void>();
  const awaited = new Set<boolean | undefined>();
  registry.compiler.compile = async (input, load, turn) => {
    awaited.add(turn?.isAwaited);
    if (turn?.org === 'acme') await gate.promise;
    return compile(input, load, turn);
  };
  await using api = await openApi(registry);
  const other = await api.makeKey({ org: 'other' });
  const body = { name: 'Pay', slug: 'pay' };
  for (const key of [api.admin, other]) await api.call('POST', '/v1/apis', { key, body });
  const publish = (key: string) =>
    api.call('POST', '/v1/apis/pay/spec', { key, body: { document: documentOf('1.0.0') } });
  const all = Array.from({ length: 41 }, () => publish(api.admin));
  const first = await Promise.race(all);
  expect([first.status, first.headers.get('retry-after')]).toEqual([429, '5']);
  expect((await publish(other)).status).toBe(201);
  gate.resolve();
  const statuses = (await Promise.all(all)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 429)).toHaveLength(1);
  expect([...awaited]).toEqual([true]);
});

test('every operation with a key refuses a request that is meant for another organization, before anything else', async () => {
  await using api = await openApi();
  const reader = await api.makeKey({ scopes: ['read'] });
  await api.call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' } });
  const before = JSON.stringify((await api.call('GET', '/v1/audit')).json['items']);
  for (const { id, method, path, scope } of description.operations) {
    if (scope === null) continue;
    const target = path.replaceAll(/\{\w+\}/g, 'pay');
    for (const key of [api.admin, reader]) {
      const ask = (org: string) =>
        api.call(method.toUpperCase(), target, { key, headers: { 'Stele-Organization': org } });
      const refused = await ask('partner');
      expect([id, refused.status, refused.json['organization']]).toEqual([id, 403, 'acme']);
      expect(refused.json['detail']).toMatch(/^The key belongs to the organization acme, and Stele-Organization names/);
    }
  }
  expect(JSON.stringify((await api.call('GET', '/v1/audit')).json['items'])).toBe(before);
  for (const org of ['acme', 'nobody', 'A B'])
    expect((await api.call('GET', '/v1/me', { headers: { 'Stele-Organization': org } })).status).toBe(
      org === 'acme' ? 200 : 403,
    );
});

test('all keys of an organization have a rate together, and those of another one are not touched', async () => {
  const rateLimit = { window: 3600, key: 10, organization: 12, address: 1_000_000, failures: 10 };
  await using api = await openApi(createTestRegistry({ rateLimit }));
  const keys = await Promise.all(Array.from({ length: 5 }, () => api.makeKey()));
  const other = await api.makeKey({ org: 'other' });
  const statuses: number[] = [];
  for (const key of keys) for (let n = 0; n < 4; n++) statuses.push((await api.call('GET', '/v1/me', { key })).status);
  expect(statuses).toEqual([...Array<number>(12).fill(200), ...Array<number>(8).fill(429)]);
  const refused = await api.call('GET', '/v1/me', { key: keys[0]! });
  expect(refused.json['detail']).toMatch(/^Too many requests of all keys of your organization: wait \d+ s\.$/);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3000);
  expect((await api.call('GET', '/v1/me', { key: other })).status).toBe(200);
});

test('an organization cannot take every place for requests that wait', async () => {
  // By a clock that stands still no wait is over, however slow the machine is.
  await using api = await openApi(undefined, (registry) => ({ ...registry, monotonic: () => 0 }));
  const keys = await Promise.all(Array.from({ length: 70 }, () => api.makeKey()));
  const other = await api.makeKey({ org: 'other' });
  const wait = async (key: string) => {
    const { next } = (await api.call('GET', '/v1/changes?limit=100', { key })).json;
    return () => api.call('GET', `/v1/changes?wait=30&after=${String(next)}`, { key });
  };
  const begin = await Promise.all(keys.map(wait));
  const beginOther = await wait(other);
  const turnedAway = Promise.withResolvers<void>();
  let answered = 0;
  const all = begin
    .flatMap((each) => [each, each, each, each])
    .map(async (each) => {
      const { json } = await each();
      if (++answered === 280 - 32) turnedAway.resolve();
      return (json['items'] as object[]).length;
    });
  await turnedAway.promise;
  const waiting = beginOther();
  // It is there before the change if its place was free.
  await api.call('GET', '/v1/me', { key: other });
  for (const key of [other, api.admin]) await api.call('POST', '/v1/apis', { key, body: { name: 'Pay', slug: 'pay' } });
  expect((await waiting).json['items']).toHaveLength(1);
  expect((await Promise.all(all)).filter((count) => count > 0)).toHaveLength(32);
});
