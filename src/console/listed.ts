import { ask, type Visit } from './visit.ts';

/** One page of a list of the management API. */
export interface Listed<T> {
  items: T[];
  next: string | null;
}

/** Asks for the page of a list that the visitor's cursor names. */
export function listed<T>(visit: Visit, operation: string) {
  const cursor = visit.query.get('cursor');
  return ask<Listed<T>>(visit, operation, { query: { limit: '50', ...(cursor !== null && { cursor }) } });
}

/** The query that leads to the next page, or null. */
export function nextOf({ next }: { next: string | null }): string | null {
  return next && `?cursor=${encodeURIComponent(next)}`;
}
