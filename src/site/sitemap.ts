import { formatAddress } from '../model/address.ts';
import { coordinateOf, type Resource } from '../model/resource.ts';
import { docPath } from './docs/docs.ts';
import { lastChange } from './publications.ts';
import type { Site } from './site.ts';
import { escapeXml } from '../model/text/escape.ts';

type Place = Pick<Site, 'url' | 'links' | 'docs'>;

/** URLs that one sitemap may list (sitemaps.org). */
const maxUrls = 50_000;

interface Entry {
  url: string;
  /** ISO 8601, or null if unknown. */
  changedAt: string | null;
}

/** The number of sitemaps, without the index that lists them if there are several. */
export function countSitemaps(place: Place, resources: readonly Resource[]): number {
  return Math.max(1, Math.ceil(entriesOf(place, resources).length / maxUrls));
}

/**
 * `/sitemap.xml`: every public page, or, where they are more than 50,000, the index of sitemaps
 * that list them.
 */
export function sitemap(place: Place, resources: readonly Resource[]): string {
  const entries = entriesOf(place, resources);
  if (entries.length <= maxUrls) return urlSet(entries);
  const parts = Array.from({ length: Math.ceil(entries.length / maxUrls) }, (_, index) => index + 1);
  const list = parts.map((number) => `<sitemap><loc>${escapeXml(`${place.url}${partPath(number)}`)}</loc></sitemap>`);
  return document('sitemapindex', list);
}

/** Returns the sitemap with this number, from 1, or null. */
export function sitemapPart(place: Place, resources: readonly Resource[], number: number): string | null {
  const entries = entriesOf(place, resources);
  if (entries.length <= maxUrls || number < 1 || number > Math.ceil(entries.length / maxUrls)) return null;
  return urlSet(entries.slice((number - 1) * maxUrls, number * maxUrls));
}

/** `/sitemap-2.xml` */
export function partPath(number: number): string {
  return `/sitemap-${number}.xml`;
}

/**
 * The pages of the registry, each organization, each of its types, each published resource, and the
 * documentation.
 */
function entriesOf({ url, links, docs }: Place, resources: readonly Resource[]): Entry[] {
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
    if (resource.latest !== null) note(links.whole(links.to(coordinateOf(resource))), changedAt);
  }
  for (const { name } of docs) note(links.whole(links.path(docPath(name))), null);
  return [...changes].map(([target, changedAt]) => ({ url: target, changedAt }));
}

function urlSet(entries: readonly Entry[]): string {
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
export function robotsText({ url, links }: Pick<Site, 'url' | 'links'>): string {
  const closed = ['/v1/', '/search', '/login', '/logout', '/account'].map((path) => `Disallow: ${links.path(path)}`);
  return ['User-agent: *', ...closed, `Sitemap: ${url}/sitemap.xml`, ''].join('\n');
}
