import type { Pull } from './host.ts';

/** The most pull requests that are read per repository. */
const most = 200;
const mostPages = 10;

/** One page of a list. Null stands for an item that could not be parsed. */
export interface Page {
  items: readonly (Pull | null)[];
  isLast: boolean;
}

/**
 * The pull requests of all pages, at most 200. Pages count from 1. Does not follow links in
 * responses.
 */
export async function listPages(ask: (page: number) => Promise<Page>): Promise<Pull[]> {
  const pulls: Pull[] = [];
  for (let page = 1; page <= mostPages && pulls.length < most; page++) {
    const { items, isLast } = await ask(page);
    pulls.push(...items.filter((pull) => pull !== null));
    if (isLast) break;
  }
  return pulls.slice(0, most);
}
