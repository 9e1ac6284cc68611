import type { Part, Storage } from './ranking/rank.js';
import { placeOf } from './ranking/words.js';
import type { SearchEntry } from './search-entry.ts';

/** A resource with the entries that its terms are in: its own, and that of its document. */
export interface TermSource {
  coordinate: { org: string };
  resourceEntry: SearchEntry;
  entry: SearchEntry | null;
}

/** Which resources have a term, and how many postings each organization has. */
export interface TermIndex<Source extends TermSource> {
  /** Adds the terms of one of the resource's entries; nothing without an entry. */
  add(source: Source, entry: SearchEntry | null): void;
  /** Removes the terms of an entry that was added. */
  remove(source: Source, entry: SearchEntry | null): void;
  /** How many more postings an organization may have; 0 or less: none. */
  leftFor(org: string): number;
  /** The storage that a search reads, limited to readable resources. Compares at most `compared` terms with words. */
  read(isReadable: (source: Source) => boolean, compared: number): Storage<Source>;
}

/** A term of a resource counts as so many postings: one that occurs nowhere else takes some 200 bytes, a posting some 10. */
const postingsOfTerm = 20;

/** `budget`: the most postings in total, and of one organization. */
export function createTermIndex<Source extends TermSource>(budget: {
  all: number;
  organization: number;
}): TermIndex<Source> {
  /**
   * By term: the resources that have it, each followed by the number of the term in its own entry, or by -1 less the number
   * in that of its document.
   */
  const places = new Map<string, (Source | number)[]>();
  const termsAt = new Map<string, Set<string>>();
  const spent = new Map<string, number>();
  let spentInAll = 0;

  function spend(org: string, postings: number): void {
    spentInAll += postings;
    spent.set(org, (spent.get(org) ?? 0) + postings);
  }

  function add(source: Source, entry: SearchEntry | null): void {
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
      const others = termsAt.get(placeOf(term));
      if (others === undefined) termsAt.set(placeOf(term), new Set([term]));
      else others.add(term);
    }
  }

  function remove(source: Source, entry: SearchEntry | null): void {
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
    leftFor: (org) => Math.min(budget.all - spentInAll, budget.organization - (spent.get(org) ?? 0)),
    read: (isReadable, compared) => readableStorage({ places, termsAt }, isReadable, compared),
  };
}

/**
 * Only readable terms count, and a place counts whole or not at all: neither the number nor the
 * order of other terms may change an answer.
 */
function readableStorage<Source extends TermSource>(
  { places, termsAt }: { places: Map<string, (Source | number)[]>; termsAt: Map<string, Set<string>> },
  isReadable: (source: Source) => boolean,
  compared: number,
): Storage<Source> {
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
      const parts: Part<Source>[] = [];
      for (let at = 0; at < list.length; at += 2) {
        const source = list[at] as Source;
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

/** A function that remembers its answers by argument. */
function remember<Asked, Answer>(ask: (asked: Asked) => Answer): (asked: Asked) => Answer {
  const answers = new Map<Asked, Answer>();
  return (asked) => {
    if (!answers.has(asked)) answers.set(asked, ask(asked));
    return answers.get(asked)!;
  };
}

function costOf({ postings, terms }: SearchEntry): number {
  return postings.length + postingsOfTerm * terms.length;
}
