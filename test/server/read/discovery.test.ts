import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createApp } from '../../../src/server/app.ts';
import { listen, type Listening } from '../../../src/server/listen.ts';
import { outlineDocument } from '../../../src/render/render.ts';
import { ask } from '../http.ts';
import { createTestQueue, createTestRegistry, publishVersion, setStatus, type TestRegistry } from '../registry.ts';

const at = new Date('2026-05-01T00:00:00Z');
const canary = 'canary7f3a';

interface Opened {
  registry: TestRegistry;
  server: Listening;
}

/** A registry of two public APIs and, where it has secrets, of canaries in every field of private resources, in organizations of both kinds. */
async function open({ hasSecrets }: { hasSecrets: boolean }): Promise<Opened> {
  const registry = createTestRegistry();
  registry.now = () => at;
  registry.compiler.outline = async (document) => outlineDocument(document);
  await publishVersion(registry, '@acme/apis/pay', '1.0.0', { document: documentOf('pay') });
  if (hasSecrets) await publishSecrets(registry);
  await publishVersion(registry, '@acme/apis/pay', '1.1.0', { document: documentOf('paid') });
  await publishVersion(registry, '@acme/schemas/order', '1.0.0');
  const app = createApp({
    registry,
    queue: createTestQueue(registry),
    url: 'http://registry.test',
    isReady: () => true,
  });
  return { registry, server: await listen(app, { host: '127.0.0.1', port: 0 }) };
}

function documentOf(word: string): object {
  return {
    info: { title: `Title ${word}`, description: `Description ${word}`, version: '1.0.0' },
    servers: [{ url: `https://${word}.example` }],
    tags: [{ name: `tag-${word}`, description: word }],
    paths: {
      [`/${word}/things`]: {
        get: { operationId: `get${word}`, summary: `Summary ${word}`, tags: [`tag-${word}`], responses: {} },
      },
    },
    webhooks: { [`hook-${word}`]: { post: { responses: {} } } },
    components: { schemas: { [`Schema${word}`]: { properties: { [`property_${word}`]: {} } } } },
  };
}

async function publishSecrets(registry: TestRegistry): Promise<void> {
  const options = { visibility: 'private', document: documentOf(canary) } as const;
  for (const name of [
    `@acme/apis/${canary}`,
    `@acme/schemas/${canary}`,
    `@acme/rulesets/${canary}`,
    `@${canary}/apis/${canary}`,
  ]) {
    await publishVersion(registry, name, `1.0.0-${canary}`, options);
  }
  await publishVersion(registry, `@acme/apis/z-${canary}`, '1.0.0', options);
  await setStatus(registry, `@acme/apis/z-${canary}`, '1.0.0', {
    state: 'withdrawn',
    reason: canary,
    since: at.toISOString(),
  });
}

let plain: Opened;
let secret: Opened;
beforeAll(async () => {
  [plain, secret] = await Promise.all([open({ hasSecrets: false }), open({ hasSecrets: true })]);
  // The index is whole when this is answered.
  await Promise.all([plain, secret].map(({ server }) => ask(server.port, { target: '/search/index.json' })));
});
afterAll(() => Promise.all([plain.server.close(1000), secret.server.close(1000)]));

const documents = [
  '/llms.txt',
  '/robots.txt',
  '/sitemap.xml',
  '/.well-known/api-catalog',
  '/feed.atom',
  '/feed.json',
  '/feeds/acme.atom',
  '/feeds/acme.json',
  '/feeds/acme/apis/pay.atom',
  '/feeds/acme/apis/pay.json',
  '/feeds/acme/schemas/order.json',
];

