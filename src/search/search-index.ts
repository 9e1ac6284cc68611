import type { Coordinate } from '../model/address.ts';
import type { Digest } from '../model/digest.ts';
import type { Outline } from '../model/outline.ts';
import { coordinateOf, type Resource } from '../model/resource.ts';
import { lookUp, rank, type LookedUp, type Ranked } from './ranking/rank.js';
import { correct, itemsOf } from './ranking/hits.js';
import type { Query } from './ranking/words.js';
import { makeEntry, makeOwnEntry, maxPostings, type SearchEntry, type SearchItem } from './search-entry.ts';
import { createTermIndex } from './term-index.ts';

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
  /** When the resource was created. ISO 8601. */
  createdAt: string;
  /** Its names and descriptions. */
  resourceEntry: SearchEntry;
  /** The parts of its document, or null. */
  entry: SearchEntry | null;
}

/** A resource that matches a search. */
export interface Match {
  indexed: Indexed;
  /** How well its own names and descriptions fit; 0 if they do not. */
  own: number;
  /** The matching parts of its document, best first. `score`: comparable between resources. */
  matches: () => (SearchItem & { score: number })[];
}

/** The answer of the index. */
export interface Answer {
  /** Best first, at most 200. */
  found: Match[];
  /** The query with the words that were taken instead of those that occur nowhere, or null. */
  instead: string | null;
}

/**
 * An index of resources by their words, in memory. Synchronous. Does not check who may see what.
 */
export interface SearchIndex {
  /** Adds a resource, or replaces the one with this name. */
  set(name: string, resource: Resource, outline: Outline | null, manifest: Digest | null): void;
  /** Updates a resource's facts, and keeps its indexed document. */
  update(name: string, resource: Resource): void;
  get(name: string): Indexed | null;
  delete(name: string): void;
  /** A number that changes with every update. */
  revision(): number;
  /** All entries, by name. */
  entries(): [string, Indexed][];
  /**
   * The 200 best of the resources that fit the query, best first. Looks at nothing in resources that
   * are not readable.
   */
  find(query: Query, isReadable: (indexed: Indexed) => boolean): Answer;
}

const maxResults = 200;
const maxMatches = 8;

/**
 * The most postings in total, and of one organization. Later resources are found by name only.
 * Three hundred real APIs have 800,000; a posting takes some 10 bytes.
 */
const postingBudget = { all: 20_000_000, organization: 10_000_000 };

/** The most terms that one query compares with its words. */
const maxComparisons = 200_000;

type About = Pick<Outline, 'title' | 'description'>;

interface Row extends Indexed {
  ref: string;
  /** What its document says of itself. */
  about: About;
}

/**
 * Creates an empty index. `budget`: the most postings in total, and of one organization.
 * `compared`: the most terms that one query compares with its words. Beyond it, words are found only
 * as they are spelled.
 */
export function createSearchIndex(budget = postingBudget, compared = maxComparisons): SearchIndex {
  const entries = new Map<string, Row>();
  const terms = createTermIndex<Row>(budget);
  let revision = 0;
  let sorted: [string, Indexed][] | null = null;

  function remove(ref: string): void {
    const row = entries.get(ref);
    if (row === undefined) return;
    terms.remove(row, row.resourceEntry);
    terms.remove(row, row.entry);
    entries.delete(ref);
  }

  function changed(): void {
    revision++;
    sorted = null;
  }

  return {
    set(ref, resource, outline, manifest) {
      remove(ref);
      const about = { title: outline?.title ?? '', description: outline?.description ?? '' };
      const ofResource = makeOwnEntry(resource, about);
      const left = terms.leftFor(resource.org);
      const entry = outline === null || left <= 0 ? null : makeEntry(outline, Math.min(left, maxPostings));
      const row = { ...factsOf(resource, about), ref, manifest, resourceEntry: ofResource, entry, about };
      entries.set(ref, row);
      terms.add(row, ofResource);
      terms.add(row, entry);
      changed();
    },
    update(ref, resource) {
      const row = entries.get(ref);
      if (row === undefined) return;
      terms.remove(row, row.resourceEntry);
      Object.assign(row, factsOf(resource, row.about), { resourceEntry: makeOwnEntry(resource, row.about) });
      terms.add(row, row.resourceEntry);
      changed();
    },
    get: (ref) => entries.get(ref) ?? null,
    delete(ref) {
      remove(ref);
      changed();
    },
    revision: () => revision,
    entries: () => (sorted ??= [...entries].sort(([a], [b]) => (a < b ? -1 : 1))),

    find(query, isReadable) {
      const storage = terms.read(isReadable, compared);
      const words = query.words.map((word) => lookUp(word, storage));
      const ranked = rank(query, words, storage, maxMatches).sort(inOrder).slice(0, maxResults);
      return { found: ranked.map((each) => describe(each, words)), instead: correct(query, words) };
    },
  };
}

type Facts = Pick<Indexed, 'coordinate' | 'name' | 'description' | 'visibility' | 'version' | 'title' | 'createdAt'>;

function factsOf(resource: Resource, about: About): Facts {
  const { name, description, visibility, latest, createdAt } = resource;
  return {
    coordinate: coordinateOf(resource),
    name,
    description: description || about.description,
    visibility,
    version: latest,
    title: about.title || name,
    createdAt,
  };
}

function describe({ source, records }: Ranked<Row>, words: readonly LookedUp<Row>[]): Match {
  let made: ReturnType<Match['matches']> | null = null;
  const matches = () =>
    (made ??= records
      .filter(({ record }) => record > 0)
      .flatMap((each) =>
        itemsOf(source.entry!.lines[each.record - 1]!, words).map((item) => ({ ...item, score: each.score })),
      )
      .slice(0, maxMatches));
  return { indexed: source, own: records.find(({ record }) => record === 0)?.score ?? 0, matches };
}

function inOrder(a: Ranked<Row>, b: Ranked<Row>): number {
  return b.score - a.score || (a.source.ref < b.source.ref ? -1 : 1);
}
