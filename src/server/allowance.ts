/** What remains of a limit in the current window. */
export interface Left {
  /** Negative if the limit was exceeded. */
  remaining: number;
  /** Whole seconds until the window ends, at least 1. */
  seconds: number;
}

const mostNames = 100_000;

/** Counts one use for the name and returns what remains. */
export type Allowance = (name: string) => Left;

/**
 * Allows `limit` uses for each name in each window of `window` seconds. Names of past windows are
 * forgotten, and all names if there are too many.
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
