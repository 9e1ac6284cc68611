import type { Change } from '../model/comparison.ts';
import { createSame, type Same } from './same.ts';
import type { Side } from './side.ts';

/** A change before it knows the operations that it reaches. */
export type Fact = Omit<Change, 'operations' | 'reach'>;

/**
 * A pair of places that is compared once, however many operations refer to it: what changed between
 * the two, and the pairs below them.
 */
export interface Unit {
  facts: Fact[];
  children: Unit[];
}

/** One comparison at work. */
export interface Walk {
  before: Side;
  after: Side;
  /** Whether two values are equal, with everything that they refer to. */
  same: Same;
  /**
   * Adds a pair below a unit. `run` finds its changes, once per key. It runs later, so that a long
   * chain of references needs no deep stack.
   */
  below(parent: Unit, key: string, run: (unit: Unit) => void): void;
  /** Counts steps. Throws `TooMuch` when there were too many. */
  spend(steps: number): void;
  /** Finds the changes of all pairs. */
  finish(): void;
}

/** The documents are too large, or refer to themselves too often, to be compared. */
export class TooMuch extends Error {}

/** Some ten times what the largest known documents need. */
const mostSteps = 1_000_000;
const mostFacts = 20_000;

export function createWalk(before: Side, after: Side): Walk {
  const units = new Map<string, Unit>();
  const queue: (() => void)[] = [];
  let steps = 0;
  let facts = 0;
  const spend = (more: number) => {
    steps += more;
    if (steps > mostSteps) throw new TooMuch('The documents are too large to be compared.');
  };
  return {
    before,
    after,
    same: createSame(before, after, spend),
    spend,
    below(parent, key, run) {
      const known = units.get(key);
      const unit = known ?? { facts: [], children: [] };
      parent.children.push(unit);
      if (known !== undefined) return;
      units.set(key, unit);
      queue.push(() => {
        run(unit);
        spend(10);
        facts += unit.facts.length;
        if (facts > mostFacts) throw new TooMuch(`The documents differ in more than ${mostFacts} places.`);
      });
    },
    finish() {
      for (let at = 0; at < queue.length; at++) queue[at]!();
    },
  };
}
