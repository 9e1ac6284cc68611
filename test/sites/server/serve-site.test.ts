import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeSite } from '../../../src/sites/registry/site-record.ts';
import { publishVersion, setStatus } from '../../server/registry.ts';
import { openServed, type Served } from '../../server/served.ts';
import { eventsOfSite } from '../../../src/events/events.ts';
import { followSites, publishAgain } from '../../../src/sites/registry/publish-site.ts';
import { siteRef, type DocumentationSite } from '../../../src/sites/model/documentation-site.ts';
import { author, deploy, handbook, png, writeSite } from './site-world.ts';

let served: Served;
const secrets = { org: 'acme', slug: 'secrets' };

beforeAll(async () => {
  served = await openServed({ rateLimit: { key: 1_000_000, address: 1_000_000, failures: 1_000_000 } });
  const { registry } = served;
  const files = {
    'index.md': '---\ntitle: Home\ndescription: All about payments.\n---\nSee [the guide](guide/start.md).',
    'guide/index.md': 'Guide\n=====\n\nFirst.',
    'guide/start.md': '# Start\n\n## Charge\n\nSend money. Zebra.',
    'api.md': '---\ntitle: Reference\n---\n\nBefore\n\n::reference @acme/apis/secret\n\nAfter',
    'logo.png': png,
    'x.svg': '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>',
  };
  const theme = { accent: '#0a7d55', logo: 'logo.png' };
  await writeSite(registry, files, { theme, redirects: { old: 'guide/start#charge', older: 'old' } });
  await deploy(registry);
  await writeSite(registry, { 'index.md': 'Hidden words' }, { visibility: 'private' }, secrets);
  await deploy(registry, secrets);
});
afterAll(() => served[Symbol.asyncDispose]());

async function get(path: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`http://127.0.0.1:${served.port}${path}`, {
    redirect: 'manual',
    headers: { accept: 'text/html', ...headers },
  });
  return { status: answer.status, headers: answer.headers, text: await answer.text() };
}
const at = (path: string) => `/sites/acme/handbook/${path}`;
const asAcme = () => ({ authorization: `Bearer ${served.values['acme']}` });

