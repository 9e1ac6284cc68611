import { type Part, type Storage, lookUp, rank, type LookedUp, type Ranked } from './ranking/rank.js';
import { placeOf, type Query } from './ranking/words.js';
import {
  type SearchEntry,
  makeEntry,
  makeOwnEntry,
  makeSiteEntry,
  maxPostings,
  type SearchedResource,
} from './search-entry.ts';
import type { Coordinate } from '../model/address.ts';
import type { Digest } from '../model/digest.ts';
import type { Outline } from '../model/outline.ts';
import { coordinateOf, type Resource } from '../model/resource.ts';
import type { DocumentationSite, SiteCoordinate } from '../sites/model/documentation-site.ts';
import type { SiteIndex } from './ranking/pages.js';
import { correct, itemsOf, type Item } from './ranking/hits.js';

/** A term of a resource counts as so many postings: one that occurs nowhere else takes some 200 bytes, a posting some 10. */
const postingsOfTerm = 20;

/**
 * Which resources have a term, and how many postings each organization has. `budget`: the most
 * postings in total, and of one organization.
 */
function createTermIndex(budget: { all: number; organization: number }) {
  /**
   * By term: the resources that have it, each followed by the number of the term in its own entry, or by -1 less the number
   * in that of its document.
   */
  const places = new Map<string, (Row | number)[]>();
  const termsAt = new Map<string, Set<string>>();
  const spent = new Map<string, number>();
  let spentInAll = 0;

  function spend(org: string, postings: number): void {
    spentInAll += postings;
    spent.set(org, (spent.get(org) ?? 0) + postings);
  }

  function add(source: Row, entry: SearchEntry | null): void {
    if (entry === null) return;
    spend(source.coordinate.org, costOf(entry));
    for (const [number, term] of entry.terms.entries()) {
      const list = places.get(term);
      const at = entry === source.resourceEntry ? number : ~number;
      if (list !== undefined) {
        list.push(source, at);
        continue;
      }
      places.set(term, [source, at]);
      termsAt.getOrInsertComputed(placeOf(term), () => new Set()).add(term);
    }
  }

  function remove(source: Row, entry: SearchEntry | null): void {
    if (entry === null) return;
    spend(source.coordinate.org, -costOf(entry));
    for (const [number, term] of entry.terms.entries()) {
      const list = places.get(term)!;
      const at = entry === source.resourceEntry ? number : ~number;
      list.splice(
        list.findIndex((each, index) => each === source && list[index + 1] === at),
        2,
      );
      if (list.length > 0) continue;
      places.delete(term);
      termsAt.get(placeOf(term))!.delete(term);
    }
  }

  return {
    add,
    remove,
    /** How many more postings an organization may have; 0 or less: none. */
    leftFor: (org: string) => Math.min(budget.all - spentInAll, budget.organization - (spent.get(org) ?? 0)),
    /** The storage that a search reads, limited to readable resources. Compares at most `compared` terms with words. */
    read: (isReadable: (source: Row) => boolean, compared: number) =>
      readableStorage({ places, termsAt }, isReadable, compared),
  };
}

/**
 * Only readable terms count, and a place counts whole or not at all: neither the number nor the
 * order of other terms may change an answer.
 */
function readableStorage(
  { places, termsAt }: { places: Map<string, (Row | number)[]>; termsAt: Map<string, Set<string>> },
  isReadable: (source: Row) => boolean,
  compared: number,
): Storage<Row> {
  const mayRead = remember(isReadable);
  const isReadableTerm = (term: string) => places.get(term)!.some((each) => typeof each !== 'number' && mayRead(each));
  const readableAt = remember((place: string) => [...(termsAt.get(place) ?? [])].filter(isReadableTerm));
  let left = compared;
  return {
    terms(place, wanted) {
      const terms = readableAt(place);
      if (terms.length > left) return [wanted];
      left -= terms.length;
      return terms;
    },
    parts(term) {
      const list = places.get(term) ?? [];
      const parts: Part<Row>[] = [];
      for (let at = 0; at < list.length; at += 2) {
        const source = list[at] as Row;
        if (!mayRead(source)) continue;
        const number = list[at + 1] as number;
        const { postings, starts } = number < 0 ? source.entry! : source.resourceEntry;
        const index = number < 0 ? ~number : number;
        parts.push({ source, postings, from: starts[index]!, to: starts[index + 1]! });
      }
      return parts;
    },
  };
}

function remember<Asked, Told>(ask: (asked: Asked) => Told): (asked: Asked) => Told {
  const answers = new Map<Asked, Told>();
  return (asked) => answers.getOrInsertComputed(asked, ask);
}

