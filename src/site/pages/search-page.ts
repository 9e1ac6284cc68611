import { types } from '../../model/kinds.ts';
import { resourceTypes, formatCoordinate } from '../../model/address.ts';
import { nameOf } from '../../model/resource.ts';
import type { Found, SearchRequest, SearchResults, Indexed } from '../../search/search.ts';
import { excerpt } from './listings.ts';
import type { FoundDoc } from '../../search/ranking/pages.js';
import type { Site } from '../site.ts';
import { siteAddress } from '../../sites/model/documentation-site.ts';

/** A search and its results. */
export interface Searched extends Required<SearchRequest>, Omit<SearchResults, 'items'> {
  items: readonly Found[];
  /** Of the documentation, where it was asked for. */
  docs?: readonly FoundDoc[] | null;
}

/**
 * The search page, with results if there is a query. On a static host its script does the search.
 */
export function searchPage(
  site: Site,
  { text, type, org, uses, usedBy, items, next, complete, instead, docs = null }: Searched,
): string {
  const kept = {
    ...(docs && { in: 'docs' }),
    ...(org && { org }),
    ...(uses && { uses: nameOf(uses) }),
    ...(usedBy && { usedBy: nameOf(usedBy) }),
  };
  const parameters = new URLSearchParams({ q: text, ...(type && { type }), ...kept });
  const search = site.links.path('/search');
  return site.page('search', {
    title: text === '' ? 'Search' : `${text}: search`,
    crumbs: [{ text: 'Search' }],
    hidden: text !== '',
    canonical: `${site.url}/search`,
    // Hides the search field of the header, which would be a second one.
    isHome: true,
    query: text,
    docs,
    type,
    kept: Object.entries(kept),
    all: `${search}?${new URLSearchParams({ q: text, ...(type && { type }) })}`,
    types: [
      ...resourceTypes.map((each) => ({ value: each, text: types[each].many })),
      { value: 'sites', text: 'Documentation' },
    ],
    results: items.map((match) => {
      const result = searchResult(site, match);
      return { ...result, description: excerpt(result.description) };
    }),
    next: next === null ? null : `${search}?${parameters}&cursor=${encodeURIComponent(next)}`,
    complete,
    instead: instead && { text: instead, href: `${search}?${new URLSearchParams({ q: instead, ...kept })}` },
  });
}

/** The results with links: paths under the registry's base, or absolute URLs with `isWhole`. */
export function searchResult({ links }: Pick<Site, 'links'>, { indexed, matches }: Found, { isWhole = false } = {}) {
  const { coordinate, name, title, description, version } = indexed;
  const path = addressOf({ links }, coordinate);
  const url = isWhole ? links.whole(path) : path;
  return {
    coordinate: formatCoordinate(coordinate),
    type: coordinate.type,
    name,
    /** The title in its document, or its name. */
    title,
    description,
    /** Label of the latest version, or null. */
    version,
    url,
    /** Matching parts of the document, best first. `url`: its position on its page. */
    matches: matches().map((item) => ({
      kind: item.kind,
      name: item.name,
      summary: item.summary,
      url: url + placeOf(item),
    })),
  };
}

/** The address of a resource or a site. */
export function addressOf({ links }: Pick<Site, 'links'>, coordinate: Indexed['coordinate']): string {
  return coordinate.type === 'sites' ? links.path(`${siteAddress(coordinate)}/`) : links.to(coordinate);
}

/** What follows the address of a document or a site: the anchor of a part, or the route of a page. */
function placeOf({ kind, anchor }: { kind: string; anchor: string }): string {
  return kind === 'page' ? anchor : `#${anchor}`;
}

/**
 * Places to go to while somebody types: the best parts and resources, whichever they belong to, best first. `title` is
 * of the resource that a part is in.
 */
export function suggestionsOf({ links }: Pick<Site, 'links'>, results: readonly Found[], max: number) {
  return results
    .flatMap(({ indexed, own, matches }) => {
      const { coordinate, title, description } = indexed;
      const of = { title, coordinate: formatCoordinate(coordinate) };
      const url = addressOf({ links }, coordinate);
      const noun = coordinate.type === 'sites' ? 'site' : types[coordinate.type].one;
      const itself = { ...of, kind: noun, name: title, summary: description, url, score: own };
      const parts = matches().map(({ kind, name, summary, anchor, score }) => ({
        ...of,
        kind,
        name,
        summary,
        url: url + placeOf({ kind, anchor }),
        score,
      }));
      return own > 0 ? [itself, ...parts] : parts;
    })
    .sort((a, b) => b.score - a.score)
    .slice(0, max)
    .map(({ kind, name, summary, title, coordinate, url }) => ({ kind, name, summary, title, coordinate, url }));
}
