/*
 * Search of a documentation site, and of Stele's own documentation. Plain JavaScript: servers and
 * browsers run this file as it is.
 */

import { lookUp, rank } from './rank.js';
import { parseQuery, placeOf } from './words.js';

/**
 * The index of a site. `pages`: of each its path, its title, and its sections with ids and headings.
 * `terms`: of each term the pages with it: their number, then postings as in `rank.js`.
 * @typedef {{ pages: [string, string, [string, string][]][], terms: Record<string, number[][]> }} SiteIndex
 */

/**
 * A page that was found. `id`, `heading`: of the section that fits best; empty: the page itself.
 * @typedef {{ route: string, id: string, title: string, heading: string }} FoundPage
 */

/**
 * Makes ready to search: the function answers the best pages first, at most `most`, of those whose
 * path `fits`.
 * @param {SiteIndex} index
 * @returns {(text: string, most: number, fits?: (route: string) => boolean) => FoundPage[]}
 */
export function openPages({ pages, terms }) {
  /** @type {Map<string, string[]>} */
  const places = new Map();
  for (const term of Object.keys(terms)) {
    const place = placeOf(term);
    const all = places.get(place);
    if (all === undefined) places.set(place, [term]);
    else all.push(term);
  }
  const storage = {
    /** @param {string} place */
    terms: (place) => places.get(place) ?? [],
    /** @param {string} term */
    parts: (term) =>
      (Object.hasOwn(terms, term) ? /** @type {number[][]} */ (terms[term]) : []).map(([source, ...postings]) => ({
        source: /** @type {number} */ (source),
        postings,
        from: 0,
        to: postings.length,
      })),
  };
  return (text, most, fits = () => true) => {
    const query = parseQuery(text);
    const words = query.words.map((word) => lookUp(word, storage));
    return rank(query, words, storage, 2)
      .filter(({ source }) => fits(/** @type {SiteIndex['pages'][number]} */ (pages[source])[0]))
      .sort((a, b) => b.score - a.score || a.source - b.source)
      .slice(0, most)
      .map(({ source, records }) => {
        const [route, title, sections] = /** @type {SiteIndex['pages'][number]} */ (pages[source]);
        const record = records[0]?.record ?? 0;
        const [id, heading] = (record === 0 ? undefined : sections[record - 1]) ?? ['', ''];
        return { route, id, title, heading };
      });
  };
}

/**
 * The index of Stele's documentation. `about`: the description of each page, by its path.
 * @typedef {SiteIndex & { about: Record<string, string> }} DocsIndex
 */

/**
 * A page of it that was found, or a section of one. `heading` is empty for the page itself.
 * @typedef {{ title: string, heading: string, href: string, description: string }} FoundDoc
 */

/**
 * Makes the documentation ready to search: `find` answers the best eight, `suggest` the best five
 * as suggestions are.
 * @param {DocsIndex} index
 */
export function openDocs(index) {
  const search = openPages(index);
  /** @type {(text: string, most?: number) => FoundDoc[]} */
  const find = (text, most = 8) =>
    search(text, most).map(({ route, id, title, heading }) => {
      return { title, heading, href: route + (id && `#${id}`), description: index.about[route] ?? '' };
    });
  /** @param {string} text */
  const suggest = (text) =>
    find(text, 5).map(({ title, heading, href: url, description }) =>
      heading === ''
        ? { kind: 'page', name: title, summary: description, title: '', url }
        : { kind: 'page', name: heading, summary: '', title, url },
    );
  return { find, suggest };
}
