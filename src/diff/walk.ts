import type { Change, ChangeRules } from '../model/comparison.ts';
import { createSame, type Same } from './same.ts';
import type { Side } from './side.ts';

/** A change before it knows the operations that it reaches. */
export interface Fact extends Omit<Change, 'operations' | 'reach'> {
  /** What it does to the set of valid values. Absent: nothing. */
  effect?: Effect;
}

/** What a change does to the set of valid values. `changes`: some are refused, others are new. */
export type Effect = 'narrows' | 'widens' | 'changes' | 'unknown';

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
  rules: ChangeRules;
  /** Whether two values are equal, with everything that they refer to. */
  same: Same;
  /**
   * Adds a pair below a unit. `run` finds its changes, once per key. It runs later, so that a long
   * chain of references needs no deep stack.
   */
  below(parent: Unit, key: string, run: (unit: Unit) => void): Unit;
  /** Runs something when all pairs were compared: it may ask what changed below a unit. */
  later(run: (mayDo: (effect: 'narrows' | 'widens', unit: Unit) => boolean) => void): void;
  /** Counts steps. Throws `TooMuch` when there were too many. */
  spend(steps: number): void;
  /** Finds the changes of all pairs. */
  finish(): void;
}

/** The documents are too large, or refer to themselves too often, to be compared. */
export class TooMuch extends Error {}

/** Some ten times what the largest known documents need. */
const maxSteps = 1_000_000;
const maxFacts = 20_000;

export function createWalk(before: Side, after: Side, rules: ChangeRules): Walk {
  const units = new Map<string, Unit>();
  const queue: (() => void)[] = [];
  const last: Parameters<Walk['later']>[0][] = [];
  let steps = 0;
  let facts = 0;
  const spend = (more: number) => {
    steps += more;
    if (steps > maxSteps) throw new TooMuch('The documents are too large to be compared.');
  };
  return {
    before,
    after,
    rules,
    same: createSame(before, after, spend),
    spend,
    below(parent, key, run) {
      const existing = units.get(key);
      const unit = existing ?? { facts: [], children: [] };
      parent.children.push(unit);
      if (existing !== undefined) return unit;
      units.set(key, unit);
      queue.push(() => {
        run(unit);
        spend(10);
        facts += unit.facts.length;
        if (facts > maxFacts) throw new TooMuch(`The documents differ in more than ${maxFacts} places.`);
      });
      return unit;
    },
    later(run) {
      last.push(run);
    },
    finish() {
      for (let at = 0; at < queue.length; at++) queue[at]!();
      if (last.length === 0) return;
      const all = [...units.values()];
      const having = (effect: Effect) =>
        unitsReaching(all, (fact) => [effect, 'changes', 'unknown'].includes(fact.effect ?? ''));
      const reaching = { narrows: having('narrows'), widens: having('widens') };
      for (const run of last) run((effect, unit) => reaching[effect].has(unit));
    },
  };
}

/** The units that have a fact of a kind, or from which one that has it can be reached. */
export function unitsReaching(roots: readonly Unit[], isMeant: (fact: Fact) => boolean): Set<Unit> {
  const parents = new Map<Unit, Unit[]>();
  const seen = new Set(roots);
  const stack = [...roots];
  const hot: Unit[] = [];
  for (let unit = stack.pop(); unit !== undefined; unit = stack.pop()) {
    if (unit.facts.some(isMeant)) hot.push(unit);
    for (const child of unit.children) {
      const list = parents.get(child);
      if (list) list.push(unit);
      else parents.set(child, [unit]);
      if (!seen.has(child)) stack.push((seen.add(child), child));
    }
  }
  const all = new Set(hot);
  for (let unit = hot.pop(); unit !== undefined; unit = hot.pop())
    for (const parent of parents.get(unit) ?? []) if (!all.has(parent)) hot.push((all.add(parent), parent));
  return all;
}
