import { describe, expect, test } from 'vitest';
import { digestOf } from '../../src/model/digest.ts';
import type { Resource, Status, Version } from '../../src/model/resource.ts';
import { discoveryDocument, discoveryPaths, type Place } from '../../src/site/discovery.ts';
import { createLinks } from '../../src/site/links.ts';
import { childrenOf, readXml, textIn } from './xml.ts';

const place: Place = {
  url: 'https://contracts.example',
  links: createLinks('https://contracts.example'),
  docs: [],
  config: { organizations: {} },
  hasManagement: true,
};

function version(label: string, publishedAt: string, status: Status = { state: 'active' }): Version {
  return { label, manifest: digestOf(label), content: digestOf(label), publishedAt, status };
}

function resource(coordinate: Pick<Resource, 'org' | 'type' | 'slug'>, given: Partial<Resource> = {}): Resource {
  const versions = given.versions ?? [version('1.0.0', '2026-01-01T00:00:00.000Z')];
  return {
    ...coordinate,
    name: coordinate.slug,
    description: '',
    visibility: 'public',
    ruleset: null,
    connection: null,
    latest: versions.at(-1)?.label ?? null,
    latestPinned: false,
    validation: null,
    createdAt: '2026-01-01T00:00:00.000Z',
    deletedAt: null,
    ...given,
    versions,
  };
}

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
