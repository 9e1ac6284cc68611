import type { Coordinate } from '../model/address.ts';
import { createAnchors, operationName, type Outline } from '../model/outline.ts';
import type { Resource } from '../model/resource.ts';
import type { SiteCoordinate } from '../sites/model/documentation-site.ts';
import type { SiteIndex } from './ranking/pages.js';
import { compoundsOf, keyOf, keyTerm, wordsOf } from './ranking/words.js';

/**
 * The entry of one document in the index. Record 0 is the document itself, record n the nth line of
 * `lines` (see `itemsOf`). The postings of `terms[i]` are those from `starts[i]` to `starts[i + 1]`
 * (see `Part` in ranking/rank.js), by record.
 */
export interface SearchEntry {
  lines: string[];
  terms: string[];
  starts: Uint32Array;
  postings: Uint32Array;
}

/** Facts of a resource that are searched besides its document. */
export type SearchedResource = Pick<Resource, 'name' | 'description' | 'owner' | 'topics' | 'system'> &
  (Coordinate | SiteCoordinate);

/** The weight of a word by the field that it is in. Of a whole name: what it adds to the score. */
const weights = {
  title: 10,
  description: 2,
  id: 10,
  path: 9,
  summary: 8,
  method: 4,
  tag: 3,
  parameter: 2,
  name: 9,
  property: 2.5,
};
const keys = { path: 30, id: 30, name: 26 };
/** What the last segment of a path adds, and how much less each further word of a text counts. */
const lastSegment = 2.5;
const fading = 0.06;

/** The most postings of one document, and characters of its lines. */
export const maxPostings = 250_000;
const maxCharacters = 2_000_000;
/** The most postings of a resource's names and descriptions. */
const postingsOfName = 200;

/** The entry of a resource's names and descriptions: record 0. `about`: what its document says of itself. */
export function makeOwnEntry(resource: SearchedResource, about: Pick<Outline, 'title' | 'description'>): SearchEntry {
  const collected = createCollected(postingsOfName);
  const { org, type, slug, name, description, owner, topics = [], system } = resource;
  for (const text of [about.title, name, slug, org, type]) collected.prose(text, 0, weights.title);
  for (const text of [owner ?? '', system ?? '', ...topics]) collected.prose(text, 0, weights.tag);
  for (const text of [description, about.description]) collected.words(text, 0, weights.description);
  for (const whole of [about.title, name, slug, `@${org}/${type}/${slug}`]) collected.key(whole, 0, keys.name);
  return collected.pack();
}

/** The entry of a document: a record for each of its parts. `limit`: the most postings that it may have. */
export function makeEntry(outline: Outline, limit = maxPostings): SearchEntry {
  const collected = createCollected(limit);
  const { words, key, add } = collected;
  const anchors = createAnchors();
  for (const operation of outline.operations) {
    const { method, path, id, summary, tags, parameters } = operation;
    const record = add(['operation', anchors.operation(operation), operationName(operation), summary]);
    if (record === null) break;
    words(id ?? '', record, weights.id);
    addPath(collected, path, record);
    collected.prose(summary, record, weights.summary);
    words(method, record, weights.method);
    for (const tag of tags) collected.prose(tag, record, weights.tag);
    for (const parameter of parameters) words(parameter, record, weights.parameter);
    key(path, record, keys.path);
    key(id ?? '', record, keys.id);
  }
  for (const { name, properties } of outline.schemas) {
    const record = add(['schema', anchors.schema(name), name, ...properties]);
    if (record === null) break;
    words(name, record, weights.name);
    key(name, record, keys.name);
    for (const property of properties) words(property, record, weights.property);
  }
  for (const { name, description } of outline.rules) {
    const record = add(['rule', anchors.rule(name), name, description]);
    if (record === null) break;
    words(name, record, weights.name);
    words(description, record, weights.description);
    key(name, record, keys.name);
  }
  for (const { name, description } of outline.tags) {
    const record = add(['tag', anchors.tag(name), name, description]);
    if (record === null) break;
    words(name, record, weights.tag);
    words(description, record, weights.description);
  }
  return collected.pack();
}

