import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkConfig } from '../../src/config/load-config.ts';
import { digestOf } from '../../src/model/digest.ts';
import { openRegistry, type OpenRegistry } from '../../src/open.ts';
import type { Resource } from '../../src/model/resource.ts';
import { fsck } from '../../src/registry/fsck.ts';
import { noteNeed } from '../../src/registry/maintenance/needs.ts';
import { migrate } from '../../src/registry/maintenance/migrate.ts';
import { createApp } from '../../src/server/app.ts';
import { listen, type Listening } from '../../src/server/listen.ts';
import { createV1 } from '../../src/server/v1/v1.ts';
import { createPulls } from '../../src/pulls/pulls.ts';
import { listAll } from '../../src/store/bucket.ts';
import { createMemoryBucket } from '../memory-store.ts';
import { createSyncQueue } from '../../src/sync/queue.ts';

// Programs come and go; what one of them stored in this format is read by all that follow.
const kept = new URL('../fixtures/kept/format-2', import.meta.url).pathname;
const key = 'stele_poz5rldhnrrp_Vc5yeOGC1AFDFgQcYyOh41TaV5Q3q3704BRKSi';
const folder = mkdtempSync(join(tmpdir(), 'stele-kept-'));
let registry: OpenRegistry;
let listening: Listening;

beforeAll(async () => {
  cpSync(kept, folder, { recursive: true });
  const config = checkConfig({ organizations: { acme: {}, beta: {} } }, { base: folder, data: folder });
  registry = await openRegistry(config, () => undefined);
  const queue = createSyncQueue(registry, createPulls);
  const context = { registry, queue, isReady: () => true, url: 'http://registry.test' };
  const app = createApp({ ...context, v1: (site) => createV1({ ...context, site }) });
  listening = await listen(app, { host: '127.0.0.1', port: 0 });
});
afterAll(async () => {
  await listening.close();
  await registry.close();
  rmSync(folder, { recursive: true, force: true });
});

async function get(path: string, as: string | null = key, init: RequestInit = {}): Promise<[number, Buffer]> {
  const headers = { ...(as !== null && { authorization: `Bearer ${as}` }), 'content-type': 'application/json' };
  const response = await fetch(listening.url + path, { headers, redirect: 'manual', ...init });
  return [response.status, Buffer.from(await response.arrayBuffer())];
}

describe('in this order', { shuffle: false }, () => {
  test('a kept store of format 2 is whole', async () => {
    expect(readFileSync(join(kept, 'format'), 'utf8')).toBe('{"format":2}');
    expect(await fsck(registry)).toMatchObject({ damages: [], entries: 17, versions: 6 });
  });

  test.each([
    ['/@acme/apis/pay@1.0.0.yaml', '2f5fc9bbfcaab74f6d3132960ee9516f3459793eaed517e10f5ea69f7ec2aba0'],
    ['/@acme/apis/pay@1.1.0.json', '443ef45c7848a123cbf88fb9b266fbef9cc383a37c3acecfd04c521e6b861625'],
    ['/@acme/apis/pay.json', '443ef45c7848a123cbf88fb9b266fbef9cc383a37c3acecfd04c521e6b861625'],
    ['/@acme/schemas/money.json', 'a6ee453c98326f8a2040ff5742115e33bc46ec3c65d9d7a80c845629e8affd6e'],
    ['/@acme/rulesets/style.yaml', '075af3eec71c4762bafbc1ba3b6a277584700b1d3f4617be48b81f43adc52065'],
  ])('%s has the bytes that it had, for a key of that time', async (path, digest) => {
    const [status, bytes] = await get(path);
    expect([status, digestOf(bytes)]).toEqual([200, `sha256:${digest}`]);
  });

  test('what was withdrawn, private or of another organization is so still', async () => {
    expect((await get('/@acme/apis/pay@1.2.0.json'))[0]).toBe(410);
    expect((await get('/@acme/schemas/money.json', null))[0]).toBe(404);
    expect((await get('/@beta/apis/pay.json'))[0]).toBe(404);
    const [, versions] = await get('/v1/apis/pay/versions');
    const { items } = JSON.parse(versions.toString()) as { items: { version: string; status: { state: string } }[] };
    expect(items.map(({ version, status }) => [version, status.state])).toEqual([
      ['1.2.0', 'withdrawn'],
      ['1.1.0', 'active'],
      ['1.0.0', 'deprecated'],
    ]);
    for (const path of ['/v1/sites/docs', '/v1/keys', '/v1/webhooks', '/v1/audit', '/@acme/apis/pay@1.1.0/report'])
      expect((await get(path))[0], path).toBe(200);
  });

  test('it takes a version and a key, also of what `stele mirror` once copied, and is migrated, whole', async () => {
    await registry.refs.update<Resource>('resources/acme/apis/pay', (current) => ({
      value: { ...current!.value, mirrorOf: 'https://other.test' } as Resource,
      change: { actor: 'operator:mirror', origin: null, action: 'mirror 1.1.0' },
    }));
    expect((await get('/@acme/apis/pay@1.1.0.json'))[0]).toBe(200);
    const document = { openapi: '3.1.0', info: { title: 'Pay', version: '1.3.0' }, paths: {} };
    const body = JSON.stringify({ document, version: '1.3.0' });
    const [status, answer] = await get('/v1/apis/pay/spec', key, { method: 'POST', body });
    expect(status, answer.toString()).toBe(201);
    const made = JSON.stringify({ name: 'new', scopes: ['read'] });
    expect((await get('/v1/keys', key, { method: 'POST', body: made }))[0]).toBe(201);
    expect(JSON.parse((await get('/@acme/apis/pay.json'))[1].toString())).toEqual(document);
    expect((await fsck(registry)).damages).toEqual([]);
    const into = createMemoryBucket();
    expect(await migrate(registry.bucket, into)).toMatchObject({ damages: [], isBehind: false });
    const keys = async (bucket: typeof registry.bucket) => Array.fromAsync(listAll(bucket, 'log/'));
    expect(await keys(into)).toEqual(await keys(registry.bucket));
  });
});

test('a store that needs what this program does not know is refused, and nothing is written; what it knows is opened', async () => {
  const path = mkdtempSync(join(tmpdir(), 'stele-needs-'));
  try {
    cpSync(kept, path, { recursive: true });
    const config = checkConfig({ organizations: { acme: {} } }, { base: path, data: path });
    const opened = await openRegistry(config, () => undefined);
    await noteNeed(opened, 'approval');
    await noteNeed(opened, 'approval');
    expect((await fsck(opened)).damages).toEqual([]);
    await opened.close();
    const again = await openRegistry(config, () => undefined);
    expect(await Array.fromAsync(again.refs.history('needs/approval'))).toHaveLength(1);
    // As a later program notes it.
    await noteNeed(again, 'teleports' as 'approval');
    await again.close();
    const before = readdirSync(path, { recursive: true }).sort();
    await expect(openRegistry(config, () => undefined)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(/^A newer version of Stele wrote this store, .*"teleports"/) as string,
    });
    expect(readdirSync(path, { recursive: true }).sort()).toEqual(before);
  } finally {
    rmSync(path, { recursive: true, force: true });
  }
});
