import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../../src/server/app.ts';
import { listen, type Listening } from '../../../src/server/listen.ts';
import { createKey } from '../../../src/registry/keys/keys.ts';
import { openShards } from '../../../src/search/ranking/shards.js';
import { outlineDocument } from '../../../src/render/render.ts';
import { ask, type Answer } from '../http.ts';
import { changeResource, createTestQueue, createTestRegistry, publishVersion, type TestRegistry } from '../registry.ts';

let registry: TestRegistry;
let server: Listening;
const keys: Record<string, string> = {};

const shop = {
  info: { title: 'Shop <b>of</b> animals', version: '1.0.0' },
  paths: {
    '/pets': { get: { operationId: 'listPets', summary: 'All of them', tags: ['pets'], responses: {} } },
    '/pets/{petId}': { get: { operationId: 'showPetById', responses: {} } },
  },
  components: { schemas: { Pet: { type: 'object', properties: { nickname: { type: 'string' } } } } },
};

beforeAll(async () => {
  registry = createTestRegistry({ rateLimit: { reads: 100_000 } });
  registry.compiler.outline = async (document) => outlineDocument(document);
  await publishVersion(registry, '@acme/apis/shop', '1.0.0', { document: shop });
  await publishVersion(registry, '@acme/apis/secret', '1.0.0', { document: shop, visibility: 'private' });
  await publishVersion(registry, '@acme/apis/stock', '1.0.0', { document: shop, visibility: 'private' });
  for (let i = 0; i < 120; i++) await publishVersion(registry, `@many/apis/thing-${i}`, '1.0.0');
  const author = { actor: 'operator:test', origin: null };
  const make = async (more: object = {}) =>
    (await createKey(registry, { org: 'acme', name: 'test', scopes: ['read'], ...more }, author)).text;
  keys['acme'] = await make();
  keys['narrow'] = await make({ resources: ['apis/st*'] });
  const queue = createTestQueue(registry);
  const app = createApp({ registry, queue, url: 'http://registry.test/base', isReady: () => true });
  server = await listen(app, { host: '127.0.0.1', port: 0 });
  // The index is whole when this is answered.
  await get('/index.json');
});
afterAll(() => server.close(1000));

async function get(
  query: string,
  { key, accept, method }: { key?: string; accept?: string; method?: string } = {},
): Promise<Answer> {
  const headers: [string, string][] = [];
  if (key !== undefined) headers.push(['Authorization', `Bearer ${keys[key]}`]);
  if (accept !== undefined) headers.push(['Accept', accept]);
  return ask(server.port, { target: `/base/search${query}`, headers, ...(method && { method }) });
}

interface Body {
  items: { coordinate: string; url: string; matches: { kind: string; name: string; url: string }[] }[];
  next: string | null;
  complete: boolean;
}

async function found(query: string, options?: Parameters<typeof get>[1]): Promise<Body> {
  const answer = await get(query, options);
  expect(answer.status).toBe(200);
  return JSON.parse(answer.body.toString()) as Body;
}

