import { formatAddress, type Coordinate } from '../model/address.ts';
import { toldChanges } from '../model/compared-with.ts';
import { changesInWords } from '../model/comparison.ts';
import type { AffectedConsumer } from '../registry/graph/affected.ts';
import { aboutOf, nameOf, type Resource, type Version } from '../model/resource.ts';
import type { Site } from './site.ts';
import { escapeXml } from '../model/escape.ts';
import { pick } from '../model/json.ts';
import { inTurns } from '../scheduling/turns.ts';
import { docPath } from './docs/docs.ts';

/** The scope of a feed: the registry, one organization, what affects its consumers, or one resource. */
export type FeedScope =
  | { kind: 'registry' }
  | { kind: 'organization'; org: string }
  | { kind: 'consumers'; org: string }
  | { kind: 'resource'; coordinate: Coordinate };

interface FeedEntry {
  id: string;
  url: string;
  title: string;
  /** Empty: none. */
  text: string;
  at: string;
  org: string;
  type?: string;
}

type Place = Pick<Site, 'url' | 'links'>;

const entriesShown = 50;

/** The last 50 publications of these resources. */
export function publicationEntries(place: Place, resources: readonly Resource[]): FeedEntry[] {
  return newestPublications(resources, entriesShown).map((entry) => ({
    id: urlOf(place, entry),
    url: urlOf(place, entry),
    title: `${entry.resource.name} ${entry.version.label}`,
    text: entryText(entry),
    at: entry.version.publishedAt,
    ...pick(entry.resource, 'org', 'type'),
  }));
}

/** The last 50 of what affects consumers, oldest first as they are given. */
export function affectedEntries(place: Place, affected: readonly AffectedConsumer[]): FeedEntry[] {
  return affected
    .slice(-entriesShown)
    .reverse()
    .map(({ at, because, version, pin: { consumer, contract }, resource }) => {
      const url = urlOf(place, { resource, version });
      const pinned = `${contract.contract}@${contract.version}`;
      const isEnded = because !== 'breaking';
      return {
        id: `${url}#${[consumer, contract.version, because].join('-')}`,
        url,
        title: isEnded ? `${consumer}: ${pinned} is ${because}` : `${consumer}: ${version.label} breaks ${pinned}`,
        text: isEnded
          ? `${consumer} pinned ${publicationName({ resource, version })}, which is ${because}.${'reason' in version.status ? ` ${version.status.reason}` : ''}`
          : `${consumer} pinned ${pinned}. Its range ${contract.range} also means ${version.label}. ${changesInWords(toldChanges(resource, version)!)}`,
        at,
        ...pick(resource, 'org', 'type'),
      };
    });
}

/** Entries as an Atom feed. */
export function atomFeed(place: Place, scope: FeedScope, entries: readonly FeedEntry[]): string {
  const self = feedUrl(place, scope, 'atom');
  return atomText({ id: self, self, title: titleOf(scope), url: homeOf(place, scope) }, entries);
}

/** RFC 4287 requires a time even for an empty feed. */
const nothingYet = '1970-01-01T00:00:00Z';

/** An Atom feed (RFC 4287). `self`: its own URL. */
export function atomText(
  feed: { id: string; self: string; title: string; url: string },
  entries: readonly FeedEntry[],
): string {
  const lines = [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    element('id', feed.id),
    element('title', feed.title),
    element('updated', entries[0]?.at ?? nothingYet),
    link('self', 'application/atom+xml', feed.self),
    link('alternate', 'text/html', feed.url),
    ...entries.flatMap(({ id, url, title, text, at, org, type }) => [
      '<entry>',
      element('id', id),
      element('title', title),
      element('published', at),
      element('updated', at),
      `<author>${element('name', org)}</author>`,
      link('alternate', 'text/html', url),
      ...(type === undefined ? [] : [`<category term="${type}"/>`]),
      ...(text === '' ? [] : [element('summary', text)]),
      '</entry>',
    ]),
    '</feed>',
    '',
  ];
  return lines.join('\n');
}

function element(name: string, text: string): string {
  return `<${name}>${escapeXml(text)}</${name}>`;
}

function link(relation: string, type: string, href: string): string {
  return `<link rel="${relation}" type="${type}" href="${escapeXml(href)}"/>`;
}

/** The same entries as a JSON Feed (jsonfeed.org, version 1.1). */
export function jsonFeed(place: Place, scope: FeedScope, entries: readonly FeedEntry[]): string {
  const items = entries.map(({ id, url, title, text, at, org, type }) => ({
    id,
    url,
    title,
    content_text: text,
    date_published: at,
    authors: [{ name: org }],
    tags: [type],
  }));
  const feed = {
    version: 'https://jsonfeed.org/version/1.1',
    title: titleOf(scope),
    home_page_url: homeOf(place, scope),
    feed_url: feedUrl(place, scope, 'json'),
    items,
  };
  return `${JSON.stringify(feed, null, 2)}\n`;
}

