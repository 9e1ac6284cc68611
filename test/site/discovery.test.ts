import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { Resource } from '../../src/model/resource.ts';
import { discoveryDocument, discoveryPaths, discoveryPattern } from '../../src/site/discovery.ts';
import { newestPublications } from '../../src/site/feeds.ts';
import { createLinks } from '../../src/site/links.ts';
import { childrenOf, readXml, textIn } from './xml.ts';
import { place, version, resource } from './discovery-world.ts';

const since = '2026-03-03T00:00:00.000Z';
const some: Resource[] = [
  resource(
    { org: 'acme', type: 'apis', slug: 'payments' },
    {
      name: 'Payments & <Refunds>',
      description: 'Money\nmoves "here" \u0007and there.',
      versions: [
        version('1.0.0', '2026-01-01T10:00:00.000Z', { state: 'deprecated', reason: 'old', since }),
        version('1.1.0', '2026-02-01T10:00:00.000Z', { state: 'withdrawn', reason: 'a secret was in it', since }),
        version('1.1.0+2', '2026-02-02T10:00:00.000Z'),
      ],
    },
  ),
  resource({ org: 'acme', type: 'schemas', slug: 'order' }, { name: '[Order](javascript:alert(1))' }),
  resource({ org: 'zeta', type: 'apis', slug: 'empty' }, { versions: [], latest: null }),
];

const paths = [
  '/llms.txt',
  '/robots.txt',
  '/.well-known/api-catalog',
  '/apis.json',
  '/sitemap.xml',
  '/@acme/catalog.json',
  '/@acme/catalog-info.yaml',
  '/@zeta/catalog.json',
  '/@zeta/catalog-info.yaml',
  '/feed.atom',
  '/feed.json',
  '/feeds/acme.atom',
  '/feeds/acme.json',
  '/feeds/zeta.atom',
  '/feeds/zeta.json',
  '/feeds/acme/apis/payments.atom',
  '/feeds/acme/apis/payments.json',
  '/feeds/acme/schemas/order.atom',
  '/feeds/acme/schemas/order.json',
  '/feeds/zeta/apis/empty.atom',
  '/feeds/zeta/apis/empty.json',
];

test('every document has its path, and every path its document', () => {
  expect(discoveryPaths(place, some)).toEqual(paths);
  for (const path of paths) {
    expect(discoveryDocument(place, some, path)?.text).toBeTruthy();
    expect(path).toMatch(discoveryPattern);
  }
});

test.each([
  '/feeds/other.atom',
  '/feeds/acme/apis/other.atom',
  '/feeds/acme/apis.atom',
  '/feeds/acme/apis/payments.xml',
  '/feeds/acme/apis/payments@1.0.0.atom',
  '/feeds/ACME.atom',
  '/feeds/..%2f.atom',
  '/feed.rss',
  '/sitemap-1.xml',
  '/sitemap-0.xml',
  '/llms.txt/',
])('%s is not there', (path) => {
  expect(discoveryDocument(place, some, path)).toBeNull();
});

test.each([
  ['/llms.txt', 'llms.txt'],
  ['/robots.txt', 'robots.txt'],
  ['/.well-known/api-catalog', 'api-catalog.json'],
  ['/sitemap.xml', 'sitemap.xml'],
  ['/feed.atom', 'feed.atom'],
  ['/feed.json', 'feed.json'],
  ['/feeds/acme/apis/payments.atom', 'payments.atom'],
])('%s is written like this', async (path, file) => {
  await expect(discoveryDocument(place, some, path)!.text).toMatchFileSnapshot(`../fixtures/discovery/${file}`);
});

test('catalogues have teams, systems and links', () => {
  const teams = { pay: { title: 'Payments', mail: 'pay@acme.example', chat: 'https://chat.example/pay' } };
  const configured = {
    ...place,
    config: { organizations: { acme: { teams, repositories: [], owners: [], defaults: {} } } },
  };
  const links = [{ title: 'Runbook', url: 'https://wiki.example/pay' }];
  const owned = [
    resource({ org: 'acme', type: 'apis', slug: 'pay' }, { owner: '@acme/pay', system: 'checkout', links }),
  ];
  const textAt = (path: string) => discoveryDocument(configured, owned, path)!.text;
  const { apis } = JSON.parse(textAt('/apis.json')) as { apis: object[] };
  expect(apis[0]).toMatchObject({
    contact: [{ FN: 'Payments', email: 'pay@acme.example', url: 'https://chat.example/pay' }],
    properties: expect.arrayContaining([{ type: 'Link', name: 'Runbook', url: 'https://wiki.example/pay' }]) as unknown,
  });
  const yaml = textAt('/@acme/catalog-info.yaml');
  expect(yaml).toMatch(/^---\napiVersion: backstage\.io\/v1alpha1\nkind: System\nmetadata:\n {2}name: acme\n/);
  const entities = yaml
    .split('---\n')
    .filter(Boolean)
    .map((text) => parse(text) as { kind: string; metadata: { name: string; links: object[] }; spec: object });
  expect(entities.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
    'System acme',
    'System checkout',
    'Group pay',
    'API pay',
  ]);
  expect(entities[2]).toMatchObject({ spec: { profile: { displayName: 'Payments', email: 'pay@acme.example' } } });
  expect(entities[3]).toMatchObject({ spec: { owner: 'group:acme/pay', system: 'checkout' } });
  expect(entities[3]!.metadata.links).toContainEqual({ url: 'https://wiki.example/pay', title: 'Runbook' });
});

