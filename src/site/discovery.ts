import { type Resource, aboutOf, nameOf, isOffered } from '../model/resource.ts';
import type { Site } from './site.ts';
import type { Config } from '../config.ts';
import { formatCoordinate, isResourceType, isSlug, formatAddress } from '../model/address.ts';
import type { PinningConsumer } from '../registry/graph/dependants.ts';
import { backstageEntities } from './backstage.ts';
import type { AffectedConsumer } from '../registry/graph/affected.ts';
import {
  affectedEntries,
  atomFeed,
  feedPath,
  jsonFeed,
  publicationEntries,
  type FeedScope,
  lastChange,
} from './feeds.ts';
import { teamsOf } from '../config/organization-config.ts';
import { linksOf, teamOf, type Team } from '../model/ownership.ts';
import { docMarkdownPath, docPath } from './docs/docs.ts';
import { escapeXml } from '../model/escape.ts';

export const catalogPath = '/.well-known/api-catalog';
const catalogType = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"';

/**
 * The catalog of public APIs (RFC 9727): the URL and description of each. `hasManagement`: whether
 * to include the management API.
 */
function apiCatalog(
  { url, links, hasManagement }: Pick<Site, 'url' | 'links'> & { hasManagement: boolean },
  resources: readonly Resource[],
): string {
  const apis = resources.filter(({ type, latest }) => type === 'apis' && latest !== null);
  const entries = apis.map((api) => describe(links, api));
  if (hasManagement)
    entries.unshift({
      anchor: `${url}/v1`,
      'service-desc': [{ href: `${url}/v1/openapi.json`, type: 'application/openapi+json' }],
    });
  const item = entries.map(({ anchor }) => ({ href: anchor }));
  return JSON.stringify({ linkset: [{ anchor: `${url}${catalogPath}`, item }, ...entries] });
}

function describe(links: Site['links'], api: Resource): { anchor: string; [relation: string]: unknown } {
  const documents = [
    { href: links.url(api, { format: 'json' }), type: 'application/openapi+json' },
    { href: links.url(api, { format: 'yaml' }), type: 'application/openapi+yaml' },
  ];
  const pages = [
    { href: links.url(api, { view: 'page' }), type: 'text/html' },
    { href: links.url(api, { view: 'markdown' }), type: 'text/markdown' },
  ];
  const history = [{ href: links.url(api, { view: 'versions' }), type: 'application/json' }];
  return { anchor: links.url(api), 'service-desc': documents, 'service-doc': pages, 'version-history': history };
}

type SitemapPlace = Pick<Site, 'url' | 'links' | 'docs'>;

/** URLs that one sitemap may list (sitemaps.org). */
const maxUrls = 50_000;

interface Entry {
  url: string;
  /** ISO 8601, or null if unknown. */
  changedAt: string | null;
}

/**
 * The sitemaps by their paths. `/sitemap.xml` lists every public page, or, where they are more than 50,000, the other
 * sitemaps, which do.
 */
function sitemaps(place: SitemapPlace, resources: readonly Resource[]): Map<string, () => string> {
  const entries = entriesOf(place, resources);
  if (entries.length <= maxUrls) return new Map([['/sitemap.xml', () => urlSet(entries)]]);
  const parts = Array.from({ length: Math.ceil(entries.length / maxUrls) }, (_, index): [string, () => string] => [
    `/sitemap-${index + 1}.xml`,
    () => urlSet(entries.slice(index * maxUrls, (index + 1) * maxUrls)),
  ]);
  const list = parts.map(([path]) => `<sitemap><loc>${escapeXml(place.url + path)}</loc></sitemap>`);
  return new Map([['/sitemap.xml', () => document('sitemapindex', list)], ...parts]);
}

/**
 * The pages of the registry, each organization, each of its types, each published resource, and the
 * documentation.
 */
function entriesOf({ url, links, docs }: SitemapPlace, resources: readonly Resource[]): Entry[] {
  const changes = new Map<string, string | null>([[`${url}/`, null]]);
  function note(target: string, changedAt: string | null): void {
    const change = changes.get(target) ?? null;
    changes.set(target, change === null || (changedAt !== null && changedAt > change) ? changedAt : change);
  }
  for (const resource of resources) {
    const { org, type } = resource;
    const changedAt = lastChange(resource);
    note(`${url}/`, changedAt);
    note(links.whole(links.path(formatAddress({ kind: 'organization', org }))), changedAt);
    note(links.whole(links.path(formatAddress({ kind: 'type', org, type }))), changedAt);
    if (resource.latest !== null) note(links.url(resource), changedAt);
  }
  for (const { name } of docs()) note(links.whole(links.path(docPath(name))), null);
  return [...changes].map(([target, changedAt]) => ({ url: target, changedAt }));
}

