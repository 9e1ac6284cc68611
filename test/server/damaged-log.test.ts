import { afterEach, beforeEach, expect, test } from 'vitest';
import { entryKey } from '../../src/store/log/entry.ts';
import { createMemoryBucket } from '../memory-store.ts';
import { createObjects } from '../../src/store/objects.ts';
import { createRefs } from '../../src/store/refs.ts';
import { newId } from '../../src/registry/registry.ts';
import { createKey } from '../../src/registry/keys/keys.ts';
import { createApp } from '../../src/server/app.ts';
import { listen } from '../../src/server/listen.ts';
import { createTestQueue, createTestRegistry, publishVersion } from './registry.ts';

let close: () => Promise<void>;
afterEach(() => close());

let ask: (target: string, headers?: Record<string, string>) => Promise<Response>;
const keys: string[] = [];

/** A server on a store in which the second of three entries of @acme is missing since before it was started. */
beforeEach(async () => {
  const plain = createTestRegistry();
  const bucket = createMemoryBucket();
  const open = () => ({
    ...plain,
    bucket,
    objects: createObjects(bucket),
    refs: createRefs(bucket, { ...plain, uniqueId: () => newId(plain), maxAge: 0 }),
  });
  const writer = open();
  for (const label of ['1.0.0', '1.1.0', '1.2.0']) await publishVersion(writer, '@acme/apis/pay', label);
  keys.length = 0;
  for (const org of ['acme', 'evil']) {
    const { text } = await createKey(
      writer,
      { org, name: 'k', scopes: ['read', 'admin'] },
      { actor: 'operator:test', origin: null },
    );
    keys.push(text);
  }
  await bucket.delete(entryKey('@acme', 2));
  const registry = open();
  await registry.refs.examine();
  const context = { registry, queue: createTestQueue(registry), url: 'http://registry.test', isReady: () => true };
  const listening = await listen(createApp(context), { host: '127.0.0.1', port: 0 });
  close = () => listening.close(1000);
  ask = (target, headers = {}) => fetch(listening.url + target, { headers });
});

test('/readyz tells of a damaged log, and which it is to those who may know', async () => {
  const local = await ask('/readyz');
  const acme = { log: '@acme', entry: 2, detail: 'It is missing.' };
  expect([local.status, await local.json()]).toEqual([200, { status: 'ready', damagedLogs: 1, logs: [acme] }]);
  const via = { via: '1.1 proxy' };
  const seen = await Promise.all(
    [via, ...keys.map((key) => ({ ...via, authorization: `Bearer ${key}` }))].map(async (headers) => {
      const { damagedLogs, logs } = (await (await ask('/readyz', headers)).json()) as Record<string, unknown>;
      return [damagedLogs, logs];
    }),
  );
  expect(seen).toEqual([
    [1, []],
    [1, [acme]],
    [1, []],
  ]);
});

test('what stands before the damage is served', async () => {
  expect((await ask('/@acme/apis/pay@1.0.0')).status).toBe(200);
  expect((await ask('/@acme/apis/pay@1.1.0')).status).toBe(404);
});
