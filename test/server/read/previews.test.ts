import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { digestOf, hexOf } from '../../../src/model/digest.ts';
import { listAll, type Bucket } from '../../../src/store/bucket.ts';
import { createMemoryBucket } from '../../memory-store.ts';
import type { Visibility } from '../../../src/model/access.ts';
import { createTrialRegistry } from '../../../src/pulls/check-pull.ts';
import { storePreview, takePreview } from '../../../src/registry/preview.ts';
import { keepPreview, sweepPreviews, trimPreviews } from '../../../src/store/previews.ts';
import type { Registry } from '../../../src/registry/registry.ts';
import { ask, type Answer } from '../http.ts';
import { changeResource, publishVersion } from '../registry.ts';
import { openServed, type Served } from '../served.ts';

let served: Served;
beforeAll(async () => {
  served = await openServed({ url: 'http://registry.test' });
});
afterAll(() => served[Symbol.asyncDispose]());

/** Publishes a version into a view, and stores its preview, as a check of a pull request does. */
async function preview(
  coordinate: string,
  label: string,
  visibility: Visibility = 'public',
  at: Registry = served.registry,
  newFrom: string | null = null,
) {
  const view = createTrialRegistry(at);
  const { resource } = await publishVersion(view, coordinate, label, { visibility });
  return storePreview(at, await takePreview(view, resource, label, newFrom));
}

function get(token: string, key?: string, method = 'GET'): Promise<Answer> {
  const headers = key === undefined ? [] : [['Authorization', `Bearer ${key}`] as const];
  return ask(served.port, { method, target: `/previews/${token}`, headers });
}