/** A sitemap of these URLs. */
export function urlSet(entries: readonly Entry[]): string {
  const lines = entries.map(({ url, changedAt }) => {
    const changed = changedAt === null ? '' : `<lastmod>${escapeXml(changedAt)}</lastmod>`;
    return `<url><loc>${escapeXml(url)}</loc>${changed}</url>`;
  });
  return document('urlset', lines);
}

function document(root: string, lines: readonly string[]): string {
  const name = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';
  return ['<?xml version="1.0" encoding="utf-8"?>', `<${root} ${name}>`, ...lines, `</${root}>`, ''].join('\n');
}

/** `robots.txt` (RFC 9309): allows all pages, but not the management API, search and sign-in. */
function robotsText({ url, links }: Pick<Site, 'url' | 'links'>): string {
  const closed = ['/v1/', '/search', '/login', '/logout', '/account'].map((path) => `Disallow: ${links.path(path)}`);
  return ['User-agent: *', ...closed, `Sitemap: ${url}/sitemap.xml`, ''].join('\n');
}

/** The context of the discovery documents, besides the resources. */
export type Place = Pick<Site, 'url' | 'links' | 'docs'> & {
  config: Pick<Config, 'organizations'>;
  hasManagement: boolean;
};

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
): { mediaType: string; text: string } | null {
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
  if (path.startsWith('/sitemap')) {
    const text = sitemaps(place, resources).get(path);
    return text === undefined ? null : { mediaType: 'application/xml', text: text() };
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
    ...resources.map((resource) => ({ kind: 'resource' as const, coordinate: resource })),
  ];
  const feeds = scopes.flatMap((scope) => [feedPath(scope, 'atom'), feedPath(scope, 'json')]);
  const catalogs = organizations.flatMap((org) => [`/@${org}/catalog.json`, `/@${org}/catalog-info.yaml`]);
  return [
    '/llms.txt',
    '/robots.txt',
    catalogPath,
    apisJsonPath,
    ...sitemaps(place, resources).keys(),
    ...catalogs,
    ...feeds,
  ];
}

function parseFeedPath(path: string): { scope: FeedScope; format: 'atom' | 'json' } | null {
  const [, name, format] = /^\/feed(?:s\/(.+))?\.(atom|json)$/.exec(path) ?? [];
  const scope = name === undefined ? ({ kind: 'registry' } as const) : scopeNamed(name);
  return format === undefined || scope === null ? null : { scope, format: format as 'atom' | 'json' };
}

/** What `acme`, `acme/consumers` or `acme/apis/payments` means. */
function scopeNamed(name: string): FeedScope | null {
  const [org = '', type, slug, ...more] = name.split('/');
  if (!isSlug(org) || more.length > 0) return null;
  if (slug === undefined && type !== undefined) return type === 'consumers' ? { kind: 'consumers', org } : null;
  if (type === undefined || slug === undefined) return { kind: 'organization', org };
  return isResourceType(type) && isSlug(slug) ? { kind: 'resource', coordinate: { org, type, slug } } : null;
}

function isIn(scope: FeedScope, resource: Resource): boolean {
  if (scope.kind === 'resource') return nameOf(resource) === formatCoordinate(scope.coordinate);
  return scope.kind === 'registry' || resource.org === scope.org;
}

const apisJsonPath = '/apis.json';

/**
 * The APIs as an APIs.json index (apisjson.org, version 0.19). Without `baseURL`: where an API
 * answers is in its document.
 */
