/** Counts work, so that no ruleset takes longer than it may on any document. */
export interface Budget {
  /** Throws `TooMuchWork` when too much was spent. */
  spend(units: number): void;
}

/**
 * What matching a text costs in work. It takes some ten nanoseconds for a character; at worst, which
 * is counted where both are long, thirty for each step of the pattern as well.
 */
export function costOfMatch(length: number, steps: number): number {
  return length * steps > longMatch ? (length * steps) / 4 : 1 + (length >> 3);
}

/** At worst a second and a half. */
const longMatch = 50_000_000;

/** The error when a ruleset takes too much work. `rule`: one that was at work then. */
export class TooMuchWork extends Error {
  rule = '';
}

/**
 * The most work for one document: members looked at, filters tried, checks made and texts matched.
 * It takes some five seconds. A count and not a time, so that a report is the same on every machine.
 */
const maxWork = 40_000_000;

export function createBudget(limit = maxWork): Budget {
  let left = limit;
  return {
    spend(units) {
      left -= units;
      if (left < 0) throw new TooMuchWork();
    },
  };
}
