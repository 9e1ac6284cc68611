/** What is left to somebody in the running window. */
export interface Left {
  /** Negative once the limit is passed. */
  remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  seconds: number;
}

const mostNames = 100_000;

/** Counts one more for the name, and tells what is left. */
export type Allowance = (name: string) => Left;

/**
 * `limit` for each name in each window of `window` seconds. Names of windows past are forgotten, and all of
 * them when they are too many to remember.
 */
export function createAllowance(
  { limit, window }: { limit: number; window: number },
  monotonic: () => number,
): Allowance {
  let used = new Map<string, number>();
  let endsAt = 0;
  return (name) => {
    const time = monotonic();
    if (time >= endsAt || used.size >= mostNames) {
      used = new Map();
      endsAt = time + window * 1000;
    }
    const count = (used.get(name) ?? 0) + 1;
    used.set(name, count);
    return { remaining: limit - count, seconds: Math.max(1, Math.ceil((endsAt - time) / 1000)) };
  };
}
