import { setImmediate } from 'node:timers/promises';
import { hexOf } from '../model/digest.ts';
import { derive } from '../registry/derived.ts';
import type { Registry } from '../registry/registry.ts';
import { listedPages } from '../sites/model/documentation-site.ts';
import { routeOf } from '../sites/model/page-path.ts';
import { openPage, type GrantedSite } from '../sites/registry/read-site.ts';
import type { SiteIndex } from './ranking/pages.js';
import { wordsOf } from './ranking/words.js';

/** Weights, in twentieths. */
const weights = { title: 200, heading: 120, text: 24, more: 6, most: 60 };

/** Characters of text that an index is made of; of what follows it has the titles and headings. */
const maxText = 4_000_000;

/** The index as JSON. Made once for each deployment, then cached. */
export async function siteIndex(registry: Registry, granted: GrantedSite): Promise<string> {
  const { deployment, site } = granted;
  // As a text: parsing a large index for each reader would block all others.
  const make = async () => JSON.stringify(await makeIndex(registry, granted));
  return (await derive(registry, 'site-search-text', site.org, hexOf(deployment.manifest), make))!;
}

/**
 * The words of the site's own pages and none of what they embed, so that the index is the same for
 * everybody who may read the site.
 */
async function makeIndex(registry: Registry, granted: GrantedSite): Promise<SiteIndex> {
  async function* pages(): AsyncGenerator<IndexedPage> {
    for (const [path, page] of listedPages(granted.contents)) {
      const { sections } = await openPage(registry, granted, page);
      const { title, description, headings } = page.facts;
      const named = new Map(headings.map(({ id, text }) => [id, text]));
      const indexed = sections.map(({ id, text }) => ({ id, heading: named.get(id) ?? null, text }));
      yield { route: routeOf(path), title, description, sections: indexed };
    }
  }
  return indexPages(pages());
}

/** A page as an index is made of it. A section without a heading belongs to the page itself. */
export interface IndexedPage {
  route: string;
  title: string;
  description: string;
  /** Whether it lists everything, so that others say more about each thing. */
  isReference?: boolean;
  sections: readonly { id: string; heading: string | null; text: string }[];
}

/** Makes the index of pages. */
export async function indexPages(all: AsyncIterable<IndexedPage> | Iterable<IndexedPage>): Promise<SiteIndex> {
  const pages: SiteIndex['pages'] = [];
  const terms = new Map<string, number[][]>();
  let left = maxText;
  for await (const { route, title, description, isReference = false, sections } of all) {
    await setImmediate();
    const named = sections.filter(({ heading }) => heading !== null);
    const recordOf = new Map(named.map(({ id }, index) => [id, 1 + index]));
    const number = pages.length;
    pages.push([route, title, named.map(({ id, heading }) => [id, heading!])]);
    const records: Map<string, number>[] = [new Map(), ...named.map(() => new Map<string, number>())];
    const add = (record: number, text: string, weight: number): void => {
      const hit = records[record]!;
      for (const { term } of wordsOf(text)) {
        const before = hit.get(term);
        if (before === undefined) hit.set(term, weight);
        else if (before < weights.most) hit.set(term, Math.max(weight, before + weights.more));
      }
    };
    add(0, title, weights.title);
    add(0, description, weights.heading);
    for (const { id, heading, text } of sections) {
      const record = heading === null ? 0 : recordOf.get(id)!;
      if (heading !== null) add(record, heading, isReference ? weights.text : weights.heading);
      if (text.length > left) continue;
      left -= text.length;
      add(record, text, weights.text);
    }
    const postings = new Map<string, number[]>();
    for (const [record, found] of records.entries())
      for (const [term, weight] of found) {
        postings.getOrInsert(term, [number]).push(record * 256 + weight);
      }
    for (const [term, list] of postings) terms.getOrInsertComputed(term, () => []).push(list);
  }
  return { pages, terms: Object.fromEntries([...terms].sort(([a], [b]) => (a < b ? -1 : 1))) };
}
