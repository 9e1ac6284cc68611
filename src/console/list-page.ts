import { perform, type ConsoleRequest } from './console-request.ts';

/** One page of a list of the management API. */
export interface ListPage<T> {
  items: T[];
  next: string | null;
}

/** Reads the page of a list that the person's cursor names. */
export function performList<T>(request: ConsoleRequest, operation: string) {
  const cursor = request.query.get('cursor');
  return perform<ListPage<T>>(request, operation, { query: { limit: '50', ...(cursor !== null && { cursor }) } });
}

/** The query that leads to the next page, or null. */
export function nextOf({ next }: { next: string | null }): string | null {
  return next && `?cursor=${encodeURIComponent(next)}`;
}