test('under a path of its own, every link keeps it', () => {
  const url = 'https://example.com/contracts';
  const below = { url, links: createLinks(url), docs: () => [], config: { organizations: {} }, hasManagement: false };
  for (const path of paths) {
    const { text } = discoveryDocument(below, some, path)!;
    for (const [link] of text.matchAll(/https:\/\/example\.com[^\s"<)]*/g))
      expect(link).toMatch(/^https:\/\/example\.com\/contracts(?:\/|$)/);
    expect(text).not.toContain('https://contracts.example');
  }
});

describe('feeds', () => {
  test('link to a URL whose path has an ampersand', () => {
    const url = 'https://example.com/r&d';
    const feed = readXml(discoveryDocument({ ...place, url, links: createLinks(url) }, some, '/feed.atom')!.text);
    const hrefs = childrenOf(feed, 'link').map(({ attributes }) => attributes['href']);
    expect(hrefs).toEqual([`${url}/feed.atom`, `${url}/`]);
  });

  test('are well-formed, whatever is in them', () => {
    const hostile = [
      '<script>',
      ']]>',
      '&amp;',
      '&#x0;',
      '\u0000\u001b\uffff\ud800',
      '"\'>',
      '<!--',
      '\u{1F600}',
      '\r\n',
    ];
    const all = hostile.map((text, index) =>
      resource({ org: 'acme', type: 'apis', slug: `a${index}` }, { name: text, description: `${text} ${text}` }),
    );
    const feed = readXml(discoveryDocument(place, all, '/feed.atom')!.text);
    const titles = childrenOf(feed, 'entry').map((entry) => textIn(entry, 'title'));
    expect(titles).toHaveLength(hostile.length);
    expect(titles).toContain('<script> 1.0.0');
    expect(titles).toContain('&#x0; 1.0.0');
    expect(titles).toContain('\u{1F600} 1.0.0');
    const json = JSON.parse(discoveryDocument(place, all, '/feed.json')!.text) as { items: object[] };
    expect(json.items).toHaveLength(hostile.length);
  });

  test('have what RFC 4287 asks for', () => {
    for (const path of paths.filter((each) => each.endsWith('.atom'))) {
      const feed = readXml(discoveryDocument(place, some, path)!.text);
      expect(feed).toMatchObject({ name: 'feed', attributes: { xmlns: 'http://www.w3.org/2005/Atom' } });
      expect(textIn(feed, 'id')).toBe(`https://contracts.example${path}`);
      expect(textIn(feed, 'title')).not.toBe('');
      const entries = childrenOf(feed, 'entry');
      const times = entries.map((entry) => textIn(entry, 'updated'));
      expect(textIn(feed, 'updated')).toBe(times[0] ?? '1970-01-01T00:00:00Z');
      expect(times).toEqual(times.toSorted().reverse());
      for (const entry of entries) {
        expect(textIn(entry, 'id')).toMatch(/^https:\/\/contracts\.example\/@/);
        expect(childrenOf(entry, 'author')).toHaveLength(1);
      }
    }
  });

  test('hold the newest fifty', () => {
    const versions = Array.from({ length: 80 }, (_, i) =>
      version(`1.${i}.0`, new Date(1.7e12 + i * 1e6).toISOString()),
    );
    const many = [resource({ org: 'acme', type: 'apis', slug: 'busy' }, { versions })];
    const entries = childrenOf(readXml(discoveryDocument(place, many, '/feed.atom')!.text), 'entry');
    expect(entries.map((entry) => textIn(entry, 'title'))).toEqual(
      Array.from({ length: 50 }, (_, i) => `busy 1.${79 - i}.0`),
    );
  });

  test('say nothing of what was withdrawn', () => {
    for (const path of paths) expect(discoveryDocument(place, some, path)!.text).not.toContain('a secret was in it');
  });
});

test('llms.txt: names of others are no Markdown', () => {
  const names = [
    '# Heading',
    '](https://evil.example)',
    '<b>',
    '`code`',
    'line\n## Other\n- [x](y)',
    '> quote',
    '\u2028## Third',
  ];
  const all = names.map((name, index) =>
    resource({ org: 'acme', type: 'apis', slug: `a${index}` }, { name, description: name }),
  );
  const { text } = discoveryDocument(place, all, '/llms.txt')!;
  expect(text.split(/[\n\u2028]/).filter((line) => line.startsWith('#'))).toEqual([
    '# API contracts at contracts.example',
    '## @acme/apis',
  ]);
  expect(text.match(/(?<!\\)\]\(/g)).toHaveLength(names.length);
});

test('of versions that were published at the same time, the later one stands first', () => {
  const at = '2026-01-01T00:00:00.000Z';
  const one = resource({ org: 'acme', type: 'apis', slug: 'pay' }, { versions: [version('1', at), version('2', at)] });
  expect(newestPublications([one], 9).map((found) => found.version.label)).toEqual(['2', '1']);
});

test('llms.txt shows at most 300 characters of a name', () => {
  const one = resource({ org: 'acme', type: 'apis', slug: 'pay' }, { name: 'x'.repeat(400) });
  expect(discoveryDocument(place, [one], '/llms.txt')!.text).toContain(`[${'x'.repeat(300)}]`);
});
