import type { Pull } from './host.ts';

/** The most pull requests of a repository that are looked at. */
const most = 200;
const mostPages = 10;

/** One page of a list; what could not be read is null in it. */
export interface Page {
  items: readonly (Pull | null)[];
  isLast: boolean;
}

/** The pull requests of all pages, 200 at most. Pages count from 1; links in answers are not followed. */
export async function listPages(ask: (page: number) => Promise<Page>): Promise<Pull[]> {
  const pulls: Pull[] = [];
  for (let page = 1; page <= mostPages && pulls.length < most; page++) {
    const { items, isLast } = await ask(page);
    pulls.push(...items.filter((pull) => pull !== null));
    if (isLast) break;
  }
  return pulls.slice(0, most);
}
