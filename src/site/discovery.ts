import type { Config } from '../config.ts';
import { isResourceType, isSlug } from '../model/address.ts';
import { coordinateOf, type Resource } from '../model/resource.ts';
import type { PinningConsumer } from '../registry/graph/consumers.ts';
import { apisJson, apisJsonPath } from './apis-json.ts';
import { backstageEntities } from './backstage.ts';
import { apiCatalog, catalogPath, catalogType } from './catalog.ts';
import type { AffectedConsumer } from '../registry/graph/affected.ts';
import { affectedEntries, atomFeed, feedPath, jsonFeed, publicationEntries, type FeedScope } from './feeds.ts';
import { llmsText } from './llms.ts';
import { schemaCatalog } from './schema-catalog.ts';
import type { Site } from './site.ts';
import { countSitemaps, partPath, robotsText, sitemap, sitemapPart } from './sitemap.ts';

/** The context of the discovery documents, besides the resources. */
export type Place = Pick<Site, 'url' | 'links' | 'docs'> & {
  config: Pick<Config, 'organizations'>;
  hasManagement: boolean;
};

/** A document that lists the contents of the registry for programs. */
export interface DiscoveryDocument {
  mediaType: string;
  text: string;
}

/** What the reader may know of the consumers of the organization in the path. */
interface About {
  consumers?: readonly PinningConsumer[];
  /** What affects them. Null: the reader may not know, or the path is not about it. */
  affected?: readonly AffectedConsumer[] | null;
}

/** Matches the path of a discovery document. Whether it exists depends on the resources. */
export const discoveryPattern =
  /^\/(?:apis\.json|@[^/]+\/catalog(?:\.json|-info\.yaml)|llms\.txt|robots\.txt|\.well-known\/api-catalog|sitemap(?:-\d+)?\.xml|feed\.[a-z]+|feeds\/.*)$/;

/** The organization and the file of a catalog of its own, `/@acme/catalog.json`; null for any other path. */
export function parseCatalogPath(path: string): { org: string; file: 'catalog.json' | 'catalog-info.yaml' } | null {
  const [, org, file] = /^\/@([^/]+)\/(catalog\.json|catalog-info\.yaml)$/.exec(path) ?? [];
  return org !== undefined && isSlug(org) ? { org, file: file as 'catalog.json' | 'catalog-info.yaml' } : null;
}

/**
 * Returns the discovery document at a path, or null. `resources`: all that the reader may read, in
 * order. Depends on nothing else, so that the
 * server and the static build produce the same bytes.
 */
export function discoveryDocument(
  place: Place,
  resources: readonly Resource[],
  path: string,
  { consumers = [], affected = null }: About = {},
): DiscoveryDocument | null {
  if (path === '/llms.txt') return { mediaType: 'text/markdown; charset=utf-8', text: llmsText(place, resources) };
  if (path === '/robots.txt') return { mediaType: 'text/plain; charset=utf-8', text: robotsText(place) };
  if (path === catalogPath) return { mediaType: catalogType, text: apiCatalog(place, resources) };
  if (path === apisJsonPath) return { mediaType: 'application/apis+json', text: apisJson(place, resources) };
  const catalog = parseCatalogPath(path);
  if (catalog !== null) {
    const there = resources.filter(({ org }) => org === catalog.org);
    if (there.length === 0) return null;
    return catalog.file === 'catalog.json'
      ? { mediaType: 'application/json', text: schemaCatalog(place, there) }
      : { mediaType: 'application/yaml', text: backstageEntities(place, catalog.org, resources, consumers) };
  }
  if (path === '/sitemap.xml') return { mediaType: 'application/xml', text: sitemap(place, resources) };
  const part = /^\/sitemap-([1-9]\d{0,4})\.xml$/.exec(path);
  if (part) {
    const text = sitemapPart(place, resources, Number(part[1]));
    return text === null ? null : { mediaType: 'application/xml', text };
  }
  const feed = parseFeedPath(path);
  if (feed === null) return null;
  const { scope, format } = feed;
  const chosen = resources.filter((resource) => isIn(scope, resource));
  if (scope.kind === 'consumers' ? affected === null : chosen.length === 0 && scope.kind !== 'registry') return null;
  const entries = affected === null ? publicationEntries(place, chosen) : affectedEntries(place, affected);
  return format === 'atom'
    ? { mediaType: 'application/atom+xml; charset=utf-8', text: atomFeed(place, scope, entries) }
    : { mediaType: 'application/feed+json', text: jsonFeed(place, scope, entries) };
}

/** The organization whose consumers a feed is about, `/feeds/acme/consumers.atom`; null for any other path. */
export function parseConsumersPath(path: string): string | null {
  const scope = parseFeedPath(path)?.scope;
  return scope?.kind === 'consumers' ? scope.org : null;
}

/** The paths of the discovery documents of a static build. */
export function discoveryPaths(place: Place, resources: readonly Resource[]): string[] {
  const organizations = [...new Set(resources.map(({ org }) => org))];
  const scopes: FeedScope[] = [
    { kind: 'registry' },
    ...organizations.map((org) => ({ kind: 'organization' as const, org })),
    ...resources.map((resource) => ({ kind: 'resource' as const, coordinate: coordinateOf(resource) })),
  ];
  const count = countSitemaps(place, resources);
  const parts = count === 1 ? [] : Array.from({ length: count }, (_, index) => partPath(index + 1));
  const feeds = scopes.flatMap((scope) => [feedPath(scope, 'atom'), feedPath(scope, 'json')]);
  const catalogs = organizations.flatMap((org) => [`/@${org}/catalog.json`, `/@${org}/catalog-info.yaml`]);
  return ['/llms.txt', '/robots.txt', catalogPath, apisJsonPath, '/sitemap.xml', ...parts, ...catalogs, ...feeds];
}

function parseFeedPath(path: string): { scope: FeedScope; format: 'atom' | 'json' } | null {
  const [, ofConsumers, as] = /^\/feeds\/([^/]+)\/consumers\.(atom|json)$/.exec(path) ?? [];
  if (ofConsumers !== undefined)
    return isSlug(ofConsumers)
      ? { scope: { kind: 'consumers', org: ofConsumers }, format: as as 'atom' | 'json' }
      : null;
  const match = /^\/(?:feed|feeds\/([^/]+)(?:\/([^/]+)\/([^/]+))?)\.(atom|json)$/.exec(path);
  if (!match) return null;
  const [, org, type, slug] = match;
  const format = match[4] as 'atom' | 'json';
  if (org === undefined) return { scope: { kind: 'registry' }, format };
  if (!isSlug(org)) return null;
  if (type === undefined || slug === undefined) return { scope: { kind: 'organization', org }, format };
  if (!isResourceType(type) || !isSlug(slug)) return null;
  return { scope: { kind: 'resource', coordinate: { org, type, slug } }, format };
}

function isIn(scope: FeedScope, { org, type, slug }: Resource): boolean {
  if (scope.kind === 'registry') return true;
  if (scope.kind !== 'resource') return org === scope.org;
  const { coordinate } = scope;
  return org === coordinate.org && type === coordinate.type && slug === coordinate.slug;
}
