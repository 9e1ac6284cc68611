import { describe, expect, test } from 'vitest';
import { discoveryDocument, discoveryPaths } from '../../src/site/discovery.ts';
import { childrenOf, readXml, textIn } from './xml.ts';
import { place, resource } from './discovery-world.ts';

describe('the sitemap', () => {
  const many = Array.from({ length: 60_000 }, (_, i) => resource({ org: 'acme', type: 'apis', slug: `a${i}` }));

  test('of more than 50,000 pages is an index of sitemaps', () => {
    const index = readXml(discoveryDocument(place, many, '/sitemap.xml')!.text);
    expect(index.name).toBe('sitemapindex');
    const locations = childrenOf(index, 'sitemap').map((each) => textIn(each, 'loc'));
    expect(locations).toEqual(['https://contracts.example/sitemap-1.xml', 'https://contracts.example/sitemap-2.xml']);
    const listed = ['/sitemap-1.xml', '/sitemap-2.xml'].flatMap((path) => {
      const set = readXml(discoveryDocument(place, many, path)!.text);
      expect(set.children.length).toBeLessThanOrEqual(50_000);
      return set.children.map((each) => textIn(each, 'loc'));
    });
    expect(listed).toHaveLength(60_003);
    expect(new Set(listed).size).toBe(60_003);
    expect(discoveryDocument(place, many, '/sitemap-3.xml')).toBeNull();
    expect(discoveryPaths(place, many).filter((path) => path.startsWith('/sitemap'))).toHaveLength(3);
  });
});
