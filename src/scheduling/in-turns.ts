import { setImmediate as othersTurn } from 'node:timers/promises';

/** Hands out so many of all at a time, and lets others have their turn in between. */
export async function* inTurns<T>(all: readonly T[], atOnce: number): AsyncGenerator<T[]> {
  for (let from = 0; from < all.length; from += atOnce) {
    if (from > 0) await othersTurn();
    yield all.slice(from, from + atOnce);
  }
}
