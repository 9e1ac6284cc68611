import type { Pull } from './host.ts';
import { readPages, type Page } from './read-pages.ts';

/** The most pull requests that are read per repository. */
const maxPulls = 200;
const maxPages = 10;

/** The pull requests of all pages, at most 200. Pages count from 1. */
export async function listPages(ask: (page: number) => Promise<Page<Pull>>): Promise<Pull[]> {
  return (await readPages(maxPulls, maxPages, ask)).items;
}