function costOf({ postings, terms }: SearchEntry): number {
  return postings.length + postingsOfTerm * terms.length;
}

/** What the index has: resources and documentation sites. */
export type Searched = Resource | DocumentationSite;

/** A resource or a site in the index. */
export interface Indexed {
  coordinate: Coordinate | SiteCoordinate;
  name: string;
  /** The resource's description, or its document's when it has none. */
  description: string;
  visibility: Resource['visibility'];
  /** Label of its latest version or its deployment, or null. */
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
  matches: () => (Item & { score: number })[];
}

/** The answer of the index. */
export interface IndexAnswer {
  /** Best first, at most 200. */
  found: Match[];
  /** The query with the words that were taken instead of those that occur nowhere, or null. */
  instead: string | null;
}

/** See `createSearchIndex`. */
export type SearchIndex = ReturnType<typeof createSearchIndex>;

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
 * Creates an empty index of resources by their words, in memory. Synchronous. Does not check who may
 * see what. `budget`: the most postings in total, and of one organization.
 * `compared`: the most terms that one query compares with its words. Beyond it, words are found only
 * as they are spelled.
 */
export function createSearchIndex(budget = postingBudget, compared = maxComparisons) {
  const entries = new Map<string, Row>();
  const terms = createTermIndex(budget);
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
    /** Adds a resource or a site, or replaces the one with this name. `content`: of its document, or of its pages. */
    set(ref: string, searched: Searched, content: Outline | SiteIndex | null, manifest: Digest | null): void {
      remove(ref);
      const about = content === null || 'pages' in content ? { title: '', description: '' } : content;
      const ofResource = makeOwnEntry(namesOf(searched), about);
      const limit = Math.min(terms.leftFor(searched.org), maxPostings);
      const make = () =>
        content === null ? null : 'pages' in content ? makeSiteEntry(content, limit) : makeEntry(content, limit);
      const entry = limit <= 0 ? null : make();
      const { title, description } = about;
      const row = {
        ...factsOf(searched, about),
        ref,
        manifest,
        resourceEntry: ofResource,
        entry,
        about: { title, description },
      };
      entries.set(ref, row);
      terms.add(row, ofResource);
      terms.add(row, entry);
      changed();
    },
    /** Updates the facts of a resource or a site, and keeps what is indexed of its content. */
    update(ref: string, searched: Searched): void {
      const row = entries.get(ref);
      if (row === undefined) return;
      terms.remove(row, row.resourceEntry);
      Object.assign(row, factsOf(searched, row.about), { resourceEntry: makeOwnEntry(namesOf(searched), row.about) });
      terms.add(row, row.resourceEntry);
      changed();
    },
    get: (ref: string): Indexed | null => entries.get(ref) ?? null,
    delete(ref: string): void {
      remove(ref);
      changed();
    },
    /** A number that changes with every update. */
    revision: () => revision,
    /** All entries, by name. */
    entries: () => (sorted ??= [...entries].sort(([a], [b]) => (a < b ? -1 : 1))),

    /**
     * The 200 best of the resources that fit the query, best first. Looks at nothing in resources that
     * are not readable.
     */
    find(query: Query, isReadable: (indexed: Indexed) => boolean): IndexAnswer {
      const storage = terms.read(isReadable, compared);
      const words = query.words.map((word) => lookUp(word, storage));
      const ranked = rank(query, words, storage, maxMatches)
        .sort((a, b) => b.score - a.score || (a.source.ref < b.source.ref ? -1 : 1))
        .slice(0, maxResults);
      return { found: ranked.map((each) => describe(each, words)), instead: correct(query, words) };
    },
  };
}

type Facts = Pick<Indexed, 'coordinate' | 'name' | 'description' | 'visibility' | 'version' | 'title' | 'createdAt'>;

/** Whether it is a documentation site. */
export function isSite(searched: Searched): searched is DocumentationSite {
  return 'deployments' in searched;
}

function namesOf(searched: Searched): SearchedResource {
  if (!isSite(searched)) return searched;
  const { org, slug, title, description } = searched;
  return { org, type: 'sites', slug, name: title, description };
}

function factsOf(searched: Searched, about: About): Facts {
  const { visibility, createdAt } = searched;
  const { name, description, ...names } = namesOf(searched);
  return {
    coordinate: isSite(searched) ? { org: names.org, type: 'sites', slug: names.slug } : coordinateOf(searched),
    name,
    description: description || about.description,
    visibility,
    version: isSite(searched) ? searched.current : searched.latest,
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
