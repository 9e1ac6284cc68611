import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { anonymous } from '../../../src/model/access.ts';
import type { Resource } from '../../../src/model/resource.ts';
import { createAnswerCache } from '../../../src/registry/answer-cache.ts';
import type { Registry } from '../../../src/registry/registry.ts';
import { createMemoryBucket } from '../../memory-store.ts';
import { createRefs } from '../../../src/store/refs.ts';
import { createClock, createIds } from '../../contract/refs.ts';
import { createHits, prebuild } from '../../../src/server/fast-path.ts';
import { prepare, type PreparedDocument } from '../../../src/server/read/send-document.ts';
import { bytesOf } from '../../../src/server/send-page.ts';

const resource = { org: 'acme', type: 'apis', slug: 'pay' } as Resource;
/** As large as 1/16 of all hits. */
const prepared = (): PreparedDocument =>
  prepare({ etag: '"a"', size: 4 * 1024 * 1024, ranges: false }, { common: {}, content: {} });

function openHits() {
  const kept = createAnswerCache(createRefs(createMemoryBucket(), { ...createClock(), uniqueId: createIds('hits') }), {
    limit: 64 * 1024 * 1024,
  });
  const hits = createHits({} as Registry, { kept, keepAlive: 5000, base: '' });
  const keep = (url: string, sent: PreparedDocument, bytes: Uint8Array | null) =>
    hits.keep(
      { url, headers: {} } as IncomingMessage,
      { route: '/@{org}', principal: anonymous, resource, reads: new Map([['resources/acme/apis/pay', 0]]) },
      sent,
      bytes,
    );
  return { kept, keep };
}

async function isFreed(bytes: WeakRef<Uint8Array>): Promise<boolean> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  await nextTurn();
  collect();
  return bytes.deref() === undefined;
}

test('bytes are freed when no hit has them any more, also while what was prepared of them is kept elsewhere', async () => {
  const { kept: all, keep } = openHits();
  const elsewhere = prepared();
  const bytes = (() => {
    const made = new Uint8Array(1024);
    keep('/first', elsewhere, made);
    return new WeakRef(made);
  })();
  for (let n = 0; n < 10; n++) keep(`/other-${n}`, prepared(), null);
  keep('/second', elsewhere, null);
  for (let n = 10; n < 20; n++) keep(`/other-${n}`, prepared(), null);
  expect(await isFreed(bytes), 'the second request has them').toBe(false);
  for (let n = 20; n < 40; n++) keep(`/other-${n}`, prepared(), null);
  expect(await isFreed(bytes)).toBe(true);
  expect(elsewhere.etag).toBe('"a"');
  const { bytes: kept, limit } = all.use();
  expect(kept).toBeLessThanOrEqual(limit);
  expect(kept).toBeGreaterThan(limit * 0.9);
});

test('a small response and a small page keep no more memory than they need', async () => {
  const { bytes } = prebuild('200 OK', ['ETag', '"a"'], 5000, Buffer.from('{}'));
  expect(bytes.toString()).toMatch(/^HTTP\/1\.1 200 OK\r\nETag: "a"\r\nDate: .*\r\n\r\n\{\}$/s);
  expect(bytes.buffer.byteLength).toBe(bytes.byteLength);
  const page = await bytesOf('<p>Grüße').open();
  expect(Buffer.from(page).toString()).toBe('<p>Grüße');
  expect(page.buffer.byteLength).toBe(page.byteLength);
});
