import { types } from '../../model/kinds.ts';
import { resourceTypes } from '../../model/address.ts';
import { nameOf } from '../../model/resource.ts';
import type { Found, SearchRequest } from '../../search/search.ts';
import { excerpt } from './listings.ts';
import { searchResult } from './search-results.ts';
import type { FoundDoc } from '../docs/docs-page.ts';
import type { Site } from '../site.ts';

/** A search and its results. */
export interface Searched extends Required<SearchRequest> {
  items: readonly Found[];
  next: string | null;
  complete: boolean;
  instead: string | null;
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
