import { once } from 'node:events';
import { Agent, request, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { unavailable } from '../../src/model/errors.ts';
import { createKey } from '../../src/registry/keys/keys.ts';
import { openServer, type Server } from '../../src/open-server.ts';
import { openConnection } from './fast-path/connection.ts';
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

test('a server that starts is ready once it has read what first requests need, and answers before', async () => {
  const { promise: warm, resolve } = Promise.withResolvers<void>();
  await server.close(0);
  server = await openServer(registry, createTestQueue(registry), { host: '127.0.0.1', port: 0, warm });
  const status = async (path: string) => (await ask(path)).status;
  expect([await status('/readyz'), await status('/@acme/apis/pay@1.0.0')]).toEqual([503, 200]);
  resolve();
  expect(await status('/readyz')).toBe(200);
  server.drain();
  expect(await status('/readyz')).toBe(503);
});

test('a server that cannot read its documents is not ready', async () => {
  const { getPart } = registry.bucket;
  registry.bucket.getPart = async (place, ...part) => {
    if (place.startsWith('packs/')) throw unavailable('The store cannot be read: permission denied.');
    return getPart(place, ...part);
  };
  expect((await ask('/readyz')).status).toBe(503);
});

test('a request that waits for changes is answered when the server drains', { timeout: 20_000 }, async () => {
  const { next } = (await (await ask('/v1/changes')).json()) as { next: string };
  const waiting = ask(`/v1/changes?wait=30&after=${next}`);
  await waits;
  server.drain();
  expect(await (await waiting).json()).toMatchObject({ items: [], hasMore: false });
});

test('every answer of a server that drains says that the connection closes: kept ones, 304s and those in progress', async () => {
  const { port } = new URL(server.url);
  const target = '/@acme/apis/pay@1.0.0';
  const connections = await Promise.all([1, 2, 3].map(() => openConnection(Number(port))));
  const get = (index: number, headers: [string, string][] = []) => connections[index]!.ask({ target, headers });
  for (const index of [0, 0, 1]) expect((await get(index)).headers.get('connection')).toBe('keep-alive');
  const etag = (await get(0)).headers.get('etag')!;
  const { next } = (await (await ask('/v1/changes')).json()) as { next: string };
  const inProgress = connections[2]!.ask({
    target: `/v1/changes?wait=30&after=${next}`,
    headers: [['Authorization', `Bearer ${key}`]],
  });
  await waits;
  server.drain();
  const answers = [await get(0), await get(1, [['If-None-Match', etag]]), await inProgress];
  expect(answers.map(({ status, headers }) => [status, headers.get('connection')])).toEqual([
    [200, 'close'],
    [304, 'close'],
    [expect.any(Number), 'close'],
  ]);
});

test('no client that keeps its connection is cut off when the server closes', async () => {
  const errors: unknown[] = [];
  let answers = 0;
  /** Asks over one connection until an answer says that it closes. */
  const client = async (pause: number) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let isKept = true; isKept;) {
      const sent = request(`${server.url}/@acme/apis/pay@1.0.0`, { agent }).end();
      const [response] = (await once(sent, 'response')) as [IncomingMessage];
      response.resume();
      await once(response, 'end');
      answers++;
      isKept = response.headers.connection !== 'close';
      if (pause > 0) await delay(pause);
    }
    agent.destroy();
  };
  const clients = Array.from({ length: 16 }, (_, index) => client(index).catch((error: unknown) => errors.push(error)));
  await expect.poll(() => answers).toBeGreaterThan(200);
  await server.close();
  await Promise.all(clients);
  expect(errors).toEqual([]);
});
