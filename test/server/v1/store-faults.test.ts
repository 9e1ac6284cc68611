import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { keyRef, parseKey } from '../../../src/model/key.ts';
import { newId } from '../../../src/registry/registry.ts';
import { openFsBucket } from '../../../src/store/fs.ts';
import { generationKey } from '../../../src/store/generations.ts';
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

describe('a publish of which an fsync fails', () => {
  const failing = (path: RegExp): ((call: { name: string; path: string }) => FileFault | null) => {
    return (made) => (made.name === 'fsync' && path.test(made.path) ? { kind: 'fails' } : null);
  };

  test.each([
    ['of the bytes', /^data\/\.tmp\//],
    ['of the folder of an object', /^data\/objects\/sha256\/../],
    ['of the folder of the ref', /^data\/refs\/resources\/acme\/apis\/pay$/],
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

describe('a damaged record', () => {
  const damage = (name: string) => api.registry.bucket.putIfAbsent(generationKey(name, 1000), Buffer.from('{"gen'));

  test('of a resource: whoever could not read it if it were private finds what is absent, others that it is damaged', async () => {
    await create();
    await publish();
    await damage('resources/acme/apis/pay');
    const stranger = await api.makeKey({ org: 'evil' });
    for (const key of [null, stranger]) {
      const [gone, absent] = [
        await call('GET', '/@acme/apis/pay', { key }),
        await call('GET', '/@acme/apis/nothing', { key }),
      ];
      expect(gone.status).toBe(404);
      expect({ ...gone.json, instance: '' }).toEqual({ ...absent.json, instance: '' });
    }
    const own = await call('GET', '/@acme/apis/pay');
    expect([own.status, problemOf(own)]).toEqual([500, 'corrupt']);
    expect(own.text).not.toMatch(/refs\/|resources\//);
    expect((await call('POST', '/v1/apis', { body: { name: 'B', slug: 'b' } })).status).toBe(201);
    expect(plain.logged.filter(({ event }) => event === 'damaged ref passed over')).toHaveLength(1);
  });

  test('of a key stands for nobody', async () => {
    const key = await api.makeKey();
    await damage(keyRef(parseKey(key)!.id));
    expect((await call('GET', '/v1/apis', { key })).status).toBe(401);
    expect((await call('GET', '/v1/apis')).status).toBe(200);
  });
});
