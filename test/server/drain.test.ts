import { afterEach, beforeEach, expect, test } from 'vitest';
import { createKey } from '../../src/registry/keys.ts';
import { openServer, type Server } from '../../src/server/server.ts';
import { createTestQueue, createTestRegistry, publishVersion, type TestRegistry } from './registry.ts';

let server: Server;
let registry: TestRegistry;
let key: string;
/** Resolves when a request waits for changes. */
let waits: Promise<void>;

beforeEach(async () => {
  const plain = createTestRegistry();
  await publishVersion(plain, '@acme/apis/pay', '1.0.0');
  const author = { actor: 'operator:test', origin: null };
  key = (await createKey(plain, { org: 'acme', name: 'test', scopes: ['admin'] }, author)).text;
  const started = Promise.withResolvers<void>();
  waits = started.promise;
  const watch: typeof plain.refs.watch = (listener) => {
    started.resolve();
    return plain.refs.watch(listener);
  };
  registry = { ...plain, refs: { ...plain.refs, watch } };
  server = await openServer(registry, createTestQueue(registry), { host: '127.0.0.1', port: 0 });
});
afterEach(() => server.close(0));

const ask = (path: string) => fetch(server.url + path, { headers: { authorization: `Bearer ${key}` } });

test('a server that drains reports that it is not ready, and answers everything else until it closes', async () => {
  server.drain();
  const ready = await ask('/readyz');
  expect([ready.status, ready.headers.get('retry-after')]).toEqual([503, '1']);
  // Load balancers ask all the time: a line, and no stack.
  expect(registry.logged.filter(({ event }) => event === 'request failed')).toEqual([
    { level: 'warn', event: 'request failed', fields: expect.objectContaining({ error: 'Not ready.' }) as object },
  ]);
  for (const path of ['/healthz', '/@acme/apis/pay@1.0.0']) expect((await ask(path)).status).toBe(200);
  await server.close(0);
  await expect(ask('/readyz')).rejects.toThrow('fetch failed');
});

test('a request that waits for changes is answered when the server drains', { timeout: 20_000 }, async () => {
  const { next } = (await (await ask('/v1/changes')).json()) as { next: string };
  const waiting = ask(`/v1/changes?wait=30&after=${next}`);
  await waits;
  server.drain();
  expect(await (await waiting).json()).toMatchObject({ items: [], hasMore: false });
});
