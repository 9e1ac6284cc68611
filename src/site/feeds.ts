import { formatAddress, type Coordinate } from '../model/address.ts';
import { changesOf } from '../model/versions/compared-with.ts';
import { countsInWords, verdictsInWords, type VersionChanges } from '../model/comparison.ts';
import { aboutOf, coordinateOf, nameOf, type Resource } from '../model/resource.ts';
import type { Site } from './site.ts';
import { newestPublications, publicationName, type Publication } from './publications.ts';
import { escapeXml } from '../model/text/escape.ts';

/** The scope of a feed: the registry, one organization, or one resource. */
export type FeedScope =
  { kind: 'registry' } | { kind: 'organization'; org: string } | { kind: 'resource'; coordinate: Coordinate };

type Place = Pick<Site, 'url' | 'links'>;

const entriesShown = 50;

/** The last 50 publications of these resources as an Atom feed (RFC 4287). */
export function atomFeed(place: Place, scope: FeedScope, resources: readonly Resource[]): string {
  const entries = newestPublications(resources, entriesShown);
  const lines = [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    element('id', feedUrl(place, scope, 'atom')),
    element('title', titleOf(scope)),
    element('updated', entries[0]?.version.publishedAt ?? nothingYet),
    link('self', 'application/atom+xml', feedUrl(place, scope, 'atom')),
    link('alternate', 'text/html', homeOf(place, scope)),
    ...entries.flatMap((entry) => atomEntry(place, entry)),
    '</feed>',
    '',
  ];
  return lines.join('\n');
}

/** RFC 4287 requires a time even for an empty feed. */
const nothingYet = '1970-01-01T00:00:00Z';

function atomEntry(place: Place, entry: Publication): string[] {
  const { resource, version } = entry;
  const url = urlOf(place, entry);
  return [
    '<entry>',
    element('id', url),
    element('title', entryTitle(entry)),
    element('published', version.publishedAt),
    element('updated', version.publishedAt),
    `<author>${element('name', resource.org)}</author>`,
    link('alternate', 'text/html', url),
    `<category term="${resource.type}"/>`,
    element('summary', entryText(entry)),
    '</entry>',
  ];
}

function element(name: string, text: string): string {
  return `<${name}>${escapeXml(text)}</${name}>`;
}

function link(relation: string, type: string, href: string): string {
  return `<link rel="${relation}" type="${type}" href="${escapeXml(href)}"/>`;
}

/** The same entries as a JSON Feed (jsonfeed.org, version 1.1). */
export function jsonFeed(place: Place, scope: FeedScope, resources: readonly Resource[]): string {
  const items = newestPublications(resources, entriesShown).map((entry) => ({
    id: urlOf(place, entry),
    url: urlOf(place, entry),
    title: entryTitle(entry),
    content_text: entryText(entry),
    date_published: entry.version.publishedAt,
    authors: [{ name: entry.resource.org }],
    tags: [entry.resource.type],
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
  if (scope.kind === 'resource') return links.whole(links.to(scope.coordinate));
  return links.whole(links.path(formatAddress({ kind: 'organization', org: scope.org })));
}

function titleOf(scope: FeedScope): string {
  if (scope.kind === 'registry') return 'New versions';
  return `New versions of ${scope.kind === 'organization' ? `@${scope.org}` : nameOf(scope.coordinate)}`;
}

/** The pinned URL. It never changes, so it identifies the entry. */
function urlOf({ links }: Place, { resource, version }: Publication): string {
  return links.whole(links.to(coordinateOf(resource), { label: version.label }));
}

function entryTitle({ resource, version }: Publication): string {
  return `${resource.name} ${version.label}`;
}

function entryText(entry: Publication): string {
  const { resource, version } = entry;
  const { status } = version;
  const state = status.state === 'active' ? '' : ` (${status.state}: ${'reason' in status ? status.reason : ''})`;
  const about = aboutOf(resource) === '' ? '' : `: ${aboutOf(resource)}`;
  const changes = changesOf(resource, version);
  const changed =
    changes === null ? '' : ` ${verdictsInWords[changes.verdict]} since ${changes.from}${wordsOf(changes)}.`;
  return `${publicationName(entry)}${state}${about}${changed === '' ? '' : `.${changed}`}`;
}

function wordsOf({ counts }: VersionChanges): string {
  const words = countsInWords(counts);
  return words === '' ? '' : `: ${words}`;
}
