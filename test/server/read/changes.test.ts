import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Visibility } from '../../../src/model/access.ts';
import { packKey } from '../../../src/store/objects.ts';
import { anonymise, ask } from '../http.ts';
import { changeResource, publishVersion, setStatus } from '../registry.ts';
import { openServed, type Served } from '../served.ts';

let served: Served;
beforeEach(async () => {
  served = await openServed({ cache: { pinned: 7, latest: 3 } });
});
afterEach(() => served[Symbol.asyncDispose]());

const pay = '@acme/apis/pay';
const get = (target: string, headers: [string, string][] = []) => ask(served.port, { target, headers });
const setVisibility = (visibility: Visibility) =>
  changeResource(served.registry, pay, (resource) => ({ ...resource, visibility }));

test('lifetimes come from the configuration', async () => {
  expect((await get(`/${pay}`)).headers.get('cache-control')).toBe('public, max-age=3, must-revalidate');
  expect((await get(`/${pay}@1.1.0`)).headers.get('cache-control')).toBe('public, max-age=7, immutable');
});

test('what turns private is absent at once, and comes back', async () => {
  const before = await get(`/${pay}@1.1.0`);
  expect(before.status).toBe(200);
  await setVisibility('private');
  const absent = await get('/@acme/apis/absent@1.1.0');
  expect(anonymise(await get(`/${pay}@1.1.0`))).toBe(anonymise(absent));
  expect(anonymise(await get(`/${pay}@1.1.0`, [['If-None-Match', before.headers.get('etag')!]]))).toBe(
    anonymise(absent),
  );
  const own = await get(`/${pay}@1.1.0`, [['Authorization', `Bearer ${served.values['acme']}`]]);
  expect(own.headers.get('cache-control')).toBe('private, no-store');
  await setVisibility('public');
  expect(anonymise(await get(`/${pay}@1.1.0`))).toBe(anonymise(before));
});

test('a new version is latest at once, and the one before names it', async () => {
  await get(`/${pay}`);
  await publishVersion(served.registry, pay, '1.2.0');
  expect((await get(`/${pay}`)).headers.get('content-location')).toBe(`/${pay}@1.2.0`);
  expect((await get(`/${pay}@2.0.0-beta.1`)).headers.get('link')).toContain(`</${pay}@1.2.0>; rel="successor-version"`);
});

test('a deprecation shows at once, whatever it names', async () => {
  await get(`/${pay}@1.1.0`);
  const since = '2026-01-01T00:00:00.000Z';
  const links = async (replacement: string) => {
    await setStatus(served.registry, pay, '1.1.0', { state: 'deprecated', reason: 'r', since, replacement });
    const { headers, status } = await get(`/${pay}@1.1.0`);
    expect(status).toBe(200);
    expect(headers.get('deprecation')).toBe('@1767225600');
    expect(headers.get('sunset')).toBeUndefined();
    return headers.get('link');
  };
  expect(await links('@acme/apis/new@2')).toContain('</@acme/apis/new@2>; rel="successor-version"');
  expect(await links('https://elsewhere.test/a b>"')).toContain(
    '<https://elsewhere.test/a%20b%3E%22>; rel="successor-version"',
  );
  expect(await links('javascript:alert(1)')).not.toContain('alert');
  expect(await links('x\r\nSet-Cookie: a=b')).not.toContain('Cookie');
});

test('a deleted resource is visibly gone to whoever could read it, and absent to others', async () => {
  const deletedAt = '2026-01-01T00:00:00.000Z';
  await changeResource(served.registry, pay, (resource) => ({ ...resource, deletedAt }));
  for (const path of [`/${pay}`, `/${pay}@1.0.0`, `/${pay}/versions`]) expect((await get(path)).status, path).toBe(410);
  await changeResource(served.registry, pay, (resource) => ({ ...resource, deletedAt, visibility: 'private' }));
  expect(anonymise(await get(`/${pay}`))).toBe(anonymise(await get('/@acme/apis/absent')));
});

