import { searchFields, unpackLine, type SearchField, type SearchItem } from './search-entry.ts';
import { fold, type Query } from './search-words.ts';

/**
 * Scores search results. Unlike the usual measures (BM25), a score does not depend on how often a
 * word occurs elsewhere: a rank must not reveal what is in documents that the reader may not see.
 */

const weights: Record<SearchField, number> = { name: 10, operations: 4, schemas: 4, properties: 2, text: 1 };

/** Scores a resource by its words alone. `match`: the fields that contain each word. */
export function scoreWords({ words }: Query, match: Readonly<Record<string, string[]>>): number {
  const found = Object.entries(match).map(([term, fields]) => ({ term, weight: Math.max(...fields.map(weightOf)) }));
  return words.reduce((sum, word) => {
    const scores = found.map(({ term, weight }) => weight * closeness(word, term));
    return sum + Math.max(0, ...scores);
  }, 0);
}

function weightOf(field: string): number {
  return weights[searchFields.find((known) => known === field)!];
}

function closeness(word: string, term: string): number {
  if (word === term) return 1;
  return term.startsWith(word) ? 0.6 : 0.2;
}

/** Scores a resource by its names. */
export function scoreName({ phrase }: Query, names: readonly string[]): number {
  const folded = names.map(fold);
  if (folded.includes(phrase)) return 100;
  return folded.some((name) => name.includes(phrase)) ? 30 : 0;
}

/** A matching part and its score. */
export interface ScoredItem {
  item: SearchItem;
  score: number;
}

/** The lowest score of a part that contains every word of the query. */
const complete = 10;

/**
 * The best parts of a packed string, best first, at most `most`. If some contain every word, only
 * those. `alike`: words that were accepted in place of the query's.
 */
export function bestItems(packed: string, query: Query, alike: readonly string[], most: number): ScoredItem[] {
  const best: ScoredItem[] = [];
  const wanted = [...query.words, ...alike];
  const lines = packed.split('\n');
  for (const [index, folded] of fold(packed).split('\n').entries()) {
    if (!wanted.some((word) => folded.includes(word))) continue;
    const items = unpackLine(lines[index]!);
    // Folding keeps tabs, so both strings have the same parts.
    for (const [at, item] of unpackLine(folded).entries()) {
      const score = scoreItem(item, query, alike);
      if (score === 0 || (best.length === most && best.at(-1)!.score >= score)) continue;
      const place = best.findIndex((other) => other.score < score);
      best.splice(place < 0 ? best.length : place, 0, { item: items[at]!, score });
      if (best.length > most) best.pop();
    }
  }
  return best.some(({ score }) => score >= complete) ? best.filter(({ score }) => score >= complete) : best;
}

/** Scores a part whose texts are folded. */
function scoreItem({ kind, name, also }: SearchItem, { phrase, words }: Query, alike: readonly string[]): number {
  let score = 0;
  let missing = 0;
  for (const word of words) {
    if (name.includes(word)) score += 2;
    else if (also.some((text) => text.includes(word))) score += 1;
    else missing++;
  }
  if (score === 0) return alike.some((word) => name.includes(word) || also.some((text) => text.includes(word))) ? 1 : 0;
  if (missing > 0) return Math.min(score, complete - 1);
  score += complete;
  // A path may be written with or without its method: `/pets` finds `GET /pets`.
  const hasOtherName = kind === 'operation' || kind === 'property';
  const isExact = name === phrase || (hasOtherName && also[0] === phrase);
  if (isExact || (kind === 'operation' && name.endsWith(` ${phrase}`))) return score + 60;
  return name.includes(phrase) ? score + 10 + (10 * phrase.length) / name.length : score;
}
