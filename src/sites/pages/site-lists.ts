import type { GrantedSite } from '../registry/read-site.ts';
import { deploymentsOf, listedPages } from '../model/documentation-site.ts';
import { routeOf } from '../model/page-path.ts';
import { escapeXml } from '../../model/escape.ts';
import { readingOrder } from './site-navigation.ts';
import type { Placed } from './placed.ts';

/** Files that tell programs what a site has: paths below the site. */
export const siteLists = ['llms.txt', 'sitemap.xml', 'robots.txt', 'feed.atom'] as const;

const deploymentsShown = 50;

/** The text of such a file, with its media type. They name pages and titles of the site, and nothing of what pages embed. */
export function siteList(
  granted: GrantedSite,
  placed: Placed,
  name: (typeof siteLists)[number],
): { text: string; mediaType: string } {
  if (name === 'llms.txt') return { text: llms(granted, placed), mediaType: 'text/plain; charset=utf-8' };
  if (name === 'sitemap.xml') return { text: sitemap(granted, placed), mediaType: 'application/xml; charset=utf-8' };
  if (name === 'robots.txt') return { text: robots(granted, placed), mediaType: 'text/plain; charset=utf-8' };
  return { text: feed(granted, placed), mediaType: 'application/atom+xml; charset=utf-8' };
}

function orderOf({ contents }: GrantedSite): string[] {
  const listed = new Set(listedPages(contents).map(([path]) => path));
  const first = readingOrder(contents).filter((path) => listed.delete(path));
  return [...first, ...listed];
}

/** As llmstxt.org says: the site in Markdown, with links to its pages in Markdown. */
function llms(granted: GrantedSite, { url }: Placed): string {
  const { settings, pages } = granted.contents;
  const lines = orderOf(granted).map((path) => {
    const { title, description } = pages[path]!.facts;
    return `- [${title.replaceAll(/[[\]\\]/g, '\\$&')}](${url}${path})${description === '' ? '' : `: ${description}`}`;
  });
  const lead = settings.description === '' ? [] : [`> ${settings.description.replaceAll(/\s+/g, ' ')}`, ''];
  return [`# ${settings.title}`, '', ...lead, '## Pages', '', ...lines, ''].join('\n');
}

function sitemap(granted: GrantedSite, { url }: Placed): string {
  const lines = orderOf(granted).map((path) => `<url><loc>${escapeXml(url + routeOf(path))}</loc></url>`);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
    ...lines,
    '</urlset>',
    '',
  ].join('\n');
}

function robots({ site }: GrantedSite, { url }: Placed): string {
  if (site.visibility === 'private') return 'User-agent: *\nDisallow: /\n';
  return `User-agent: *\nAllow: /\n\nSitemap: ${url}sitemap.xml\n`;
}

/**
 * The deployments of a site, newest first (RFC 4287). Those that Stele made by itself are left out,
 * and not counted: they would reveal when an embedded API was published, which not every reader may
 * know.
 */
function feed({ site, contents }: GrantedSite, { url }: Placed): string {
  const { title } = contents.settings;
  const deployments = deploymentsOf(site).filter(({ followed }) => followed === undefined);
  const numbers = new Map(deployments.map(({ label }, index) => [label, index + 1]));
  const newest = deployments.toReversed().slice(0, deploymentsShown);
  const repeated = (label: string) =>
    numbers.has(label) ? `Deployment ${numbers.get(label)}` : 'An earlier deployment';
  const entries = newest.flatMap(({ label, publishedAt, again }) => [
    '<entry>',
    `<id>${escapeXml(`${url}#deployment-${numbers.get(label)}`)}</id>`,
    `<title>${escapeXml(`${title}: deployment ${numbers.get(label)}`)}</title>`,
    `<updated>${publishedAt}</updated>`,
    `<author><name>${escapeXml(site.org)}</name></author>`,
    `<link rel="alternate" type="text/html" href="${escapeXml(url)}"/>`,
    ...(again === undefined ? [] : [`<summary>${escapeXml(`${repeated(again)}, published again.`)}</summary>`]),
    '</entry>',
  ]);
  return [
    '<?xml version="1.0" encoding="utf-8"?>',
    '<feed xmlns="http://www.w3.org/2005/Atom">',
    `<id>${escapeXml(url)}</id>`,
    `<title>${escapeXml(title)}</title>`,
    `<updated>${newest[0]!.publishedAt}</updated>`,
    `<link rel="self" type="application/atom+xml" href="${escapeXml(`${url}feed.atom`)}"/>`,
    `<link rel="alternate" type="text/html" href="${escapeXml(url)}"/>`,
    ...entries,
    '</feed>',
    '',
  ].join('\n');
}