/** The entry of a site: a record for each of its pages and for each section of one. Titles come first if there is no room. */
export function makeSiteEntry({ pages, terms }: SiteIndex, limit = maxPostings): SearchEntry {
  const { add, key, post, pack } = createCollected(limit);
  const firsts = pages.map(([route, title, sections]) => {
    const first = add(['page', route, title, '']);
    if (first !== null) key(title, first, keys.name);
    for (const [id, heading] of sections) add(['page', `${route}#${id}`, heading, title]);
    return first;
  });
  const all = Object.entries(terms).flatMap(([term, lists]) =>
    lists.flatMap(([page, ...postings]) =>
      postings.map((posting) => ({ term, first: firsts[page!] ?? null, posting })),
    ),
  );
  for (const isTitle of [true, false])
    for (const { term, first, posting } of all) {
      const weight = posting % 256;
      if (first !== null && weight >= 20 * weights.description * 2 === isTitle)
        post(term, first + Math.floor(posting / 256), weight);
    }
  return pack();
}

/**
 * The words of a path. Its parameters count as such, and the last other segment counts more, the
 * less the more words it has.
 */
function addPath({ words }: ReturnType<typeof createCollected>, path: string, record: number): void {
  const segments = path.replace(/\{[^{}]*\}/g, ' ').split('/');
  const last = segments.findLastIndex((segment) => segment.trim() !== '');
  let from = 0;
  for (const [at, segment] of segments.entries())
    from = words(segment, record, weights.path, { from, last: at === last });
  for (const [, parameter] of path.matchAll(/\{([^{}]*)\}/g)) words(parameter!, record, weights.parameter);
}

/** Collects postings, at most so many. */
function createCollected(limit: number) {
  const lines: string[] = [];
  const byWord = new Map<string, number[]>();
  let left = limit;
  let characters = maxCharacters;
  const split = new Map<string, string[]>();

  /** The terms of a text. Documents repeat many of theirs. */
  function termsOf(text: string): string[] {
    return split.getOrInsertComputed(text, () => wordsOf(text).map(({ term }) => term));
  }

  /** Keeps the highest weight of a term in a record. */
  function post(term: string, record: number, weight: number): void {
    const postings = byWord.get(term) ?? [];
    const last = postings.at(-1);
    const posting = record * 256 + weight;
    if (last !== undefined && last >>> 8 === record) postings[postings.length - 1] = Math.max(last, posting);
    else if (left > 0) {
      left--;
      postings.push(posting);
      if (last === undefined) byWord.set(term, postings);
    }
  }

  return {
    post,

    /** Adds a line. Returns the number of its record, or null if there is no more room. */
    add(cells: readonly string[]): number | null {
      const line = cells.map((cell) => cell.replace(/[\t\n\r]/g, ' ')).join('\t');
      characters -= line.length + 1;
      return characters >= 0 && left > 0 ? lines.push(line) : null;
    },

    /** Adds the words of a text. `from`: how many came before them. Returns how many there are now. */
    words(text: string, record: number, weight: number, { from = 0, last = false } = {}): number {
      const written = termsOf(text);
      const more = last ? lastSegment / written.length : 0;
      let at = from;
      for (const term of written)
        post(term, record, Math.min(255, Math.round(20 * (weight / (1 + fading * at++) + more))));
      return at;
    },

    /** Adds the words of a text in which names are written, such as `PagerDuty`: those in one piece, too. */
    prose(text: string, record: number, weight: number): void {
      this.words(text, record, weight);
      for (const term of compoundsOf(text)) post(term, record, Math.round(20 * weight));
    },

    /** Adds a whole name. */
    key(name: string, record: number, bonus: number): void {
      const whole = keyOf(name);
      if (whole !== '') post(keyTerm(whole), record, bonus);
    },

    pack(): SearchEntry {
      const terms = [...byWord.keys()];
      const starts = new Uint32Array(terms.length + 1);
      const postings = new Uint32Array(limit - left);
      let at = 0;
      for (const [index, list] of [...byWord.values()].entries()) {
        starts[index] = at;
        postings.set(list, at);
        at += list.length;
      }
      starts[terms.length] = at;
      return { lines, terms, starts, postings };
    },
  };
}
