import type { Pull } from './host.ts';

/** One page of a list. Null stands for an item that could not be parsed. */
export interface Page<T> {
  items: readonly (T | null)[];
  isLast: boolean;
}

/**
 * The items of all pages, up to `most`, of at most `maxPages` pages. Pages count from 1. Does not
 * follow links in responses. `isComplete` is false when there are more.
 */
export async function readPages<T>(
  max: number,
  maxPages: number,
  ask: (page: number) => Promise<Page<T>>,
): Promise<{ items: T[]; isComplete: boolean }> {
  const all: T[] = [];
  for (let page = 1; page <= maxPages; page++) {
    const { items, isLast } = await ask(page);
    all.push(...items.filter((item) => item !== null));
    if (all.length > max) break;
    if (isLast) return { items: all, isComplete: true };
    if (all.length === max) break;
  }
  return { items: all.slice(0, max), isComplete: false };
}

/** The most pull requests that are read per repository. */
const maxPulls = 200;
const maxPullPages = 10;

/** The pull requests of all pages, at most 200. Pages count from 1. */
export async function listPages(ask: (page: number) => Promise<Page<Pull>>): Promise<Pull[]> {
  return (await readPages(maxPulls, maxPullPages, ask)).items;
}
