import { rateLimited } from '../model/errors.ts';
import { createQueues } from './places.ts';
import { setImmediate as othersTurn } from 'node:timers/promises';

/** Documents processed at once for one organization: it must not take all the memory or all compilers. */
const atOnceOfOne = 8;
const maxWaiting = 32;
/** Seconds before a rejected caller may retry. */
const retryAfter = 5;

/** Limits how much work of one organization runs at once. Organizations do not wait for each other. */
export function createTurns() {
  const queues = createQueues(atOnceOfOne);
  return {
    /** Rejects with `rate_limited` when too many requests of the organization are waiting. */
    async take<T>(org: string, work: () => Promise<T>): Promise<T> {
      const waiting = queues.waiting(org);
      if (waiting < maxWaiting) return queues.add(org, work);
      const message = `Your organization has ${waiting} documents waiting to be published. Send fewer at once.`;
      throw rateLimited(message, { retryAfter });
    },
  };
}

/** Runs work with the same name in the order of the calls, one at a time; with different names, concurrently. */
export function createInOrder() {
  return createQueues(1).add;
}

/** Works on all, so many at once, and yields what comes of each, in order. */
export async function* someAtOnce<T, R>(
  all: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  for (let from = 0; from < all.length; from += atOnce)
    yield* await Promise.all(all.slice(from, from + atOnce).map(work));
}

/** The items in groups of at most so many, and at most so many bytes; an item that is larger is a group alone. */
export function inGroups<T>(
  items: readonly T[],
  max: { items?: number; bytes: number },
  sizeOf: (item: T) => number,
): T[][] {
  const groups: T[][] = [];
  let bytes = 0;
  for (const item of items) {
    const [size, last] = [sizeOf(item), groups.at(-1)];
    const isFull = last === undefined || last.length >= (max.items ?? Infinity) || bytes + size > max.bytes;
    if (isFull) groups.push([item]);
    else last.push(item);
    bytes = size + (isFull ? 0 : bytes);
  }
  return groups;
}

/** Hands out so many of all at a time, and lets others have their turn in between. */
export async function* inTurns<T>(all: readonly T[], atOnce: number): AsyncGenerator<T[]> {
  for (let from = 0; from < all.length; from += atOnce) {
    if (from > 0) await othersTurn();
    yield all.slice(from, from + atOnce);
  }
}

/**
 * Makes something costly once for everyone who asks within `milliseconds` of its start. `clock` is a
 * monotonic clock in milliseconds. A rejection is shared too.
 */
export function shareWalk<T>(milliseconds: number, clock: () => number, walk: () => Promise<T>): () => Promise<T> {
  let latest: { startedAt: number; answer: Promise<T> } | null = null;
  return () => {
    const now = clock();
    if (latest === null || now - latest.startedAt >= milliseconds) latest = { startedAt: now, answer: walk() };
    return latest.answer;
  };
}
