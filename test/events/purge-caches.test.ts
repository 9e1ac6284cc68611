import { afterEach, expect, test, vi } from 'vitest';
import type { UserConfig } from '../../src/config.ts';
import { openPurger, type Purger } from '../../src/events/purge-caches.ts';
import { newId } from '../../src/registry/registry.ts';
import { changeSite, createSiteRecord } from '../../src/sites/registry/site-record.ts';
import { createRefs } from '../../src/store/refs.ts';
import { changeResource, createTestRegistry, publishVersion, setStatus } from '../server/registry.ts';
import { openReceiver, type Receiver } from '../servers/receiver.ts';

const since = '2026-03-01T12:00:00.000Z';
const all = ['@acme/apis/pay', '@acme', 'registry'];
const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const end of ends.splice(0).toReversed()) await end();
});

async function openScene(
  purge: object = {},
): Promise<{ registry: ReturnType<typeof createTestRegistry>; cdn: Receiver }> {
  const cdn = await openReceiver();
  ends.push(async () => cdn[Symbol.asyncDispose]());
  const cache = { pinned: 3600, shared: 86_400, purge: { url: cdn.url, ...purge } };
  return { registry: createTestRegistry({ cache } as UserConfig), cdn };
}

function open(registry: ReturnType<typeof createTestRegistry>, again = 3_600_000): Purger {
  const purger = openPurger(registry, { interval: 3_600_000, again, retry: 1 })!;
  ends.push(() => purger.close());
  return purger;
}

const keysIn = ({ body }: { body: string }): unknown => (JSON.parse(body) as { keys: unknown }).keys;

test('what is made private, withdrawn or yanked, and where latest moves, is purged by the resource, its lists and the first page', async () => {
  const { registry, cdn } = await openScene();
  await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  await publishVersion(registry, '@acme/apis/pay', '1.1.0');
  open(registry);
  await cdn.got(1);
  const changes = [
    () => publishVersion(registry, '@acme/apis/pay', '1.2.0'),
    () => setStatus(registry, '@acme/apis/pay', '1.2.0', { state: 'yanked', reason: 'broken', since }),
    () => setStatus(registry, '@acme/apis/pay', '1.1.0', { state: 'withdrawn', reason: 'leaked', since }),
    () => changeResource(registry, '@acme/apis/pay', (resource) => ({ ...resource, visibility: 'private' as const })),
  ];
  for (const [index, change] of changes.entries()) {
    await change();
    expect(keysIn((await cdn.got(index + 2))[index + 1]!)).toEqual(all);
  }
});

test('what was never public is not sent to anybody', async () => {
  const { registry, cdn } = await openScene();
  open(registry);
  await publishVersion(registry, '@acme/apis/secret', '1.0.0', { visibility: 'private' });
  await publishVersion(registry, '@acme/apis/secret', '1.1.0', { visibility: 'private' });
  await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  await cdn.got(1);
  expect(cdn.received.map(({ body }) => body).join()).not.toContain('secret');
});

test('it is tried until it succeeds, and the change waits for none of that', async () => {
  const { registry, cdn } = await openScene();
  let refusals = 3;
  cdn.answer = () => ({ status: refusals-- > 0 ? 503 : 200 });
  open(registry);
  await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  expect((await cdn.got(4)).map(keysIn)).toEqual([all, all, all, all]);
  expect(registry.logged.filter(({ event }) => event === 'caches were not purged')).toHaveLength(3);
});

test('it is purged once more, since another process may have answered with what it knew before', async () => {
  const { registry, cdn } = await openScene();
  open(registry, 1);
  await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  expect((await cdn.got(2)).map(keysIn)).toEqual([all, all]);
});

test('after a restart all is purged that changed while caches may remember it, and nothing older', async () => {
  const { registry, cdn } = await openScene();
  await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  await changeResource(registry, '@acme/apis/pay', (resource) => ({ ...resource, visibility: 'private' as const }));
  const before = open(registry);
  expect((await cdn.got(1)).map(keysIn)).toEqual([all]);
  await before.close();
  await changeResource(registry, '@acme/apis/pay', (resource) => ({ ...resource, visibility: 'public' as const }));
  const later = { ...registry, now: () => new Date(Date.now() + 2 * 86_400_000) };
  open(later);
  await publishVersion(registry, '@acme/apis/other', '1.0.0');
  await expect.poll(() => cdn.received.length).toBeGreaterThanOrEqual(2);
  expect(cdn.received.slice(1).map(keysIn).flat()).not.toContain('@acme/apis/pay');
});