describe('in this order', { shuffle: false }, () => {
  describe('a site', () => {
    test('serves its pages in a frame', async () => {
      const page = await get(at(''));
      expect(page.status).toBe(200);
      expect(page.headers.get('cache-control')).toContain('public');
      expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
      expect(page.text).toContain('<h1>Home</h1>');
      expect(page.text).toContain('<a href="guide/start">the guide</a>');
      expect(page.text).toContain('href="/sites/acme/handbook/guide/"');
      expect(page.text).toContain('src="/sites/acme/handbook/logo.png"');
      expect((await get(at('guide/start'))).text).toContain('rel="prev" href="/sites/acme/handbook/guide/"');
    });

    test('is described by its first words where the front matter says nothing, for whoever links to it', async () => {
      const { text } = await get(at('guide/'));
      expect(text).toMatch(/<meta name="description" content="[^"]+">/);
      expect(text).toContain(`<meta property="og:url" content="http://registry.test${at('guide/')}">`);
    });

    test('has one address for each page, and redirects within itself', async () => {
      const targets = {
        'guide/start.html': 'guide/start',
        'guide/index': 'guide/',
        guide: 'guide/',
        'guide/start/': 'guide/start',
        old: 'guide/start#charge',
        older: 'guide/start',
      };
      for (const [path, target] of Object.entries(targets)) {
        const answer = await get(at(path));
        expect([path, answer.status]).toEqual([path, 301]);
        expect(answer.headers.get('location')).toContain(at(target));
      }
      expect((await get('/sites/acme/handbook')).headers.get('location')).toBe(at(''));
      for (const path of ['none', '..%2f', 'guide//start', '%2e%2e/', 'index.html/x', 'guide/start%00'])
        expect((await get(at(path))).status).toBe(404);
    });

    test('has a Markdown twin of each page, lists, a feed and a search index', async () => {
      const twin = await get(at('guide/start.md'));
      expect(twin.headers.get('content-type')).toContain('text/markdown');
      expect(twin.text).toMatch(/^# Start\n\n## Charge/);
      // A title that is underlined is none that is missing.
      expect((await get(at('guide/index.md'))).text).toBe('Guide\n=====\n\nFirst.\n');
      expect((await get(at('llms.txt'))).text).toContain(
        `- [Home](http://registry.test${at('index.md')}): All about payments.`,
      );
      expect((await get(at('sitemap.xml'))).text).toContain(`<loc>http://registry.test${at('guide/start')}</loc>`);
      expect((await get(at('robots.txt'))).text).toContain('Sitemap:');
      expect((await get(at('feed.atom'))).text).toContain('deployment 1');
      const index = JSON.parse((await get(at('search.json'))).text) as {
        pages: string[][];
        terms: Record<string, number[][]>;
      };
      const [[page]] = index.terms['zebra'] as [[number]];
      expect(index.pages[page!]![0]).toBe('guide/start');
    });

    test('serves files as what they are, and an SVG that runs nothing', async () => {
      const image = await get(at('logo.png'));
      expect(image.headers.get('content-type')).toBe('image/png');
      const drawing = await get(at('x.svg'));
      expect(drawing.headers.get('content-type')).toBe('image/svg+xml');
      expect(drawing.headers.get('content-security-policy')).toMatch(
        /default-src 'none'.*frame-ancestors 'none'.*sandbox/,
      );
      expect(drawing.headers.get('x-content-type-options')).toBe('nosniff');
      expect((await get(at('theme.css'))).text).toContain('--accent:light-dark(#0a7d55,');
    });

    test('answers conditions, HEAD and OPTIONS as other reads', async () => {
      const { headers } = await get(at(''));
      expect((await get(at(''), { 'if-none-match': headers.get('etag')! })).status).toBe(304);
      const url = `http://127.0.0.1:${served.port}${at('')}`;
      expect((await fetch(url, { method: 'POST' })).status).toBe(405);
      expect((await fetch(url, { method: 'OPTIONS' })).status).toBe(204);
    });
  });

  describe('what somebody may not read', () => {
    test('a private site looks as if it did not exist', async () => {
      for (const path of ['', 'index.md', 'search.json', 'feed.atom', 'none']) {
        const hidden = await get(`/sites/acme/secrets/${path}`);
        const absent = await get(`/sites/acme/absent/${path}`);
        expect(hidden.status).toBe(404);
        expect(hidden.text.replaceAll('secrets', 'absent').replaceAll(/[0-9a-f-]{36}/g, '')).toBe(
          absent.text.replaceAll(/[0-9a-f-]{36}/g, ''),
        );
      }
      const seen = await get('/sites/acme/secrets/', asAcme());
      expect(seen.status).toBe(200);
      expect(seen.headers.get('cache-control')).toBe('private, no-store');
      expect(seen.text).toContain('noindex');
    });

    test('a private API in a public site shows nothing of it, and its readers see it', async () => {
      const texts = await Promise.all(
        ['api', 'api.md', 'search.json', 'llms.txt', 'sitemap.xml', 'feed.atom', ''].map((path) => get(at(path))),
      );
      for (const { status, text } of texts) {
        expect(status).toBe(200);
        expect(text).not.toContain('secret');
      }
      expect(texts[0]!.text).toContain('This reference is not available here.');
      expect(texts[0]!.headers.get('vary')).toContain('Authorization');
    });

    test('an embedded version that was yanked is named so', async () => {
      await using open = await openServed({ rateLimit: { key: 1_000_000, address: 1_000_000, failures: 1_000_000 } });
      const { registry, port } = open;
      const rendered = { html: '<p>Pets</p>', navigation: '', markdown: '', truncated: false, pages: null };
      registry.compiler.render = async () => rendered;
      const page = async () =>
        (await fetch(`http://127.0.0.1:${port}${at('')}`, { headers: { accept: 'text/html' } })).text();
      await publishVersion(registry, '@acme/apis/pets', '1.0.0', { visibility: 'public' });
      await writeSite(registry, { 'index.md': '::reference @acme/apis/pets@1.0.0' });
      await deploy(registry);
      expect(await page()).toContain('<span class="pill">1.0.0</span></h2>');
      await setStatus(registry, '@acme/apis/pets', '1.0.0', { state: 'yanked', reason: 'Wrong.', since: '2026-05-01' });
      expect(await page()).toContain('<span class="pill">1.0.0</span> <span class="tag warn">yanked</span></h2>');
    });

    test('a feed does not tell that a private API was published that the site embeds', async () => {
      await using open = await openServed({ rateLimit: { key: 1_000_000, address: 1_000_000, failures: 1_000_000 } });
      const { registry, port } = open;
      const feed = async () => (await fetch(`http://127.0.0.1:${port}${at('feed.atom')}`)).text();
      await writeSite(registry, { 'api.md': '# Reference\n\n::reference @acme/apis/secret' });
      await deploy(registry);
      const before = await feed();
      await publishVersion(registry, '@acme/apis/secret', '9.0.0', { visibility: 'private' });
      expect(await followSites(registry)).toBe(1);
      expect(await feed()).toBe(before);
      await writeSite(registry, { 'index.md': '# Home' });
      await deploy(registry);
      expect((await feed()).match(/deployment \d/g)).toEqual(['deployment 2', 'deployment 1']);
    });

    test('lists name a site to those who may read it', async () => {
      for (const path of ['/', '/@acme']) {
        const open = (await get(path)).text;
        expect(open).toContain('<a href="/sites/acme/handbook/">Handbook</a>');
        expect(open).not.toContain('/sites/acme/secrets/');
        expect((await get(path, asAcme())).text).toContain('<a href="/sites/acme/secrets/">');
      }
      expect((await get('/@acme/apis')).text).not.toContain('/sites/acme/');
    });

    test('keys for shared caches name the site and what it shows, and nothing that is private', async () => {
      const keysOf = async (path: string) => (await get(at(path))).headers.get('surrogate-key');
      expect(await keysOf('guide/start')).toBe('@acme/sites/handbook');
      expect(await keysOf('logo.png')).toBe('@acme/sites/handbook');
      // What is hidden may become public, and no key may name it.
      expect(await keysOf('api')).toBe('@acme/sites/handbook registry');
      expect((await get('/sites/acme/secrets/', asAcme())).headers.get('surrogate-key')).toBeNull();
    });

    test('an organization that has only sites is on the front page for those who may read one', async () => {
      const docs = { org: 'docs', slug: 'house' };
      await writeSite(served.registry, { 'index.md': 'Words' }, { title: 'House rules' }, docs);
      await deploy(served.registry, docs);
      const front = async () => (await get('/')).text;
      await expect.poll(front).toMatch(/href="\/@docs">docs<\/a> <span class="count">1 site</);
      expect((await get('/@docs')).text).toContain('<a href="/sites/docs/house/">House rules</a>');
      await changeSite(served.registry, docs, { visibility: 'private' }, author);
      await expect.poll(front).not.toContain('/@docs');
      expect((await get('/@docs')).status).toBe(404);
    });

    test('becomes hidden within the next request when it is made private', async () => {
      await changeSite(served.registry, handbook, { visibility: 'private' }, author);
      expect((await get(at(''))).status).toBe(404);
      await changeSite(served.registry, handbook, { visibility: 'public' }, author);
      expect((await get(at(''))).status).toBe(200);
    });
  });

  test('events tell of each deployment, of one that is served again, and of visibility', async () => {
    const { registry } = served;
    const told = { org: 'acme', slug: 'told' };
    await writeSite(registry, { 'index.md': 'Words' }, {}, told);
    await deploy(registry, told);
    await writeSite(registry, { 'index.md': 'Other words' }, {}, told);
    await deploy(registry, told);
    await publishAgain(registry, told, '1', author);
    await changeSite(registry, told, { visibility: 'private' }, author);
    const newestFirst = await Array.fromAsync(registry.refs.history<DocumentationSite>(siteRef(told)));
    const generations = newestFirst.reverse();
    const happened = generations.flatMap((after, index) =>
      eventsOfSite({ url: 'http://registry.test', before: generations[index - 1] ?? null, after }),
    );
    const seen = happened.map(({ event: { type, subject, data } }) => {
      const { deployment = null, again = null, visibility = null } = data;
      return [type, subject, deployment, again, visibility];
    });
    expect(seen).toEqual([
      ['dev.stele.site.published', '@acme/sites/told', '1', null, null],
      ['dev.stele.site.published', '@acme/sites/told', '2', null, null],
      ['dev.stele.site.published', '@acme/sites/told', '3', '1', null],
      ['dev.stele.visibility.changed', '@acme/sites/told', null, null, 'private'],
    ]);
    expect(new Set(happened.map(({ event }) => event.id)).size).toBe(4);
    expect(happened[0]!.resources).toEqual([{ ...told, type: 'sites' }]);
    expect(happened[0]!.event.data['url']).toBe('http://registry.test/sites/acme/told/');
  });

  test('an address of a site at which nothing is shows a page of the site, and programs get a problem', async () => {
    const page = await get(at('none'));
    expect([page.status, page.headers.get('cache-control')]).toEqual([404, 'no-store']);
    expect(page.text).toContain('<h1>Page not found</h1>');
    expect(page.text).toContain(`href="${at('guide/start')}"`);
    const problem = await get(at('none'), { accept: 'application/json' });
    expect([problem.status, problem.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
    expect((await get('/sites/acme/secrets/none')).text).not.toContain('Page not found');
  });

  describe('search without a script', () => {
    test('is answered by the server, and shows nothing of what pages embed', async () => {
      const home = await get(at(''));
      expect(home.text).toContain(`<form class="find" role="search" action="${at('')}" data-index`);
      const found = await get(at('?q=zebra'));
      expect([found.status, found.headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(found.text).toContain(`<a href="${at('guide/start#charge')}">Start</a> <span class="quiet">Charge</span>`);
      expect(found.text).toContain('value="zebra"');
      expect(found.text).toContain('noindex');
      const hostile = await get(at(`?q=${encodeURIComponent('"><script>alert(1)</script>')}`));
      expect(hostile.text).not.toContain('<script>alert');
      expect(hostile.text).toContain('No page of this site has these words.');
      for (const query of ['secret', 'constructor', '__proto__', 'x'.repeat(5_000), '%ff'])
        expect((await get(at(`?q=${query}`))).text).not.toContain('/@acme/apis/secret');
      expect((await get(at('?q='))).text).toContain('<h1>Home</h1>');
      expect((await get('/sites/acme/secrets/?q=hidden')).status).toBe(404);
    });
  });

  test('the search of the registry finds pages and sections of sites for those who may read them', async () => {
    interface Searched {
      items: {
        coordinate: string;
        type: string;
        url: string;
        matches: { kind: string; name: string; url: string }[];
      }[];
      complete: boolean;
    }
    const search = async (query: string, headers = {}) => {
      for (;;) {
        const { text } = await get(`/search?q=${query}`, { accept: 'application/json', ...headers });
        const searched = JSON.parse(text) as Searched;
        if (searched.complete) return searched.items;
      }
    };
    const [found] = await search('zebra');
    expect(found).toMatchObject({ coordinate: '@acme/sites/handbook', type: 'sites' });
    expect(found!.url).toBe(`http://registry.test${at('')}`);
    const section = {
      kind: 'page',
      name: 'Charge',
      summary: 'Start',
      url: `http://registry.test${at('guide/start#charge')}`,
    };
    expect(found!.matches).toEqual([section]);
    expect((await get('/search?q=zebra')).text).toContain(`href="${at('guide/start#charge')}"`);
    const { items } = JSON.parse((await get('/search/suggest.json?q=zebra', { accept: 'application/json' })).text) as {
      items: { url: string }[];
    };
    expect(items[0]).toMatchObject({ kind: 'page', name: 'Charge', url: at('guide/start#charge'), title: 'Handbook' });

    // Who may not read the site finds nothing of it, and lists of resources have no sites.
    expect(await search('hidden')).toEqual([]);
    expect(await search('hidden', asAcme())).toMatchObject([{ coordinate: '@acme/sites/secrets' }]);
    expect((await search('', asAcme())).map(({ type }) => type)).not.toContain('sites');
    expect((await search('type:sites')).map(({ coordinate }) => coordinate)).toContain('@acme/sites/handbook');
    await changeSite(served.registry, handbook, { visibility: 'private' }, author);
    await expect.poll(() => search('zebra')).toEqual([]);
  });
});
