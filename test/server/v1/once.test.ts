import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { digestOf, hexOf } from '../../../src/model/digest.ts';
import { RegistryError } from '../../../src/model/errors.ts';
import { formatPrincipal } from '../../../src/model/access.ts';
import { giveRights } from '../../../src/registry/keys/change-rights.ts';
import { authenticateKey } from '../../../src/registry/keys/keys.ts';
import { noteSignIn } from '../../../src/registry/keys/people.ts';
import { watchingCommits } from '../../../src/store/refs.ts';
import { performOnce } from '../../../src/registry/idempotency.ts';
import { listAll } from '../../../src/store/bucket.ts';
import { watchLooks } from '../../registry/watch-looks.ts';
import { createTestRegistry } from '../registry.ts';
import { documentOf, openApi, unlimited, type Api } from './api.ts';

const headers = { 'idempotency-key': '6f1e0c1a' };
const author = { actor: 'operator:test', origin: null };
const creation = { name: 'Pay', slug: 'pay' };

async function labels(api: Api): Promise<unknown> {
  const { json } = await api.call('GET', '/v1/apis/pay/versions');
  return (json['items'] as { version: string }[]).map(({ version }) => version);
}

test('a repeated POST is done once and answered the same', async () => {
  await using api = await openApi();
  const first = await api.call('POST', '/v1/apis', { body: creation, headers });
  const again = await api.call('POST', '/v1/apis', { body: creation, headers });
  expect([again.status, again.text, again.headers.get('location')]).toEqual([
    201,
    first.text,
    first.headers.get('location'),
  ]);
  expect([first.headers.get('idempotency-replayed'), again.headers.get('idempotency-replayed')]).toEqual([
    null,
    'true',
  ]);
  expect((await api.call('POST', '/v1/apis', { body: creation })).status).toBe(409);
});

test('the same key with another body, path or query is refused; of another key it is another', async () => {
  await using api = await openApi();
  await api.call('POST', '/v1/apis', { body: creation, headers });
  const other = await api.call('POST', '/v1/apis', { body: { ...creation, slug: 'other' }, headers });
  expect(other.status).toBe(422);
  expect(other.json['type']).toBe('http://registry.test/problems/idempotency_mismatch');
  expect((await api.call('POST', '/v1/schemas', { body: creation, headers })).status).toBe(422);
  expect((await api.call('GET', '/v1/apis/other')).status).toBe(404);
  const key = await api.makeKey();
  expect((await api.call('POST', '/v1/apis', { key, body: { ...creation, slug: 'other' }, headers })).status).toBe(201);
});

test('a refusal is remembered as well', async () => {
  await using api = await openApi();
  await api.call('POST', '/v1/apis', { body: creation });
  const publish = () => api.call('POST', '/v1/apis/pay/spec', { body: { document: { refuse: 'No.' } }, headers });
  const first = await publish();
  const again = await publish();
  expect([first.status, again.status]).toEqual([422, 422]);
  expect(again.json['problems']).toEqual(first.json['problems']);
  expect(again.json['instance']).not.toBe(first.json['instance']);
});

test('what is not there, or not allowed, by what a process knows is not remembered: it may be a second old', async () => {
  await using api = await openApi();
  const publish = () => api.call('POST', '/v1/apis/pay/spec', { body: { document: documentOf('1.0.0') }, headers });
  expect((await publish()).status).toBe(404);
  await api.call('POST', '/v1/apis', { body: creation });
  expect((await publish()).status).toBe(201);
  const registry = createTestRegistry();
  for (const code of ['forbidden', 'gone'] as const) {
    const refusal = new RegistryError(code, 'No.');
    await expect(performOnce(registry, repeatable, () => Promise.reject(refusal))).rejects.toBe(refusal);
  }
  expect(await performOnce(registry, repeatable, async () => 7)).toEqual({ answer: 7, isReplay: false });
});

test('of repetitions at the same time, in two processes, one is done and all are answered the same', async () => {
  const registry = createTestRegistry(unlimited);
  await using one = await openApi(registry);
  await using two = await openApi(registry);
  await one.call('POST', '/v1/apis', { body: creation });
  const ask = { key: one.admin, body: { document: documentOf(null) }, headers };
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) => (n % 2 ? one : two).call('POST', '/v1/apis/pay/spec', ask)),
  );
  expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
  expect(await labels(one)).toEqual(['1.0.0']);
});

test('a new key is repeated to whoever asked for it, and is hidden from those who read the store', async () => {
  const registry = createTestRegistry(unlimited);
  await using api = await openApi(registry);
  const body = { name: 'ci', scopes: ['read'] };
  const first = await api.call('POST', '/v1/keys', { body, headers });
  const again = await api.call('POST', '/v1/keys', { body, headers });
  expect(again.text).toBe(first.text);
  const secret = first.json['secret'] as string;
  for await (const key of listAll(registry.bucket, '')) {
    const text = Buffer.from((await registry.bucket.get(key))!).toString();
    expect(text.includes(secret) || text.includes(Buffer.from(secret).toString('base64').slice(0, -4))).toBe(false);
  }
});

