import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { newId } from '../../../src/registry/registry.ts';
import { openFsBucket } from '../../../src/store/fs.ts';
import { createObjects } from '../../../src/store/objects.ts';
import { createRefs } from '../../../src/store/refs.ts';
import { openFolder } from '../../store/buckets.ts';
import { watchFiles, type FileFault, type WatchedFiles } from '../../store/watched-files.ts';
import { createTestRegistry, type TestRegistry } from '../registry.ts';
import { documentOf, openApi, unlimited, type Api, type Ask } from './api.ts';

let folder: string;
let files: WatchedFiles;
let api: Api;
let passed: number;
let plain: TestRegistry;
let close: () => Promise<void>;

beforeEach(async () => {
  const opened = await openFolder();
  folder = join(opened.folder, 'data');
  files = watchFiles(opened.folder);
  passed = 0;
  plain = createTestRegistry(unlimited);
  const bucket = await openFsBucket(folder, { files });
  const clocks = { now: plain.now, monotonic: () => passed };
  const refs = createRefs(bucket, { ...clocks, uniqueId: () => newId(plain), maxAge: 0 });
  api = await openApi({ ...plain, ...clocks, bucket, objects: createObjects(bucket), refs });
  close = async () => {
    await api[Symbol.asyncDispose]();
    await opened.close();
  };
});
afterEach(() => close());