function apisJson(
  { url, links, config }: Pick<Site, 'url' | 'links'> & { config: Pick<Config, 'organizations'> },
  resources: readonly Resource[],
): string {
  const { host } = new URL(url);
  const apis = resources
    .filter(({ type, latest }) => type === 'apis' && latest !== null)
    .map((api) => {
      return {
        aid: `${host}:${nameOf(api)}`,
        name: api.name,
        description: aboutOf(api) || `The API ${api.name}.`,
        created: api.createdAt.slice(0, 10),
        modified: (lastChange(api) ?? api.createdAt).slice(0, 10),
        humanURL: links.url(api, { view: 'page' }),
        tags: api.topics ?? [],
        properties: [
          { type: 'OpenAPI', url: links.url(api, { format: 'json' }), mediaType: 'application/openapi+json' },
          { type: 'OpenAPI', url: links.url(api, { format: 'yaml' }), mediaType: 'application/openapi+yaml' },
          { type: 'Documentation', url: links.url(api, { view: 'markdown' }), mediaType: 'text/markdown' },
          { type: 'ChangeLog', url: links.url(api, { view: 'versions' }), mediaType: 'application/json' },
          ...linksOf(api).map((link) => ({ type: 'Link', name: link.title, url: link.url })),
        ],
        ...(api.owner && { contact: [contactOf(api.owner, teamOf(teamsOf(config, api.org), api.owner))] }),
      };
    });
  const index = {
    aid: host,
    name: `APIs at ${host}`.slice(0, 50),
    description: 'OpenAPI documents. Every version has its own URL, and its bytes never change.',
    type: 'Index',
    url: `${url}${apisJsonPath}`,
    specificationVersion: '0.19',
    tags: [],
    apis,
    maintainers: [{ FN: host }],
  };
  return `${JSON.stringify(index, null, 2)}\n`;
}

/** Whom to ask, as in a vCard. */
function contactOf(owner: string, team: Team | null): object {
  return { FN: team?.title ?? owner, ...(team?.mail && { email: team.mail }), ...(team?.chat && { url: team.chat }) };
}

/**
 * `llms.txt` (llmstxt.org): the contents of the registry for language models. Links the Markdown
 * page of each resource, in a section per organization and type.
 */
function llmsText({ url, links, docs }: Pick<Site, 'url' | 'links' | 'docs'>, resources: readonly Resource[]): string {
  const sections = new Map<string, string[]>();
  for (const resource of resources) {
    if (resource.latest === null) continue;
    const heading = `@${resource.org}/${resource.type}`;
    const lines = sections.get(heading) ?? [];
    const page = links.url(resource, { view: 'markdown' });
    const about = [resource.latest, oneLine(aboutOf(resource))].filter(Boolean).join(', ');
    lines.push(`- [${oneLine(resource.name)}](${page}): ${nameOf(resource)}${about === '' ? '' : `, ${about}`}`);
    sections.set(heading, lines);
  }
  const about = docs().map(
    ({ name, title, description }) => `- [${title}](${links.whole(links.path(docMarkdownPath(name)))}): ${description}`,
  );
  if (about.length > 0) sections.set('Documentation of Stele', about);
  const { host } = new URL(url);
  const text = [
    `# API contracts at ${host}`,
    '',
    '> OpenAPI documents, JSON Schemas and lint rulesets. Every version has its own URL, and its bytes never change.',
    '',
    `Each link is a page in Markdown. The document itself is at the same URL without \`/index.md\`: add \`.json\` or \`.yaml\` for a format, and \`@1.4.0\` before that for a version. ${links.whole(links.path('/search'))}?q= finds operations, schemas and properties, as JSON.`,
    ...[...sections].flatMap(([heading, lines]) => ['', `## ${heading}`, '', ...lines]),
    '',
  ];
  return text.join('\n');
}

/** Escapes user text for one line of Markdown. */
function oneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cc}\p{Z}]+/gu, ' ')
    .trim()
    .slice(0, 300)
    .replace(/[\\`*_{}[\]<>#|~!&]/g, '\\$&');
}

/**
 * The schemas of an organization for editors, as SchemaStore lists its own: each with the files that
 * follow it (`fileMatch`, empty where it says none) and the URL of each of its versions.
 */
function schemaCatalog({ links }: Pick<Site, 'links'>, resources: readonly Resource[]): string {
  const schemas = resources
    .filter(({ type, latest }) => type === 'schemas' && latest !== null)
    .map((schema) => {
      const to = (label?: string) => links.url(schema, { format: 'json', ...(label !== undefined && { label }) });
      const offered = schema.versions.filter(isOffered).map(({ label }) => [label, to(label)] as const);
      return {
        name: schema.name,
        description: aboutOf(schema) || schema.name,
        fileMatch: schema.fileMatch ?? [],
        url: to(),
        versions: Object.fromEntries(offered),
      };
    });
  const catalog = { $schema: 'https://json.schemastore.org/schema-catalog.json', version: 1, schemas };
  return `${JSON.stringify(catalog, null, 2)}\n`;
}
