import { perform, type ConsoleRequest } from './console-request.ts';

/** One page of a list of the management API. */
export interface ListPage<T> {
  items: T[];
  next: string | null;
}

/** Reads the page of a list that the person's cursor names. `filters`: further parameters of the operation. */
export function performList<T>(request: ConsoleRequest, operation: string, filters: Record<string, string> = {}) {
  const cursor = request.query.get('cursor');
  const query = { limit: '50', ...filters, ...(cursor !== null && { cursor }) };
  return perform<ListPage<T>>(request, operation, { query });
}

/** The query that leads to the next page, or null. */
export function nextOf({ next }: { next: string | null }, filters: Record<string, string> = {}): string | null {
  return next && `?${new URLSearchParams({ ...filters, cursor: next }).toString()}`;
}
