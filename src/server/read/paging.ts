import { RegistryError } from '../../model/errors.ts';

/** One page of a list. `next` is the cursor of the next page, null on the last. */
export interface Page<T> {
  items: T[];
  next: string | null;
}

const defaultLimit = 50;
const highestLimit = 100;

/**
 * The page for `?limit` (1 to 100, default 50) and `?cursor`. `keyOf` identifies an item: the
 * cursor contains the key of the last item sent, so that items added meanwhile do not shift pages.
 * A list has one `keyOf` and does not change. Throws `malformed` for an invalid limit or cursor.
 */
export function pageOf<T>(all: readonly T[], query: string, keyOf: (item: T) => string): Page<T> {
  const parameters = new URLSearchParams(query);
  const limit = parseLimit(parameters.get('limit'));
  const cursor = parameters.get('cursor');
  const after = cursor === null ? null : Buffer.from(cursor, 'base64url').toString();
  // Many texts decode to the same key, but only one is its cursor.
  const isOne = after !== null && encodeCursor(after) === cursor;
  const start = isOne ? (placesIn(all, keyOf).get(after) ?? -1) + 1 : 0;
  if (cursor !== null && start === 0)
    throw new RegistryError('malformed', 'This cursor belongs to another list. Start again without cursor.');
  const items = all.slice(start, start + limit);
  const last = items.at(-1);
  return { items, next: last !== undefined && start + limit < all.length ? encodeCursor(keyOf(last)) : null };
}

/** The place of each item by its key, kept with the list. */
function placesIn<T>(all: readonly T[], keyOf: (item: T) => string): ReadonlyMap<string, number> {
  return places.getOrInsertComputed(all, () => new Map(all.map((item, index) => [keyOf(item), index])));
}

const places = new WeakMap<readonly unknown[], ReadonlyMap<string, number>>();

function parseLimit(text: string | null): number {
  if (text === null) return defaultLimit;
  const limit = Number(text);
  if (!/^\d{1,3}$/.test(text) || limit < 1 || limit > highestLimit) {
    throw new RegistryError('malformed', `The parameter limit must be a number from 1 to ${highestLimit}.`);
  }
  return limit;
}

function encodeCursor(key: string): string {
  return Buffer.from(key).toString('base64url');
}