test('an answer is for the credential that asked: another one of the same person, or in another form, is refused', async () => {
  const secret = { env: 'NONE' };
  const login = { issuer: 'https://id.test', clientId: 'x', clientSecret: secret, sessionSecret: secret };
  const registry = createTestRegistry({ ...unlimited, login });
  await using api = await openApi(registry);
  await giveRights(registry, 'acme', { person: 'https://id.test#ada', scopes: ['admin'] }, author);
  const person = 'user:https://id.test#ada';
  await noteSignIn(registry, ['acme'], {
    actor: person,
    name: 'Ada',
    groups: [],
    signedInAt: new Date().toISOString(),
  });
  const [one, two] = [await api.makeKey({ org: null, person }), await api.makeKey({ org: null, person })];
  const body = { name: 'ci', scopes: ['read'] };
  const basic = { ...headers, authorization: `Basic ${Buffer.from(`x:${one}`).toString('base64')}` };
  const answers = [
    await api.call('POST', '/v1/keys', { key: one, body, headers }),
    await api.call('POST', '/v1/keys', { key: two, body, headers }),
    await api.call('POST', '/v1/keys', { body, headers: basic }),
    await api.call('POST', '/v1/keys', { key: one, body, headers }),
  ];
  expect(answers.map(({ status }) => status)).toEqual([201, 422, 422, 201]);
  expect(answers[1]!.json['detail']).toContain('with another credential');
  expect(answers[3]!.text).toBe(answers[0]!.text);
});

test('after a crash in between, the repetition finds what was made', async () => {
  const registry = createTestRegistry(unlimited);
  await using api = await openApi(registry);
  const principal = (await authenticateKey(registry, api.admin))!;
  await api.call('POST', '/v1/apis', { body: creation, headers });
  // The store as it is when the process dies between the resource's commit and the record of the answer.
  const name = `idempotency/acme/${hexOf(digestOf(`${formatPrincipal(principal)}\n${headers['idempotency-key']}`))}`;
  await registry.refs.update<object>(name, (current) => ({
    value: { ...current!.value, state: 'running', sealed: null, process: `${hostname()}/999999999`, holder: 'x' },
    change: { actor: 'operator:test', origin: null, action: 'crash' },
  }));
  const again = await api.call('POST', '/v1/apis', { body: creation, headers });
  expect([again.status, again.json['id']]).toEqual([201, 'pay']);
  expect((await api.call('POST', '/v1/apis', { body: creation, headers })).status).toBe(201);
});

test('after a crash in between, the repetition makes no second key, has room where quotas are used up, and counts', async () => {
  const registry = createTestRegistry({ ...unlimited, quotas: { keys: 2 } });
  await using api = await openApi(registry);
  const principal = (await authenticateKey(registry, api.admin))!;
  const make = () => api.call('POST', '/v1/keys', { body: { name: 'ci', scopes: ['read'] }, headers });
  const lost = await make();
  const name = `idempotency/acme/${hexOf(digestOf(`${formatPrincipal(principal)}\n${headers['idempotency-key']}`))}`;
  await registry.refs.update<object>(name, (current) => ({
    value: { ...current!.value, state: 'running', sealed: null, process: `${hostname()}/999999999`, holder: 'x' },
    change: { actor: 'operator:test', origin: null, action: 'crash' },
  }));
  const again = await make();
  expect(again.status).toBe(201);
  const { json } = await api.call('GET', '/v1/keys');
  expect((json['items'] as { name: string }[]).filter(({ name: each }) => each === 'ci')).toHaveLength(1);
  const isKey = async ({ json: { secret } }: typeof again) =>
    (await authenticateKey(registry, String(secret))) !== null;
  expect([await isKey(lost), await isKey(again)]).toEqual([false, true]);
  const other = { 'idempotency-key': 'another' };
  expect((await api.call('POST', '/v1/keys', { body: { name: 'x', scopes: ['read'] }, headers: other })).status).toBe(
    403,
  );
});

test('a publish whose answer could not be kept is repeated as the publish that it was', async () => {
  const registry = createTestRegistry(unlimited);
  await using api = await openApi(registry);
  await api.call('POST', '/v1/apis', { body: creation });
  let writes = 0;
  const when = (key: string) => key.startsWith('work/idempotency/') && ++writes > 1;
  registry.bucket.fault('putIfAbsent', 'fail', { count: 3, when });
  const publish = () => api.call('POST', '/v1/apis/pay/spec', { body: { document: documentOf('1.0.0') }, headers });
  const [first, again] = [await publish(), await publish()];
  expect(writes).toBeGreaterThan(3);
  expect([first.status, again.status, again.json]).toEqual([201, 201, first.json]);
});

const repeatable = { org: 'acme', actor: 'key:x', key: 'k', request: digestOf('r'), secret: 's' };