/** `api.call` takes no 5xx for an answer. */
async function call(method: string, path: string, { body, headers, key = api.admin }: Ask = {}) {
  const sent = {
    ...(key !== null && { authorization: `Bearer ${key}` }),
    'content-type': 'application/json',
    ...headers,
  };
  const response = await fetch(api.url + path, {
    method,
    headers: sent,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, json: JSON.parse(text) as Record<string, unknown> };
}

const create = (headers = {}) => call('POST', '/v1/apis', { body: { name: 'Pay', slug: 'pay' }, headers });
const publish = (headers = {}) => call('POST', '/v1/apis/pay/spec', { body: { document: documentOf(null) }, headers });
const problemOf = ({ json }: { json: Record<string, unknown> }) => String(json['type']).split('/').at(-1);

describe('a store that takes no writes', () => {
  test.each([
    ['EROFS', 'The store is not writable: its file system is read-only'],
    ['ENOSPC', 'The store has no space left'],
    ['EDQUOT', 'The store has no space left'],
    ['EACCES', 'The store is not writable: permission denied'],
    ['EIO', 'The store is not writable: its disk reports an error'],
    ['EMFILE', 'The store is not writable: too many files are open'],
  ])('%s: says why, without a name of its own, still reads, and is not ready', async (code, why) => {
    await create();
    await publish();
    files.plan = ({ name, path }) =>
      name === 'open' && path.startsWith('data/.tmp/') ? { kind: 'fails', code } : null;
    const refused = await call('POST', '/v1/apis', {
      body: { name: 'B', slug: 'b' },
      headers: { 'idempotency-key': 'k' },
    });
    expect([refused.status, problemOf(refused), refused.json['detail']]).toEqual([
      503,
      'unavailable',
      `${why}; nothing was written.`,
    ]);
    expect(refused.text).not.toMatch(/\.tmp|refs\/|idempotency\/|stele-test/);
    expect((await call('GET', '/v1/apis/pay')).status).toBe(200);
    passed += 1000;
    const ready = await call('GET', '/readyz');
    expect([ready.status, ready.json['detail']]).toEqual([503, `${why}.`]);
    files.plan = () => null;
    expect((await call('GET', '/readyz')).status).toBe(503);
    passed += 1000;
    expect((await call('GET', '/readyz')).status).toBe(200);
  });

  test('is looked at once a second, however many ask', async () => {
    files.calls.length = 0;
    await Promise.all(Array.from({ length: 10 }, () => call('GET', '/readyz', { key: null })));
    expect(files.calls.filter(({ name }) => name === 'write')).toHaveLength(1);
  });
});

test('a publish is at most 12 writes and 12 fsyncs, and lists nothing', async () => {
  const send = (version: string) =>
    call('POST', '/v1/apis/pay/spec', {
      body: { document: documentOf(version) },
      headers: { 'idempotency-key': version },
    });
  await create();
  await send('1.0.0');
  files.calls.length = 0;
  expect((await send('1.1.0')).status).toBe(201);
  const counts = Object.groupBy(files.calls, ({ name }) => name);
  const writes = counts.link?.map(({ path }) => path.split('/')[1]);
  expect(writes?.sort()).toEqual(['log', 'objects', 'packs', 'work', 'work']);
  // A folder that is made costs one more; a store that is in use has them.
  expect(counts.fsync!.length - (counts.mkdir ?? []).length).toBeLessThanOrEqual(12);
  expect(counts.readdir ?? []).toEqual([]);
});

test('a log that cannot be read, such as files of root, makes the server not ready', async () => {
  await create();
  expect((await call('GET', '/readyz')).status).toBe(200);
  files.plan = ({ name, path }) =>
    name === 'open' && path.startsWith('data/log/@acme/') ? { kind: 'fails', code: 'EACCES' } : null;
  const why = 'The store cannot be read: permission denied.';
  const read = await call('GET', '/v1/apis/pay');
  expect([read.status, read.json['detail']]).toEqual([503, why]);
  passed += 1000;
  const ready = await call('GET', '/readyz');
  expect([ready.status, ready.json['detail']]).toEqual([503, why]);
  files.plan = () => null;
  passed += 1000;
  expect((await call('GET', '/readyz')).status).toBe(200);
});

describe('a publish of which an fsync fails', () => {
  const failing = (path: RegExp): ((call: { name: string; path: string }) => FileFault | null) => {
    return (made) => (made.name === 'fsync' && path.test(made.path) ? { kind: 'fails' } : null);
  };

  test.each([
    ['of the bytes', /^data\/\.tmp\//],
    ['of the folder of the pack', /^data\/packs\/sha256\/../],
    ['of the folder of the log', /^data\/log\/@acme\/\d+$/],
  ])(
    '%s: is not acknowledged, the registry is not ready, and the same key ends it once that is over',
    async (_, path) => {
      await create();
      files.plan = failing(path);
      const headers = { 'idempotency-key': 'publish' };
      const first = await publish(headers);
      expect([first.status, problemOf(first)]).toEqual([503, 'outcome_unknown']);
      expect((await call('GET', '/readyz')).status).toBe(503);
      expect((await publish(headers)).status).toBe(503);
      files.plan = () => null;
      passed += 1000;
      expect((await call('GET', '/readyz')).status).toBe(200);
      const last = await publish(headers);
      expect([200, 201]).toContain(last.status);
      expect(last.json).toMatchObject({ version: '1.0.0' });
      const { json } = await call('GET', '/v1/apis/pay/versions');
      expect(json['items']).toHaveLength(1);
    },
  );
});

describe('a damaged entry', () => {
  /** Puts something else where the next entry of a log would be. */
  async function damage(log: string): Promise<void> {
    const newest = (await api.registry.bucket.list(`log/${log}/`, { limit: 1 }))[0]!;
    const next = String(Number(newest.split('/').at(-1)) - 1).padStart(15, '0');
    await api.registry.bucket.putIfAbsent(newest.replace(/\d+$/, next), Buffer.from('{"seq'));
  }

  test('of an organization: what stands before it is served, changes are refused, and others go on', async () => {
    await create();
    await publish();
    await damage('@acme');
    expect((await call('GET', '/@acme/apis/pay', { key: null })).status).toBe(404);
    expect((await call('GET', '/@acme/apis/pay')).status).toBe(200);
    const refused = await call('POST', '/v1/apis', { body: { name: 'B', slug: 'b' } });
    expect([refused.status, problemOf(refused)]).toEqual([503, 'corrupt']);
    expect(refused.text).not.toMatch(/log\/|resources\//);
    const other = await api.makeKey({ org: 'evil', scopes: ['read', 'publish', 'admin'] });
    const answer = await call('POST', '/v1/apis', { body: { name: 'B', slug: 'b' }, key: other });
    expect(answer.status).toBe(201);
  });

  test('of the registry: keys that were made before are good', async () => {
    const key = await api.makeKey();
    await damage('registry');
    expect((await call('GET', '/v1/apis', { key })).status).toBe(200);
    const refused = await call('POST', '/v1/keys', { body: { name: 'k', scopes: ['read'] } });
    expect(problemOf(refused)).toBe('corrupt');
  });
});