test('the token goes in the field, and the keys in the member, that a CDN wants; a redirect is not followed', async () => {
  vi.stubEnv('CDN_TOKEN', 'hush');
  const token = { token: { env: 'CDN_TOKEN' } };
  const bearer = await openScene({ ...token, member: 'tags', body: { site_id: 'x' } });
  open(bearer.registry);
  await publishVersion(bearer.registry, '@acme/apis/pay', '1.0.0');
  const [first] = await bearer.cdn.got(1);
  expect(first!.headers['authorization']).toBe('Bearer hush');
  expect(JSON.parse(first!.body)).toEqual({ site_id: 'x', tags: all });
  const own = await openScene({ ...token, header: 'Fastly-Key' });
  own.cdn.answer = () => ({ status: 307, headers: { location: `${bearer.cdn.url}/elsewhere` } });
  open(own.registry);
  await publishVersion(own.registry, '@acme/apis/pay', '1.0.0');
  expect((await own.cdn.got(2))[0]!.headers['fastly-key']).toBe('hush');
  expect(bearer.cdn.received.some(({ path }) => path.includes('elsewhere'))).toBe(false);
});

test('a documentation site that is made private is purged, too', async () => {
  const { registry, cdn } = await openScene();
  const [handbook, author] = [
    { org: 'acme', slug: 'handbook' },
    { actor: 'operator:test', origin: null },
  ];
  await createSiteRecord(registry, handbook, { title: 'Handbook', visibility: 'public' }, author);
  await changeSite(registry, handbook, { visibility: 'private' }, author);
  open(registry);
  expect((await cdn.got(1)).map(keysIn)).toEqual([['@acme/sites/handbook', '@acme', 'registry']]);
});

test('a request has no more keys than every CDN takes', async () => {
  const { registry, cdn } = await openScene();
  const answered = Promise.withResolvers<void>();
  cdn.answer = async () => {
    await answered.promise;
    return { status: 204 };
  };
  open(registry);
  const names = Array.from({ length: 40 }, (_, number) => `@acme/apis/a${number}`);
  for (const name of names) await publishVersion(registry, name, '1.0.0');
  await new Promise(setImmediate);
  answered.resolve();
  const sent = () => cdn.received.map((request) => keysIn(request) as string[]);
  await expect.poll(() => new Set(sent().flat()).size).toBe(names.length + 2);
  expect(Math.max(...sent().map(({ length }) => length))).toBe(30);
});

test('what changes again while it is being purged is purged again at once', async () => {
  const { registry, cdn } = await openScene();
  open(registry);
  const answered = Promise.withResolvers<void>();
  cdn.answer = async () => {
    await answered.promise;
    return { status: 204 };
  };
  await publishVersion(registry, '@acme/apis/pay', '1.0.0');
  await cdn.got(1);
  await publishVersion(registry, '@acme/apis/pay', '1.1.0');
  // The change is looked at before the answer comes.
  await new Promise(setImmediate);
  answered.resolve();
  expect((await cdn.got(2)).map(keysIn)).toEqual([all, all]);
});

test('what another process changes is purged after a while', async () => {
  const { registry, cdn } = await openScene();
  const other = createTestRegistry();
  const refs = createRefs(registry.bucket, { ...other, uniqueId: () => newId(other), maxAge: 0 });
  const purger = openPurger(registry, { interval: 1, again: 3_600_000, retry: 1 })!;
  ends.push(() => purger.close());
  await publishVersion({ ...registry, refs }, '@acme/apis/pay', '1.0.0');
  expect((await cdn.got(1)).map(keysIn)).toEqual([all]);
});

test('nothing is purged where nothing is configured, and a longer lifetime in shared caches needs it', () => {
  expect(openPurger(createTestRegistry())).toBeNull();
  expect(() => createTestRegistry({ cache: { shared: 86_400 } })).toThrow('cache must have property purge');
});