test('pages of versions reach every version once, also while versions are added', async () => {
  const seen: string[] = [];
  let cursor = '';
  for (let page = 0; page < 10; page++) {
    const { body } = await get(`/${pay}/versions?limit=2${cursor}`);
    const { items, next } = JSON.parse(body.toString()) as { items: { version: string }[]; next: string | null };
    seen.push(...items.map(({ version }) => version));
    if (page === 0) await publishVersion(served.registry, pay, '3.0.0');
    if (next === null) break;
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
  expect(seen).toEqual(['2.0.0-beta.1', '1.1.0', '1.0.3', '1.0.2', '1.0.1', '1.0.0+abc', '1.0.0']);
});

test('bytes that do not match their digest are not served', async () => {
  const { text, version } = await publishVersion(served.registry, pay, '1.3.0');
  const key = packKey(version.manifest);
  const pack = Buffer.from((await served.registry.bucket.get(key))!);
  await served.registry.bucket.delete(key);
  const forged = Buffer.from(text.replace('1.3.0', 'forge'));
  pack.set(forged, pack.indexOf(text));
  await served.registry.bucket.putIfAbsent(key, pack);
  const answer = await get(`/${pay}@1.3.0`);
  expect(answer.status).toBe(503);
  expect(answer.headers.get('content-type')).toBe('application/problem+json');
  expect(JSON.parse(answer.body.toString())).toMatchObject({ type: 'http://registry.test/problems/corrupt' });
  expect(answer.body.toString()).not.toContain('forge');
  expect((await get(`/${pay}@${version.manifest}`)).status).toBe(503);
  expect((await get(`/${pay}@1.1.0`)).status).toBe(200);
});

test('an internal error is logged whole, and its answer says nothing of it', async () => {
  served.registry.bucket.fault('get', 'fail', { count: 1, when: (key) => key.startsWith('log/@acme/') });
  const answer = await get('/@acme/apis/wrong?secret=abc');
  expect(answer.status).toBe(500);
  expect(answer.body.toString()).not.toMatch(/Planned|\.ts|node_modules|log\//);
  const { instance } = JSON.parse(answer.body.toString()) as { instance: string };
  const [line] = served.registry.logged;
  expect(line).toMatchObject({ level: 'error', fields: { method: 'GET', path: '/@acme/apis/wrong' } });
  expect(line!.fields['error']).toContain('Planned failure of get');
  expect(instance).toBe(`urn:uuid:${String(line!.fields['request'])}`);
  expect(JSON.stringify(served.registry.logged)).not.toContain('secret=abc');
});

test('too many bad credentials have to wait, and good ones of the same address go on', async () => {
  const limited = await openServed({ rateLimit: { failures: 2 } });
  const send = (key: string) =>
    ask(limited.port, { target: `/${pay}`, headers: [['Authorization', `Bearer ${limited.values[key]}`]] });
  expect((await send('revoked')).status).toBe(401);
  expect((await send('expired')).status).toBe(401);
  const refused = await send('revoked');
  expect(refused.status).toBe(429);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await send('acme')).status).toBe(200);
  await limited[Symbol.asyncDispose]();
});

test('reads are limited where the configuration says so', async () => {
  const limited = await openServed({ rateLimit: { reads: 2 } });
  const read = () => ask(limited.port, { target: `/${pay}` });
  expect((await read()).headers.get('ratelimit')).toMatch(/^"reads";r=1;t=\d+$/);
  expect((await read()).status).toBe(200);
  expect((await read()).status).toBe(429);
  expect((await ask(limited.port, { target: '/healthz' })).status).toBe(200);
  await limited[Symbol.asyncDispose]();
});

test('readiness is answered', async () => {
  served.setReady(false);
  const answer = await get('/readyz');
  expect(answer.status).toBe(503);
  expect(answer.headers.get('retry-after')).toBe('1');
  expect((await get('/healthz')).status).toBe(200);
});

test('each request is logged where the configuration asks for it, by pattern', async () => {
  const verbose = await openServed({ log: { level: 'debug' } });
  await ask(verbose.port, { target: `/${pay}@1.1.0?token=abc` });
  await ask(verbose.port, { target: '/healthz' });
  expect(verbose.registry.logged).toMatchObject([
    { level: 'debug', event: 'request', fields: { method: 'GET', route: '/@{org}/{type}/{slug}', status: 200 } },
    { level: 'debug', event: 'request', fields: { method: 'GET', route: '/healthz', status: 200 } },
  ]);
  await verbose[Symbol.asyncDispose]();
  await get('/healthz');
  expect(served.registry.logged).toEqual([]);
});
