import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkConfig } from '../../src/config/load-config.ts';
import { openRegistry } from '../../src/open.ts';
import { createKey, type NewKey } from '../../src/registry/keys/keys.ts';
import { isLocal } from '../../src/server/request.ts';
import { listenForMetrics } from '../../src/server/listen.ts';
import { createMetrics } from '../../src/server/observe.ts';
import { freePort } from '../servers/ports.ts';
import { exchange, parseAnswer } from './http.ts';
import { openServed, type Served } from './served.ts';

let direct: Served;
let behindProxy: Served;
beforeAll(async () => {
  [direct, behindProxy] = await Promise.all([openServed(), openServed({ proxies: 1 })]);
});
afterAll(() => Promise.all([direct[Symbol.asyncDispose](), behindProxy[Symbol.asyncDispose]()]));

async function statusOf({ port }: Served, host: string, ...fields: string[]): Promise<number> {
  const lines = ['GET /metrics HTTP/1.1', `Host: ${host}`, ...fields, 'Connection: close', '', ''];
  return parseAnswer(await exchange(port, lines.join('\r\n'))).status;
}

async function bearer({ registry }: Served, given: Partial<NewKey>): Promise<string> {
  const author = { actor: 'operator:test', origin: null };
  const { text } = await createKey(registry, { org: 'acme', name: 'scrape', scopes: ['admin'], ...given }, author);
  return `Authorization: Bearer ${text}`;
}

describe('metrics', () => {
  test.each(['127.0.0.1:7700', 'localhost', '[::1]:7700'])(
    'answer a program on this machine (Host: %s)',
    async (host) => {
      expect(await statusOf(direct, host)).toBe(200);
    },
  );

  test.each([
    ['its name of the registry', 'registry.test'],
    ['X-Forwarded-For', '127.0.0.1', 'X-Forwarded-For: 127.0.0.1'],
    ['Forwarded', '127.0.0.1', 'Forwarded: for=127.0.0.1'],
    ['Via', '127.0.0.1', 'Via: 1.1 proxy'],
    ['X-Real-IP', '127.0.0.1', 'X-Real-IP: 127.0.0.1'],
  ])('do not answer what came through a proxy: %s', async (_, host, ...fields) => {
    expect(await statusOf(direct, host, ...fields)).toBe(404);
  });

  test('do not answer another machine that calls the registry localhost', () => {
    const asked = (remoteAddress: string) =>
      isLocal({ socket: { remoteAddress }, headers: { host: 'localhost' } } as IncomingMessage, 0);
    for (const own of ['127.0.0.1', '::1', '::ffff:127.0.0.1']) expect(asked(own)).toBe(true);
    for (const other of ['192.0.2.7', '2001:db8::1', '::ffff:192.0.2.7']) expect(asked(other)).toBe(false);
  });

  test('answer no connection where proxies are configured', async () => {
    expect(await statusOf(behindProxy, '127.0.0.1')).toBe(404);
  });

  test('answer no key: they are about all organizations, and an administrator is one of a single one', async () => {
    for (const served of [direct, behindProxy])
      expect(await statusOf(served, 'registry.test', await bearer(served, {}))).toBe(404);
  });

  test('have a listener of their own where one is configured, and nothing else has them then', async () => {
    const metrics = { host: '127.0.0.1', port: await freePort() };
    await using served = await openServed({ metrics });
    expect(await statusOf(served, '127.0.0.1')).toBe(404);

    const current = createMetrics({ counts: () => ({ running: 2, waiting: 0 }) });
    const listening = await listenForMetrics(metrics, () => current, served.registry.log);
    try {
      const answer = await fetch(`${listening.url}/metrics`);
      expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
      expect(await answer.text()).toContain('stele_syncs{state="running"} 2\n');
      expect((await fetch(`${listening.url}/`)).status).toBe(404);
      expect((await fetch(`${listening.url}/metrics`, { method: 'POST' })).status).toBe(405);
    } finally {
      await listening.close(0);
    }
  });
});

test('metrics say how full each cache is, and how full it may be', async () => {
  const caches = () => ({ objects: { bytes: 5, limit: 64 } });
  const text = await createMetrics({ counts: () => ({ running: 0, waiting: 0 }) }, caches).render();
  expect(text).toContain('stele_cache_bytes{cache="objects"} 5\n');
  expect(text).toContain('stele_cache_limit_bytes{cache="objects"} 64\n');
});

test('a registry says what it keeps in memory: logs, objects, answers, and results where it serves', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stele-test-'));
  const config = checkConfig({ log: { level: 'silent' } }, { base: folder, data: folder });
  const registry = await openRegistry(config, undefined, { hasSpare: false });
  expect(Object.keys(registry.caches!())).toEqual(['logs', 'objects', 'answers']);
  const digest = await registry.objects.put('bytes');
  await registry.objects.get(digest);
  expect(registry.caches!().objects).toEqual({ bytes: 5, limit: 64 * 1024 * 1024 });
  await registry.close();
  await rm(folder, { recursive: true });
});
