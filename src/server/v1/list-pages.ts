import { RegistryError } from '../../model/errors.ts';
import type { Answer, Call } from './call.ts';

/** Encodes a cursor: opaque to clients, and valid only for its own list. */
function encodeCursor(operation: string, position: unknown): string {
  return Buffer.from(JSON.stringify([operation, position])).toString('base64url');
}

/**
 * The position in the request's cursor, or null for the first page. Throws `malformed` if the
 * cursor belongs to another list.
 */
export function positionOf<P>({ operation, query }: Call, isPosition: (value: unknown) => value is P): P | null {
  const cursor = query['cursor'];
  if (typeof cursor !== 'string') return null;
  try {
    const [id, position] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [unknown, unknown];
    if (id === operation.id && isPosition(position)) return position;
  } catch {
    // Not a cursor: the error follows.
  }
  throw new RegistryError('malformed', 'This cursor belongs to another list. Start again without cursor.', {
    extra: { errors: [{ parameter: 'cursor', detail: 'belongs to another list' }] },
  });
}

export function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** Sends a page of items. Takes one item more, to know whether there is another page. */
export async function sendPage<T>(
  { operation, query }: Call,
  items: AsyncIterable<T> | Iterable<T>,
  describe: (item: T) => unknown,
  positionAt: (item: T) => unknown,
): Promise<Answer> {
  const limit = query['limit'] as number;
  const page: T[] = [];
  let hasMore = false;
  for await (const item of items) {
    hasMore = page.length === limit;
    if (hasMore) break;
    page.push(item);
  }
  const next = hasMore ? encodeCursor(operation.id, positionAt(page.at(-1)!)) : null;
  return { status: 200, body: { items: await Promise.all(page.map(describe)), next } };
}

/** Whether one of the texts contains `?q`, ignoring case; without `?q`, always. */
export function matchesQuery({ query }: Call, ...texts: string[]): boolean {
  const wanted = query['q'];
  return typeof wanted !== 'string' || texts.some((text) => text.toLowerCase().includes(wanted.toLowerCase()));
}