describe('the preview of a document', () => {
  test('is a page that says so, which is not cached, listed or announced', async () => {
    const answer = await get(await preview('@acme/apis/pay', '9.0.0'));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(answer.headers.get('cache-control')).toBe('private, no-store');
    expect(answer.headers.get('x-robots-tag')).toBe('noindex');
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer');
    expect(answer.headers.get('access-control-allow-origin')).toBeUndefined();
    const text = answer.body.toString();
    expect(text).toContain('Preview of a pull request.');
    expect(text).toContain('<meta name="robots" content="noindex">');
    expect(text).toContain('9.0.0');
    // The version has no URL yet.
    expect(text).not.toContain('@9.0.0');
    expect(text).not.toContain('rel="canonical"');
  });

  test('changes nothing of what is published, and is in no list', async () => {
    const before = await Array.fromAsync(listAll(served.registry.bucket, ''));
    const token = await preview('@acme/apis/brand-new', '1.0.0');
    const after = await Array.fromAsync(listAll(served.registry.bucket, ''));
    const added = after.filter((key) => !before.includes(key));
    expect(added).toHaveLength(1);
    expect(added[0]).toMatch(/^previews\//);
    // A list of keys reveals no URL.
    expect(added[0]).not.toContain(token.slice(10));
    expect((await get(token)).status).toBe(200);
    for (const target of ['/@acme/apis/brand-new', '/@acme/apis/brand-new@1.0.0', '/previews/', '/previews'])
      expect((await ask(served.port, { target })).status, target).toBe(404);
    for (const target of ['/@acme', '/search?q=brand', '/sitemap.xml', '/feed.atom'])
      expect((await ask(served.port, { target })).body.toString(), target).not.toContain('brand-new');
  });

  test('of a private resource needs a reader of it, and the token', async () => {
    const { values } = served;
    const token = await preview('@acme/apis/secret', '9.0.0', 'private');
    const absent = `${token.slice(0, -1)}${token.endsWith('0') ? '1' : '0'}`;
    const textOf = ({ body }: Answer) => body.toString().replaceAll(/[0-9a-f-]{36}|[0-9a-z]{9}-[0-9a-f]{32}/g, '');
    for (const key of [undefined, values['other'], values['narrow']]) {
      const [hidden, none] = [await get(token, key), await get(absent, key)];
      expect(hidden.status).toBe(404);
      expect(textOf(hidden)).toBe(textOf(none));
    }
    expect((await get(token, values['acme'])).status).toBe(200);
    expect((await get(absent, values['acme'])).status).toBe(404);
  });

  test('of a name that the request could not know to be taken answers as for a free one', async () => {
    const made = await preview('@acme/apis/guessed', '9.0.0', 'public', served.registry, 'https://git.test/fork.git');
    await publishVersion(served.registry, '@acme/apis/guessed', '1.0.0', { visibility: 'private' });
    expect((await get(made)).status).toBe(200);
  });

  test('of a resource that was made private since, or deleted, is private or gone', async () => {
    await publishVersion(served.registry, '@acme/apis/later', '1.0.0');
    const token = await preview('@acme/apis/later', '2.0.0');
    expect((await get(token)).status).toBe(200);
    await changeResource(served.registry, '@acme/apis/later', (resource) => ({ ...resource, visibility: 'private' }));
    expect((await get(token)).status).toBe(404);
    expect((await get(token, served.values['acme'])).status).toBe(200);
    await changeResource(served.registry, '@acme/apis/later', (resource) => ({
      ...resource,
      deletedAt: '2026-01-01T00:00:00.000Z',
    }));
    expect((await get(token, served.values['acme'])).status).toBe(404);
  });

  test('expires, and is then deleted', async () => {
    const { registry } = served;
    const then = { ...registry, expiryTime: () => new Date(Date.now() - 8 * 24 * 60 * 60_000) };
    const old = await preview('@acme/apis/pay', '9.1.0', 'public', then);
    const token = await preview('@acme/apis/pay', '9.2.0');
    expect((await get(old)).status).toBe(404);
    const count = async () => (await Array.fromAsync(listAll(registry.bucket, 'previews/'))).length;
    const before = await count();
    await sweepPreviews(registry);
    expect(await count()).toBe(before - 1);
    expect((await get(token)).status).toBe(200);
  });

  test('are bounded in number and bytes for each organization: the oldest go first', async () => {
    const { registry } = served;
    const later = (minutes: number) => ({ ...registry, expiryTime: () => new Date(Date.now() + minutes * 60_000) });
    const tokens: string[] = [];
    for (const minutes of [5, 1, 3])
      tokens[minutes] = await preview('@crowd/apis/pay', `9.4.${minutes}`, 'public', later(minutes));
    const other = await preview('@quiet/apis/pay', '9.4.0');
    const there = async () => {
      const found = [1, 3, 5].map(async (minutes) => ((await get(tokens[minutes]!)).status === 200 ? [minutes] : []));
      return (await Promise.all(found)).flat();
    };
    await trimPreviews(registry, 'crowd');
    expect(await there()).toEqual([1, 3, 5]);
    await trimPreviews(registry, 'crowd', { count: 2, bytes: Number.MAX_SAFE_INTEGER });
    expect(await there()).toEqual([3, 5]);
    const sizes = (await Array.fromAsync(listAll(registry.bucket, 'previews/'))).map((key) => key.split('-')[3]!);
    const largest = Math.max(...sizes.map((size) => Number.parseInt(size, 36)));
    await trimPreviews(registry, 'crowd', { count: 9, bytes: largest });
    expect(await there()).toEqual([5]);
    expect((await get(other)).status).toBe(200);
  });

  test.each([
    '',
    'x',
    '../x',
    '0'.repeat(9),
    `${'z'.repeat(9)}-${'0'.repeat(32)}`,
    `${'0'.repeat(9)}-${'G'.repeat(32)}`,
  ])('is not there for the token %j', async (token) => {
    expect((await get(encodeURIComponent(token))).status).toBe(404);
  });

  test('is not there once a letter of it is another; one of an older program, whose key has no digest, is', async () => {
    const { bucket } = served.registry;
    const token = await preview('@acme/apis/pay', '9.4.0');
    const [key] = (await Array.fromAsync(listAll(bucket, 'previews/'))).filter((each) => each.includes(`/${token.slice(0, 9)}-${hexOf(digestOf(token)).slice(0, 32)}`)); // prettier-ignore
    const bytes = Buffer.from((await bucket.get(key!))!);
    const other = Buffer.from(bytes.toString().replace('"label":"9.4.0"', '"label":"9.4.1"').replaceAll('"9.4.0"', '"9.4.1"')); // prettier-ignore
    expect(other).not.toEqual(bytes);
    await bucket.delete(key!);
    await bucket.putIfAbsent(key!, other);
    expect((await get(token)).status).toBe(404);
    await bucket.delete(key!);
    await bucket.putIfAbsent(key!.split('.')[0]!, bytes);
    expect((await get(token)).status).toBe(200);
  });

  test('is only read', async () => {
    const token = await preview('@acme/apis/pay', '9.3.0');
    expect((await get(token, undefined, 'POST')).status).toBe(405);
    expect((await get(token, undefined, 'HEAD')).body).toHaveLength(0);
  });
});

test('a preview is stored after its parts, and deleted before them', async () => {
  const calls: string[] = [];
  const plain = createMemoryBucket();
  const bucket: Bucket = {
    ...plain,
    putIfAbsent: (key, bytes) => (calls.push(`put ${key.split('-').length}`), plain.putIfAbsent(key, bytes)),
    delete: (key) => (calls.push(`delete ${key.split('-').length}`), plain.delete(key)),
  };
  const place = { bucket, expiryTime: () => new Date(0), randomBytes: (size: number) => new Uint8Array(size) };
  const part = Buffer.from('part');
  await keepPreview(place, 'acme', 1, Buffer.from('whole'), new Map([[digestOf(part), part]]));
  await trimPreviews(place, 'acme', { count: 0, bytes: 0 });
  // The key of a part has one piece more.
  expect(calls).toEqual(['put 5', 'put 4', 'delete 4', 'delete 5']);
});