test('what failed without a word is tried again, under the same operation', async () => {
  const registry = createTestRegistry();
  const operations: string[] = [];
  const fail = performOnce(registry, repeatable, async (operation) => {
    operations.push(operation);
    throw new RegistryError('outcome_unknown', 'Who knows?');
  });
  await expect(fail).rejects.toThrow('Who knows?');
  const { answer } = await performOnce(registry, repeatable, async (operation) => {
    operations.push(operation);
    return 7;
  });
  expect(answer).toBe(7);
  expect(operations[1]).toBe(operations[0]);
});

test('a refusal that says when to try again is not remembered', async () => {
  const registry = createTestRegistry();
  const busy = new RegistryError('conflict', 'It is busy.', { retryAfter: 1 });
  await expect(performOnce(registry, repeatable, () => Promise.reject(busy))).rejects.toBe(busy);
  expect(await performOnce(registry, repeatable, async () => 7)).toEqual({ answer: 7, isReplay: false });
});

test('after 24 hours a key is new', async () => {
  let at = Date.parse('2026-01-01T00:00:00Z');
  const registry = { ...createTestRegistry(), now: () => new Date(at) };
  const perform = (answer: number) => performOnce(registry, repeatable, async () => answer);
  expect((await perform(1)).answer).toBe(1);
  at += 24 * 60 * 60 * 1000 - 1;
  expect(await perform(2)).toEqual({ answer: 1, isReplay: true });
  at += 1;
  expect(await perform(3)).toEqual({ answer: 3, isReplay: false });
});

test('an answer that cannot be kept is given all the same, and a repetition finds what was made', async () => {
  const registry = createTestRegistry(unlimited);
  await using api = await openApi(registry);
  let writes = 0;
  // Each write is tried three times: the first says that the attempt runs, the second would keep its answer.
  const when = (key: string) => key.startsWith('work/idempotency/') && ++writes > 1;
  registry.bucket.fault('putIfAbsent', 'fail', { count: 3, when });
  const first = await api.call('POST', '/v1/apis', { body: creation, headers });
  const again = await api.call('POST', '/v1/apis', { body: creation, headers });
  expect(writes).toBeGreaterThan(3);
  expect([first.status, again.status, again.json]).toEqual([201, 201, first.json]);
});

test('an attempt that failed and could not say so is over: the next one begins', async () => {
  const registry = createTestRegistry();
  const unknown = new RegistryError('outcome_unknown', 'Who knows?');
  const fail = performOnce(registry, repeatable, async () => {
    registry.bucket.fault('putIfAbsent', 'fail', { count: 3 });
    throw unknown;
  });
  await expect(fail).rejects.toBe(unknown);
  expect(await performOnce(registry, repeatable, async () => 7)).toEqual({ answer: 7, isReplay: false });
});

test.each([3_600_000, -3_600_000])(
  'an attempt of another machine is over after three minutes, though the clock is set by %i ms',
  async (step) => {
    let at = Date.parse('2026-01-01T00:00:00Z');
    let passed = 0;
    const registry = { ...createTestRegistry(), now: () => new Date(at), monotonic: () => passed };
    let hold = (): void => undefined;
    const held = new Promise<void>((resolve) => (hold = resolve));
    const running = performOnce(registry, repeatable, () => held);
    await expect.poll(() => registry.refs.read(nameOf(repeatable))).not.toBeNull();
    await registry.refs.update<object>(nameOf(repeatable), (current) => ({
      value: { ...current!.value, process: 'elsewhere/1', space: 'elsewhere', holder: 'theirs' },
      change: { actor: 'operator:test', origin: null, action: 'take' },
    }));
    let answer: unknown = null;
    const waiting = watchLooks(registry, nameOf(repeatable));
    const next = performOnce(waiting.registry, repeatable, async () => 7).then((given) => (answer = given));
    await waiting.look();
    at += step;
    passed += 179_999;
    await waiting.look();
    expect(answer).toBeNull();
    passed += 1;
    expect(await next).toEqual({ answer: 7, isReplay: false });
    hold();
    await running;
  },
);

function nameOf({ org, actor, key }: typeof repeatable): string {
  return `idempotency/${org}/${hexOf(digestOf(`${actor}\n${key}`))}`;
}

test('a failure after a commit is never answered as if nothing had happened', async () => {
  const registry = createTestRegistry();
  const full = new RegistryError('unavailable', 'The store has no space left; nothing was written.');
  const change = { actor: 'operator:test', origin: null, action: 'make' };
  const failAfter = (commits: number, error: Error) =>
    watchingCommits(registry, async ({ refs }) => {
      for (let n = 0; n < commits; n++) await refs.update<number>('things/one', () => ({ value: n, change }));
      await refs.update('things/one', () => null);
      throw error;
    });
  await expect(failAfter(0, full)).rejects.toBe(full);
  await expect(failAfter(1, full)).rejects.toMatchObject({ code: 'outcome_unknown', cause: full });
  await expect(failAfter(1, new TypeError('a bug'))).rejects.toMatchObject({ code: 'outcome_unknown' });
  const refusal = new RegistryError('conflict', 'It is taken.');
  await expect(failAfter(1, refusal)).rejects.toBe(refusal);
});
