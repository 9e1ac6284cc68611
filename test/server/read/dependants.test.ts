import { expect, test } from 'vitest';
import { shareCompiler } from '../../compile/shared-compiler.ts';
import { createTestRegistry } from '../registry.ts';
import { openApi, unlimited } from '../v1/api.ts';

/** `…/dependants`: who uses a resource, for each reader as much as they may read. */

const url = 'https://registry.test';
const compiler = shareCompiler();
const schema = (property: object) =>
  JSON.stringify({ $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'S', properties: { a: property } });
const uses = (range: string) => schema({ $ref: `${url}/@acme/schemas/money${range}` });

async function openWorld() {
  const api = await openApi({ ...createTestRegistry({ ...unlimited, url }), compiler });
  const put = async (slug: string, visibility: string, document: string, version: string) => {
    await api.call('POST', '/v1/schemas', { body: { name: slug, slug, visibility } });
    const { status, json } = await api.call('POST', `/v1/schemas/${slug}/document`, { body: { document, version } });
    expect(status).toBe(201);
    return json['digest'] as string;
  };
  const digest = await put('money', 'public', schema({ type: 'string' }), '1.0.0');
  await put('price', 'public', uses('@^1'), '3.0.0');
  await put('secret', 'private', uses('@1.0.0'), '1.0.0');
  const contracts = [{ contract: '@acme/schemas/money', range: '^1', version: '1.0.0', digest }];
  await api.call('PUT', '/v1/consumers/shop', { body: { contracts } });
  await put('money', 'public', schema({ type: 'string', maxLength: 9 }), '1.1.0');
  const get = (path: string, key: string | null, accept = 'text/html') =>
    api.call('GET', path, { key, headers: { accept } });
  return { api, get, put, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

test('the page names who uses a resource, with the version that each has, and no cache keeps what a person may read', async () => {
  await using world = await openWorld();
  const { api, get } = world;
  const { status, headers, text } = await get('/@acme/schemas/money/dependants', api.admin);
  expect(status).toBe(200);
  expect(headers.get('cache-control')).toContain('private');
  const svg = /<svg class="graph".*?<\/svg>/s.exec(text)![0];
  expect(svg.match(/<rect/g)).toHaveLength(4);
  expect(svg.match(/<path class="edge behind"/g)).toHaveLength(3);
  expect(svg).toContain('<a href="/@acme/schemas/price">');
  for (const part of [
    '@acme/schemas/price',
    '3.0.0',
    '@acme/schemas/secret',
    'shop',
    '1 version behind',
    'has a copy of',
  ])
    expect(text).toContain(part);
  expect((await get('/@acme/schemas/money', null)).text).toContain('href="/@acme/schemas/money/dependants"');
});

test('a stranger learns of public resources only, and not how many others there are', async () => {
  await using world = await openWorld();
  const { api, get } = world;
  const { text, headers } = await get('/@acme/schemas/money/dependants', null);
  expect(text).toContain('@acme/schemas/price');
  expect(headers.get('cache-control')).toContain('public');
  expect(headers.get('vary')).toContain('Authorization');
  expect(text.match(/<rect/g)).toHaveLength(2);
  expect(text).not.toMatch(/secret|shop|Consumers|\b[23] (?:users|more)/);
  const limited = await api.makeKey({ scopes: ['read'], resources: ['schemas/money', 'schemas/secret'] });
  const seen = (await get('/@acme/schemas/money/dependants', limited)).text;
  expect(seen).toContain('@acme/schemas/secret');
  expect(seen).not.toContain('shop');
  expect((await get('/@acme/schemas/secret/dependants', null)).status).toBe(404);
});

test('programs get JSON, a page at a time', async () => {
  await using world = await openWorld();
  const { api, get } = world;
  const first = await get('/@acme/schemas/money/dependants?limit=2', api.admin, 'application/json');
  expect(first.json).toMatchObject({
    items: [
      {
        coordinate: '@acme/schemas/price',
        version: '3.0.0',
        uses: { range: '^1', version: '1.0.0', how: 'url' },
        behind: 1,
      },
      { coordinate: '@acme/schemas/secret' },
    ],
  });
  const next = String(first.json['next']);
  const rest = await get(`/@acme/schemas/money/dependants?cursor=${next}`, api.admin, 'application/json');
  expect(rest.json).toMatchObject({ items: [{ consumer: { organization: 'acme', name: 'shop' } }], next: null });
});

test('where nobody uses it, the page says so', async () => {
  await using world = await openWorld();
  expect((await world.get('/@acme/schemas/price/dependants', null)).text).toContain(
    'Nothing that you may see uses it.',
  );
});

test('the graph of an organization has all that its resources use and who uses them, for each reader as far as they may read', async () => {
  await using world = await openWorld();
  const { api, get } = world;
  const { text } = await get('/@acme/graph', api.admin);
  expect(/<svg class="graph".*?<\/svg>/s.exec(text)![0].match(/<rect/g)).toHaveLength(4);
  expect(text.match(/<a href="\/@acme\/schemas\/money">@acme\/schemas\/money<\/a>/g)).toHaveLength(3);
  const seen = await get('/@acme/graph', null);
  expect(seen.text).toContain('@acme/schemas/price');
  expect(seen.text).not.toMatch(/secret|shop/);
  const { json } = await get('/@acme/graph', null, 'application/json');
  expect(json).toMatchObject({
    items: [{ contract: '@acme/schemas/money', coordinate: '@acme/schemas/price', behind: 1 }],
    next: null,
  });
  expect((await get('/@acme', null)).text).toContain('href="/@acme/graph"');
  expect((await get('/@nobody/graph', null)).status).toBe(404);
});

test('what a page of an anonymous reader says changes when another resource refers to it', async () => {
  await using world = await openWorld();
  const { get } = world;
  expect((await get('/@acme/schemas/money/dependants', null)).text).not.toContain('@acme/schemas/total');
  await world.put('total', 'public', uses('@^1'), '1.0.0');
  expect((await get('/@acme/schemas/money/dependants', null)).text).toContain('@acme/schemas/total');
});

test('a search finds only what uses a resource, or what another one uses, for each reader as far as they may read', async () => {
  await using world = await openWorld();
  const { api, get } = world;
  const names = async (query: string, key: string | null) => {
    const { json } = await get(`/search?${query}`, key, 'application/json');
    return (json['items'] as { coordinate: string }[]).map(({ coordinate }) => coordinate);
  };
  expect(await names('uses=@acme/schemas/money', api.admin)).toEqual(['@acme/schemas/price', '@acme/schemas/secret']);
  expect(await names('uses=@acme/schemas/money', null)).toEqual(['@acme/schemas/price']);
  expect(await names('uses=@acme/schemas/money&q=secret', null)).toEqual([]);
  expect(await names('usedBy=@acme/schemas/secret', api.admin)).toEqual(['@acme/schemas/money']);
  // A private resource looks like none.
  for (const name of ['secret', 'none']) expect(await names(`usedBy=@acme/schemas/${name}`, null)).toEqual([]);
  expect((await get('/search?uses=money', null)).status).toBe(400);
  expect((await get('/search?uses=@acme/schemas/money', null)).text).toContain('@acme/schemas/price');
  const list = (await get('/@acme/schemas', null)).text;
  expect(list).toContain('<option value="@acme/schemas/money">Uses money</option>');
  expect(list.match(/data-uses="@acme\/schemas\/money"/g)).toHaveLength(1);
});