describe('leaks: a registry with secrets answers byte for byte as one without', () => {
  const searches = [
    canary,
    'get',
    'things',
    `get${canary}`,
    `Schema${canary}`,
    `property_${canary}`,
    `/${canary}/things`,
    canary.slice(0, 6),
    canary.replace('n', 'm'),
    'Title',
    '',
  ].flatMap((text) => [`/search?q=${text}`, `/search?q=${text}&limit=1`, `/search?q=${text}&org=acme`]);

  test.each([
    ...documents,
    '/search/index.json',
    ...searches,
    `/search?org=${canary}`,
    `/feeds/${canary}.atom`,
    `/feeds/acme/apis/${canary}.atom`,
    '/feeds/acme/rulesets.json',
  ])('%s', async (target) => {
    for (const accept of ['*/*', 'text/html']) {
      const [without, having] = await Promise.all(
        [plain, secret].map(({ server }) => ask(server.port, { target, headers: [['Accept', accept]] })),
      );
      const told = having!.body.toString().replace(/urn:uuid:[0-9a-f-]+/, 'UUID');
      // What was asked for is repeated in the page's own form; nothing else of it may be there.
      expect(told).toBe(without!.body.toString().replace(/urn:uuid:[0-9a-f-]+/, 'UUID'));
      expect([having!.status, having!.headers.get('etag')]).toEqual([without!.status, without!.headers.get('etag')]);
      if (!target.includes(canary.slice(0, 2))) expect(told).not.toContain(canary);
    }
  });

  test('and the canaries are there to be found by who may read them', async () => {
    const { createSearch } = await import('../../../src/search/search.ts');
    const operator = { kind: 'operator', id: 'test' } as const;
    const search = createSearch(secret.registry);
    await search.all(operator);
    const choose = (all: readonly never[]) => ({ items: [...all], next: null });
    const found = async (text: string) =>
      (await search.find(operator, { text, org: null, type: null }, choose as never)).items;
    expect(await found(canary)).toHaveLength(5);
    expect(await found(`get${canary}`)).toHaveLength(2);
  });
});

describe('discovery documents', () => {
  test.each(documents)('%s is what anybody may keep for a minute', async (target) => {
    const answer = await ask(plain.server.port, { target });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('cache-control')).toBe('public, max-age=60, must-revalidate');
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    const tag = answer.headers.get('etag')!;
    const again = await ask(plain.server.port, { target, headers: [['If-None-Match', tag]] });
    expect([again.status, again.body.length]).toEqual([304, 0]);
    const head = await ask(plain.server.port, { method: 'HEAD', target });
    expect([head.status, head.body.length, head.headers.get('content-length')]).toEqual([
      200,
      0,
      String(answer.body.length),
    ]);
    const packed = await ask(plain.server.port, { target, headers: [['Accept-Encoding', 'br']] });
    expect(packed.headers.get('content-encoding')).toBe('br');
    expect((await ask(plain.server.port, { method: 'POST', target })).status).toBe(405);
  });

  test.each([
    ['/llms.txt', 'text/markdown; charset=utf-8'],
    ['/robots.txt', 'text/plain; charset=utf-8'],
    ['/sitemap.xml', 'application/xml'],
    ['/feed.atom', 'application/atom+xml; charset=utf-8'],
    ['/feed.json', 'application/feed+json'],
    ['/.well-known/api-catalog', 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'],
  ])('%s is sent as %s', async (target, mediaType) => {
    expect((await ask(plain.server.port, { target })).headers.get('content-type')).toBe(mediaType);
  });

  test.each([
    '/feeds/acme',
    '/feeds/',
    '/feeds/%2e%2e/acme.atom',
    '/feeds/acme.atom/',
    '/feeds/acme%2eatom',
    '/feeds/@acme.atom',
    '/feed.xml',
    '/sitemap-1.xml',
    '/sitemap-99999999999999999999.xml',
    '/llms.txt/',
    '/LLMS.txt',
  ])('%s is not there', async (target) => {
    expect((await ask(plain.server.port, { target })).status).toBe(404);
  });
});

test('pages name the feed that follows what they show, where everybody may have it', async () => {
  const pages = { '/': '/feed.atom', '/@acme': '/feeds/acme.atom', '/@acme/apis/pay': '/feeds/acme/apis/pay.atom' };
  for (const [target, feed] of Object.entries(pages)) {
    const answer = await ask(plain.server.port, { target, headers: [['Accept', 'text/html']] });
    expect(answer.body.toString()).toMatch(
      new RegExp(`<link rel="alternate" type="application/atom\\+xml" title="[^"]*" href="${feed}">`),
    );
    expect((await ask(plain.server.port, { target: feed })).status).toBe(200);
  }
});
