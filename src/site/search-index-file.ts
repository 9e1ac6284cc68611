import { nameOf } from '../model/resource.ts';
import type { Indexed } from '../search/search.ts';
import type { Site } from './site.ts';

/** The most characters of packed parts in the whole index. */
const mostCharacters = 8_000_000;

/**
 * What the browser searches where no server does, of resources that have a latest version: JSON
 * `{items, truncated}`, each item a resource with the parts of its document in `parts` (a line for
 * each: kind, anchor, name and what else it is found by, between tabs; of a schema the rest are its
 * properties). Where there is too much, long documents are cut before short ones.
 */
export function searchIndexText(
  { links }: Pick<Site, 'links'>,
  all: readonly Indexed[],
  most = mostCharacters,
): string {
  const entries = all.filter(({ version }) => version !== null);
  const share = fairShare(
    entries.map(({ items }) => items.length),
    most,
  );
  const items = entries.map(({ coordinate, name, title, description, version, items: parts }) => ({
    coordinate: nameOf(coordinate),
    type: coordinate.type,
    name,
    title,
    description,
    version,
    url: links.to(coordinate),
    parts: cutLines(parts, share),
  }));
  const truncated = entries.some(({ items: parts }) => parts.length > share);
  return `${JSON.stringify({ items, truncated })}\n`;
}

/**
 * The length limit per item that keeps the total within the budget. Short items leave room for long
 * ones.
 */
function fairShare(lengths: readonly number[], budget: number): number {
  let left = budget;
  for (const [index, length] of lengths.toSorted((a, b) => a - b).entries()) {
    const share = left / (lengths.length - index);
    if (length > share) return Math.floor(share);
    left -= length;
  }
  return Infinity;
}

/** Cuts a text to whole lines within the length. */
function cutLines(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, Math.max(0, text.lastIndexOf('\n', length)));
}