describe('in this order', { shuffle: false }, () => {
  describe('as JSON', () => {
    test('a result says what it is and what of it fits, with links that hold', async () => {
      expect(await found('?q=listPets')).toEqual({
        items: [
          {
            coordinate: '@acme/apis/shop',
            type: 'apis',
            name: 'shop',
            title: 'Shop <b>of</b> animals',
            description: '',
            version: '1.0.0',
            url: 'http://registry.test/base/@acme/apis/shop',
            matches: [
              {
                kind: 'operation',
                name: 'GET /pets',
                summary: 'All of them',
                url: 'http://registry.test/base/@acme/apis/shop#operation/listPets',
              },
              {
                kind: 'operation',
                name: 'GET /pets/{petId}',
                summary: '',
                url: 'http://registry.test/base/@acme/apis/shop#operation/showPetById',
              },
            ],
          },
        ],
        next: null,
        complete: true,
        didYouMean: null,
      });
    });

    test('may be kept by anybody where nobody in particular asked, and else by nobody', async () => {
      const open = await get('?q=pets');
      expect(open.headers.get('cache-control')).toBe('public, max-age=60, must-revalidate');
      expect(open.headers.get('vary')).toBe('Accept, Accept-Encoding, Authorization, Cookie');
      expect(open.headers.get('access-control-allow-origin')).toBe('*');
      const own = await get('?q=pets', { key: 'acme' });
      expect(own.headers.get('cache-control')).toBe('private, no-store');
      expect(own.headers.get('access-control-allow-origin')).toBeUndefined();
    });

    test('finds what the key may read, and nothing else', async () => {
      const names = async (key?: string) =>
        (await found('?q=listPets', key === undefined ? {} : { key })).items.map(({ coordinate }) => coordinate);
      expect(await names()).toEqual(['@acme/apis/shop']);
      expect(await names('acme')).toEqual(['@acme/apis/secret', '@acme/apis/shop', '@acme/apis/stock']);
      expect(await names('narrow')).toEqual(['@acme/apis/shop', '@acme/apis/stock']);
    });

    test('without a query lists what there is, in pages', async () => {
      const first = await found('?org=many&limit=100');
      const second = await found(`?org=many&limit=100&cursor=${first.next}`);
      expect([first.items.length, second.items.length, second.next]).toEqual([100, 20, null]);
      expect(new Set([...first.items, ...second.items].map(({ coordinate }) => coordinate)).size).toBe(120);
      const words = await found('?q=thing&limit=50');
      expect(words.items).toHaveLength(50);
      expect((await found(`?q=thing&limit=50&cursor=${words.next}`)).items).toHaveLength(50);
      expect((await found('?type=schemas')).items).toEqual([]);
    });

    test.each([
      ['?q=a&q=b', 400],
      [`?q=${'a'.repeat(201)}`, 400],
      ['?type=api', 400],
      ['?org=ACME', 400],
      ['?limit=0', 400],
      ['?cursor=nothing', 400],
      ['?q=%00%ff%fe', 200],
      ['?q=%', 200],
      [`?q=${encodeURIComponent('"()*:^~ AND OR NOT')}`, 200],
      [`?q=${'a+'.repeat(99)}`, 200],
      ['?q=org:ACME%20type:api', 200],
      ['/suggest.json?q=a&q=b', 400],
      ['/terms/zz.json', 404],
      ['/terms/..%2fpe.json', 404],
      ['/', 404],
      ['/index.html', 404],
    ])('%s', async (query, status) => {
      expect((await get(query)).status).toBe(status);
    });

    test('other methods', async () => {
      expect((await get('?q=pets', { method: 'HEAD' })).body.length).toBe(0);
      expect((await get('', { method: 'POST' })).status).toBe(405);
      expect((await get('', { accept: 'text/csv' })).status).toBe(406);
    });

    test('a resource that turns private is gone from it, and comes back', async () => {
      await publishVersion(registry, '@acme/apis/moody', '1.0.0', { document: shop });
      const has = async () => {
        const { items } = await found('?q=moody');
        return items.length === 1;
      };
      await expect.poll(has).toBe(true);
      await changeResource(registry, '@acme/apis/moody', (resource) => ({ ...resource, visibility: 'private' }));
      await expect.poll(has).toBe(false);
      await changeResource(registry, '@acme/apis/moody', (resource) => ({ ...resource, visibility: 'public' }));
      await expect.poll(has).toBe(true);
      await changeResource(registry, '@acme/apis/moody', (resource) => ({ ...resource, visibility: 'private' }));
      await expect.poll(has).toBe(false);
    });
  });

  describe('as a page', () => {
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

    test('has the results, escaped, with links under the base', async () => {
      const answer = await get('?q=listPets%20%3Cb%3E', { accept });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      const html = (await get('?q=listPets', { accept })).body.toString();
      expect(html).toContain('href="/base/@acme/apis/shop#operation/listPets"');
      expect(html).not.toContain('<b>of</b>');
      expect(answer.body.toString()).not.toContain('<b>');
      expect(answer.body.toString()).toContain('listPets &lt;b&gt;');
    });

    test('without a query is the form alone, the same for everybody', async () => {
      const open = await get('', { accept });
      const own = await get('', { accept, key: 'acme' });
      expect(open.body.equals(own.body)).toBe(true);
      expect(open.body.toString()).not.toContain('class="row"');
      expect(open.headers.get('cache-control')).toBe('public, max-age=60, must-revalidate');
      expect(own.headers.get('cache-control')).toBe('private, no-store');
    });
  });

  describe('the index for browsers', () => {
    test('holds what anybody may read, whoever asks', async () => {
      const open = await get('/index.json');
      expect(open.status).toBe(200);
      expect(open.headers.get('content-type')).toBe('application/json');
      const shards = openShards(async (path) => {
        const file = await get(`/${path}`);
        expect([path, file.status]).toEqual([path, 200]);
        expect(file.body.toString()).not.toContain('secret');
        return JSON.parse(file.body.toString());
      });
      const search = await shards.search('listpets');
      expect(search.instead).toBe(null);
      expect(await search.hits(0, 10)).toMatchObject([
        {
          resource: { coordinate: '@acme/apis/shop', url: '/base/@acme/apis/shop' },
          item: { anchor: 'operation/listPets' },
        },
      ]);
      expect((await shards.search('secret')).count).toBe(0);
      expect((await get('/index.json', { key: 'acme' })).body.equals(open.body)).toBe(true);
      const tag = open.headers.get('etag')!;
      const again = await ask(server.port, { target: '/base/search/index.json', headers: [['If-None-Match', tag]] });
      expect(again.status).toBe(304);
    });
  });

  describe('suggestions', () => {
    interface Suggested {
      query: string;
      items: { kind: string; name: string; coordinate: string; title: string; url: string }[];
      didYouMean: string | null;
    }
    const suggested = async (text: string, options: Parameters<typeof get>[1] = {}): Promise<Suggested> => {
      const answer = await get(`/suggest.json?q=${encodeURIComponent(text)}`, options);
      expect(answer.status).toBe(200);
      return JSON.parse(answer.body.toString()) as Suggested;
    };

    test('are the best parts, whichever documents they are in', async () => {
      const { query, items } = await suggested('pets');
      expect(query).toBe('pets');
      expect(items.slice(0, 3).map(({ kind, name }) => [kind, name])).toEqual([
        ['operation', 'GET /pets'],
        ['operation', 'GET /pets/{petId}'],
        ['schema', 'Pet'],
      ]);
      expect(items[0]!.url).toBe('/base/@acme/apis/shop#operation/listPets');
      expect(await suggested('')).toEqual({ query: '', items: [], complete: true, didYouMean: null });
    });

    test('show nothing of what the reader may not read: no part, and no word that is only there', async () => {
      const coordinates = async (text: string, options = {}) =>
        new Set((await suggested(text, options)).items.map(({ coordinate }) => coordinate));
      expect(await coordinates('pets')).toEqual(new Set(['@acme/apis/shop']));
      expect(await coordinates('pets', { key: 'acme' })).toEqual(
        new Set(['@acme/apis/shop', '@acme/apis/secret', '@acme/apis/stock', '@acme/apis/moody']),
      );
      expect(await suggested('secrte')).toMatchObject({ items: [], didYouMean: null });
      expect(await suggested('secrte', { key: 'acme' })).toMatchObject({ didYouMean: 'secret' });
      expect((await suggested('secret', { key: 'narrow' })).items).toEqual([]);
    });

    test('may be kept by anybody only where nobody in particular asked', async () => {
      expect((await get('/suggest.json?q=pets')).headers.get('cache-control')).toBe(
        'public, max-age=60, must-revalidate',
      );
      expect((await get('/suggest.json?q=pets', { key: 'acme' })).headers.get('cache-control')).toBe(
        'private, no-store',
      );
    });
  });

  test('what is not complete is kept by nobody', async () => {
    const outlines = Promise.withResolvers<null>();
    registry.compiler.outline = () => outlines.promise;
    await publishVersion(registry, '@acme/apis/slow', '1.0.0', { document: { ...shop, slow: true } });
    const answer = () => get('?q=slow');
    await expect
      .poll(async () => JSON.parse((await answer()).body.toString()) as Body)
      .toMatchObject({ items: [{ coordinate: '@acme/apis/slow', matches: [] }], complete: false });
    expect((await answer()).headers.get('cache-control')).toBe('no-store');
    const suggestions = async () => JSON.parse((await get('/suggest.json?q=nowhere')).body.toString()) as Body;
    expect(await suggestions()).toMatchObject({ items: [], complete: false });
    // A page says that nothing was found only when it is so; until then it asks again.
    const page = (await get('?q=nowhere', { accept: 'text/html' })).body.toString();
    expect(page).toContain('data-reload="2"');
    expect(page).not.toContain('class="empty"');
    outlines.resolve(null);
    await expect
      .poll(async () => (await answer()).headers.get('cache-control'))
      .toBe('public, max-age=60, must-revalidate');
    expect(await suggestions()).toMatchObject({ items: [], complete: true });
  });

  test('a search is a read, and counted as one', async () => {
    for (const target of ['/search?q=pets', '/search/index.json', '/llms.txt', '/feed.atom']) {
      expect((await ask(server.port, { target: `/base${target}` })).headers.get('ratelimit-policy')).toBe(
        '"reads";q=100000;w=60',
      );
    }
  });
});
