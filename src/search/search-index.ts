import MiniSearch, { type SearchResult } from 'minisearch';
import { coordinateOf, type Resource } from '../model/resource.ts';
import type { Digest } from '../model/digest.ts';
import type { Outline } from '../model/outline.ts';
import type { Coordinate } from '../model/address.ts';
import { fieldsOf, mostWords, packItems, searchFields, type SearchField, type SearchItem } from './search-entry.ts';
import { bestItems, scoreName, scoreWords, type ScoredItem } from './search-rank.ts';
import type { Query } from './search-words.ts';

/** A resource in the index. */
export interface Indexed {
  coordinate: Coordinate;
  name: string;
  /** The resource's description, or its document's when it has none. */
  description: string;
  visibility: Resource['visibility'];
  /** Label of its latest version, or null. */
  version: string | null;
  /** Manifest of the version whose document is indexed, or null. */
  manifest: Digest | null;
  title: string;
  /** The document's parts (see `packItems`). */
  items: string;
}

/** A resource that matches a search, and the matching parts of its document. */
export interface Found {
  indexed: Indexed;
  matches: SearchItem[];
}

/**
 * An index of resources by their words, in memory. Synchronous. Does not check who may see what.
 */
export interface SearchIndex {
  /** Adds a resource, or replaces the one with this name. */
  set(name: string, resource: Resource, outline: Outline | null, manifest: Digest | null): void;
  /** Updates a resource's name and visibility, and keeps its indexed document. */
  update(name: string, resource: Resource): void;
  get(name: string): Indexed | null;
  delete(name: string): void;
  /** A number that changes with every update. */
  revision(): number;
  /** All entries, by name. */
  entries(): [string, Indexed][];
  /** The 200 best resources among `names` that contain all words of the query, best first. */
  find(query: Query, names: ReadonlySet<string>): Found[];
}

type Match = Record<string, string[]>;

const mostFound = 200;
const mostMatches = 8;
/** The most characters of items that one search scans. The rest is ranked by words alone. */
const mostScanned = 1_000_000;

/**
 * The most words in total, and of one organization. Later resources are found by name only.
 * Measured on documents of the corpus: 235 words and 8,500 characters of parts each, 36 MB for a
 * thousand of them. So the index stays below about 300 MB.
 */
const wordBudget = { all: 2_000_000, organization: 1_000_000 };
const wordsOfName = 200;

/** An entry, with the data needed to remove it. */
interface Kept extends Indexed {
  about: string;
  fields: Record<SearchField, string>;
  words: number;
}

/** Creates an empty index. `budget`: the most words in total, and of one organization. */
export function createSearchIndex(budget = wordBudget): SearchIndex {
  const known = new Map<string, Kept>();
  const spent = new Map<string, number>();
  let spentInAll = 0;
  let revision = 0;
  const index = new MiniSearch<{ id: string } & Record<SearchField, string>>({
    fields: [...searchFields],
    tokenize: (text) => text.split(' '),
    processTerm: (term) => term || null,
    // minisearch's `discard` cleans up later, by timers that throw when words are added meanwhile.
    // `remove` cleans up at once.
    autoVacuum: false,
  });

  function spend(org: string, words: number): void {
    spentInAll += words;
    spent.set(org, (spent.get(org) ?? 0) + words);
  }

  function remove(name: string): void {
    const old = known.get(name);
    if (old === undefined) return;
    revision++;
    index.remove({ id: name, ...old.fields });
    known.delete(name);
    spend(old.coordinate.org, -old.words);
  }

  /**
   * The ids of entries with all words, and the fields that contain each. A word without a match
   * stands for similar words.
   */
  function lookUp({ words }: Query, names: ReadonlySet<string>): Map<string, Match> {
    let found = new Map<string, Match>();
    // Long words are rare, so they come first and leave fewer entries for the others.
    for (const [rank, word] of words.toSorted((a, b) => b.length - a.length).entries()) {
      const among: ReadonlySet<string> | Map<string, Match> = rank === 0 ? names : found;
      const next = new Map<string, Match>();
      for (const { id, match } of lookUpWord(word, among))
        next.set(id as string, { ...found.get(id as string), ...match });
      found = next;
      if (found.size === 0) break;
    }
    return found;
  }

  function lookUpWord(word: string, among: { has(id: string): boolean }): SearchResult[] {
    const options = {
      tokenize: () => [word],
      prefix: word.length >= 3 || /[^\x00-\x7f]/.test(word),
      // Excluded entries are dropped before they are scored or counted.
      boostDocument: (id: string) => (among.has(id) ? 1 : 0),
    };
    const found = index.search(word, options);
    const mayBeMistyped = found.length === 0 && word.length >= 5 && !/\d/.test(word);
    return mayBeMistyped ? index.search(word, { ...options, fuzzy: 1 }) : found;
  }

  return {
    set(name, resource, outline, manifest) {
      remove(name);
      const { org } = resource;
      const left = Math.min(budget.all - spentInAll, budget.organization - (spent.get(org) ?? 0));
      const { fields, words } = fieldsOf(resource, outline, Math.max(wordsOfName, Math.min(left, mostWords)));
      index.add({ id: name, ...fields });
      revision++;
      spend(org, words);
      const title = outline?.title || resource.name;
      const about = outline?.description ?? '';
      const items = left > words ? packItems(outline) : '';
      known.set(name, { ...factsOf(resource, about), about, manifest, title, items, fields, words });
    },
    update(name, resource) {
      const old = known.get(name);
      if (old === undefined) return;
      revision++;
      known.set(name, { ...old, ...factsOf(resource, old.about) });
    },
    get: (name) => known.get(name) ?? null,
    delete: remove,
    revision: () => revision,
    entries: () => [...known].sort(([a], [b]) => (a < b ? -1 : 1)),

    find(query, names) {
      if (query.words.length === 0) return [];
      const candidates = [...lookUp(query, names)].map(([id, match]) => {
        const indexed = known.get(id)!;
        const { slug } = indexed.coordinate;
        const score =
          scoreWords(query, match) +
          scoreName(query, [slug, indexed.name, indexed.title, id.replace('resources/', '@')]);
        return { id, indexed, match, score, items: [] as ScoredItem[] };
      });
      const best = candidates.sort(inOrder).slice(0, mostFound);
      let left = mostScanned;
      for (const candidate of best) {
        left -= candidate.indexed.items.length;
        if (left < 0) break;
        const alike = Object.keys(candidate.match).filter((term) => !query.words.some((word) => term.startsWith(word)));
        candidate.items = bestItems(candidate.indexed.items, query, alike, mostMatches);
        candidate.score += candidate.items[0]?.score ?? 0;
      }
      return best.sort(inOrder).map(({ indexed, items }) => ({ indexed, matches: items.map(({ item }) => item) }));
    },
  };
}

type Facts = Pick<Indexed, 'coordinate' | 'name' | 'description' | 'visibility' | 'version'>;

function factsOf(resource: Resource, about: string): Facts {
  const { name, description, visibility, latest } = resource;
  return { coordinate: coordinateOf(resource), name, description: description || about, visibility, version: latest };
}

function inOrder(a: { id: string; score: number }, b: { id: string; score: number }): number {
  return b.score - a.score || (a.id < b.id ? -1 : 1);
}
