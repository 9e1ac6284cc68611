import { expect, test } from 'vitest';
import { parseCheckpoint, parseProof } from '../../../src/model/transparency/checkpoint.ts';
import { parseVerifierKey, signersOf } from '../../../src/model/transparency/note.ts';
import { isIncluded, leafHash } from '../../../src/model/transparency/tree.ts';
import { createKey } from '../../../src/registry/keys/keys.ts';
import { publicLogOf } from '../../../src/registry/transparency/public-log.ts';
import { createApp } from '../../../src/server/app.ts';
import { listen } from '../../../src/server/listen.ts';
import { createTestQueue, createTestRegistry, publishVersion } from '../registry.ts';

const logSecret = 'the secret of the key of this public log';
const author = { actor: 'operator:test', origin: null };

async function serve() {
  const made = createTestRegistry();
  const logKey = { read: () => logSecret, make: () => logSecret };
  const config = { ...made.config, url: 'https://registry.test', store: { kind: 'fs', path: '/nowhere' } as const };
  const registry = { ...made, config, logKey };
  await publishVersion(registry, '@acme/apis/shop', '1.0.0');
  await publishVersion(registry, '@acme/apis/secret', '1.0.0', { visibility: 'private' });
  const { text: key } = await createKey(registry, { org: 'acme', name: 'reader', scopes: ['read'] }, author);
  const app = createApp({ registry, queue: createTestQueue(registry), url: config.url, isReady: () => true });
  const server = await listen(app, { host: '127.0.0.1', port: 0 });
  const get = (path: string, headers: Record<string, string> = {}) => fetch(`${server.url}${path}`, { headers });
  return { get, registry, key, close: () => server.close() };
}

test('a version comes with the proof that it is in the public log, and a private one does not', async () => {
  const { get, key, close } = await serve();
  try {
    const document = await get('/@acme/apis/shop@1.0.0.json');
    const link = /<([^>]+)>; rel="https:\/\/c2sp.org\/tlog-proof"/.exec(document.headers.get('link')!)![1]!;
    expect(link).toBe('/@acme/apis/shop@1.0.0?proof');
    const answer = await get(link);
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(answer.headers.get('cache-control')).toContain('must-revalidate');
    const proof = parseProof(await answer.text())!;
    const vkey = parseVerifierKey((await (await get('/log/key')).text()).trim())!;
    expect(signersOf(proof.checkpoint.note, [vkey])).toEqual([vkey]);
    expect(isIncluded({ ...proof.checkpoint, index: proof.index }, leafHash(proof.extra!), proof.hashes)).toBe(true);
    const { manifest } = (await (await get('/@acme/apis/shop@1.0.0/provenance', { accept: 'application/json' })).json()) as { manifest: string }; // prettier-ignore
    expect(JSON.parse(String(proof.extra))).toMatchObject({ coordinate: '@acme/apis/shop', label: '1.0.0', digest: manifest }); // prettier-ignore

    // Who may not read it gets what anybody gets for a name that is not there.
    const hidden = await get('/@acme/apis/secret@1.0.0?proof');
    const absent = await get('/@acme/apis/absent@1.0.0?proof');
    expect(hidden.status).toBe(404);
    const bodyOf = async (response: Response) => (await response.text()).replace(/urn:uuid:[\w-]+/, '');
    expect(await bodyOf(hidden)).toBe(await bodyOf(absent));
    const told = await get('/@acme/apis/secret@1.0.0?proof', { authorization: `Bearer ${key}`, accept: 'application/json' }); // prettier-ignore
    expect(told.status).toBe(404);
    expect(await told.text()).toContain('only public versions are');
    const secret = await get('/@acme/apis/secret@1.0.0.json', { authorization: `Bearer ${key}` });
    expect(secret.headers.get('link')).not.toContain('tlog-proof');
  } finally {
    await close();
  }
});

test('the log is served as tlog-tiles says', async () => {
  const { get, close } = await serve();
  try {
    await get('/@acme/apis/shop@1.0.0?proof');
    const checkpoint = await get('/log/checkpoint');
    expect(checkpoint.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(parseCheckpoint(await checkpoint.text())).toMatchObject({ origin: 'registry.test/log', size: 3 });
    const tile = await get('/log/tile/0/000.p/3');
    expect(tile.headers.get('content-type')).toBe('application/octet-stream');
    expect(tile.headers.get('cache-control')).toContain('immutable');
    expect(await tile.bytes()).toHaveLength(96);
    expect(await (await get('/log/tile/entries/000.p/3')).text()).toContain('"event":"listed","label":"1.0.0"');
    for (const path of [
      '/log/tile/0/000',
      '/log/tile/0/000.p/4',
      '/log/tile/0/001.p/1',
      '/log/tile/1/000.p/1',
      '/log/tile/0/0',
      '/log/other',
      '/log/',
    ])
      // prettier-ignore
      expect((await get(path)).status, path).toBe(404);
  } finally {
    await close();
  }
});

test('a log that lost its newest leaves is not served, and readiness says so', async () => {
  const { get, registry, close } = await serve();
  try {
    await get('/@acme/apis/shop@1.0.0?proof');
    expect((await get('/log/checkpoint')).status).toBe(200);
    for (const key of await registry.bucket.list('tree/batches/')) await registry.bucket.delete(key);
    await (await publicLogOf(registry))!.update().catch(() => undefined);
    const ready = (await (await get('/readyz')).json()) as { status: string; publicLog: string[] };
    expect(ready).toMatchObject({
      status: 'ready',
      publicLog: [expect.stringMatching(/^tree\/batches\/.* is gone\.$/)],
    });
    expect((await get('/@acme/apis/shop@1.0.0.json')).status).toBe(200);
  } finally {
    await close();
  }
});