/** The path of a feed: `/feed.atom`, `/feeds/acme.atom`, `/feeds/acme/apis/payments.atom`. */
export function feedPath(scope: FeedScope, format: 'atom' | 'json'): string {
  if (scope.kind === 'registry') return `/feed.${format}`;
  if (scope.kind === 'organization') return `/feeds/${scope.org}.${format}`;
  if (scope.kind === 'consumers') return `/feeds/${scope.org}/consumers.${format}`;
  const { org, type, slug } = scope.coordinate;
  return `/feeds/${org}/${type}/${slug}.${format}`;
}

/** The title of a feed, for the page that links to it. */
export function feedLink(
  { links }: Pick<Site, 'links'>,
  scope: FeedScope,
): { href: string; type: string; title: string } {
  return { href: links.path(feedPath(scope, 'atom')), type: 'application/atom+xml', title: titleOf(scope) };
}

function feedUrl({ links }: Place, scope: FeedScope, format: 'atom' | 'json'): string {
  return links.whole(links.path(feedPath(scope, format)));
}

function homeOf({ url, links }: Place, scope: FeedScope): string {
  if (scope.kind === 'registry') return `${url}/`;
  if (scope.kind === 'resource') return links.url(scope.coordinate);
  return links.whole(links.path(formatAddress({ kind: 'organization', org: scope.org })));
}

function titleOf(scope: FeedScope): string {
  if (scope.kind === 'registry') return 'New versions';
  if (scope.kind === 'consumers') return `What affects consumers of @${scope.org}`;
  return `New versions of ${scope.kind === 'organization' ? `@${scope.org}` : nameOf(scope.coordinate)}`;
}

/** The pinned URL. It never changes, so it identifies the entry. */
function urlOf({ links }: Place, { resource, version }: Publication): string {
  return links.url(resource, { label: version.label });
}

function entryText(entry: Publication): string {
  const { resource, version } = entry;
  const { status } = version;
  const state = status.state === 'active' ? '' : ` (${status.state}: ${'reason' in status ? status.reason : ''})`;
  const about = aboutOf(resource) === '' ? '' : `: ${aboutOf(resource)}`;
  const changes = toldChanges(resource, version);
  return `${publicationName(entry)}${state}${about}${changes === null ? '' : `. ${changesInWords(changes)}`}`;
}

interface Publication {
  resource: Resource;
  version: Version;
}

/** The newest published versions of these resources, newest first, without withdrawn ones. */
export function newestPublications(resources: readonly Resource[], max: number): Publication[] {
  const newest: Publication[] = [];
  for (const resource of resources) {
    for (const version of resource.versions.toReversed()) {
      if (version.status.state === 'withdrawn') continue;
      const publication = { resource, version };
      if (newest.length === max && inOrder(publication, newest.at(-1)!) >= 0) continue;
      // Of versions published at the same time, the later one stays first.
      const at = newest.findLastIndex((other) => inOrder(other, publication) <= 0) + 1;
      newest.splice(at, 0, publication);
      newest.length = Math.min(newest.length, max);
    }
  }
  return newest;
}

/** As `newestPublications`, of resources that may be many: others have their turn meanwhile. */
export async function newestInTurns(resources: readonly Resource[], max: number): Promise<Publication[]> {
  const found = new Set<Resource>();
  for await (const some of inTurns(resources, 500))
    for (const { resource } of newestPublications(some, max)) found.add(resource);
  return newestPublications([...found], max);
}

/** Newest first, then by name. */
function inOrder(a: Publication, b: Publication): number {
  return (
    compareTexts(b.version.publishedAt, a.version.publishedAt) || compareTexts(nameOf(a.resource), nameOf(b.resource))
  );
}

/** The time of the last publication or status change of a resource, or null. */
export function lastChange({ versions }: Pick<Resource, 'versions'>): string | null {
  const times = versions.flatMap(({ publishedAt, status }) =>
    'since' in status ? [publishedAt, status.since] : [publishedAt],
  );
  return times.reduce<string | null>((latest, time) => (latest === null || time > latest ? time : latest), null);
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** `@acme/apis/payments@1.4.0` */
function publicationName({ resource, version }: Publication): string {
  return `${nameOf(resource)}@${version.label}`;
}

/**
 * How to follow new versions: feeds, and webhooks. `watch`: where who is signed in watches the resource; null: no mail is
 * sent, or nobody signs in.
 */
export function subscriptionOf({ links, hasLogin, registry }: Site, resource: Resource): object {
  const { mail, login } = registry.config;
  const isMailed = hasLogin && mail !== null && login !== null;
  const watch = isMailed ? links.path(`/console/-/watches/new?contract=${encodeURIComponent(nameOf(resource))}`) : null;
  const feed = (format: 'atom' | 'json') => links.path(feedPath({ kind: 'resource', coordinate: resource }, format));
  return { atom: feed('atom'), json: feed('json'), webhooks: links.path(docPath('events')), watch };
}
