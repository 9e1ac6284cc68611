import type { Change, ChangeRules } from '../model/comparison.ts';
import { type Side, childrenOf, referenceOf, targetOf } from './side.ts';
import type { JsonObject } from '../model/json.ts';
import { eachNode } from '../model/pointer.ts';
import { objectOf, textOf } from '../render/json-value.ts';

/** A change before it knows the operations that it reaches. */
export interface Fact extends Omit<Change, 'operations' | 'reach'> {
  /** What it does to the set of valid values. Absent: nothing. */
  effect?: Effect;
  /** What says under which condition it counts, before and after, besides the values at its places. */
  decidedBy?: (() => readonly unknown[]) | undefined;
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
  /** The pairs of schemas of `not`: their changes do the opposite. */
  excluded: Unit[];
}

/** What both documents have. */
export type Both<Thing> = readonly [before: Thing, after: Thing];

/** One comparison at work. */
export type Walk = ReturnType<typeof createWalk>;

/** Whether what changed below a unit may have an effect. `unknown`: whether something cannot be judged. */
export type MayDo = (effect: 'narrows' | 'widens' | 'unknown', unit: Unit) => boolean;

/** The documents are too large, or refer to themselves too often, to be compared. */
export class TooMuch extends Error {}

/** Some ten times what the largest known documents need. */
const maxSteps = 1_000_000;
const maxFacts = 20_000;

/** `told`: as in `Published`; null: it cannot be read. */
export function createWalk(before: Side, after: Side, rules: ChangeRules, told?: Side | null) {
  const units = new Map<string, Unit>();
  const queue: (() => void)[] = [];
  const last: ((mayDo: MayDo) => void)[] = [];
  let steps = 0;
  let facts = 0;
  /** Counts steps. Throws `TooMuch` when there were too many. */
  const spend = (more: number): void => {
    steps += more;
    if (steps > maxSteps) throw new TooMuch('The documents are too large to be compared.');
  };
  return {
    before,
    after,
    rules,
    told,
    /** Whether two values are equal, with everything that they refer to. */
    same: createSame(before, after, spend),
    spend,
    /**
     * Adds a pair below a unit. `run` finds its changes, once per key. It runs later, so that a long
     * chain of references needs no deep stack.
     */
    below(parent: Unit, key: string, run: (unit: Unit) => void): Unit {
      const existing = units.get(key);
      const unit = existing ?? createUnit();
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
    /** Runs something when all pairs were compared, and after what such runs before it reported: it may ask what changed below a unit. */
    later(run: (mayDo: MayDo) => void): void {
      last.push(run);
    },
    finish(): void {
      for (let at = 0; at < queue.length; at++) queue[at]!();
      while (last.length > 0) {
        const all = [...units.values()];
        const having = (effect: Effect, opposite: Effect) =>
          unitsReaching(all, ({ effect: has = 'unset' }, isExcluded) =>
            [isExcluded ? opposite : effect, 'changes', 'unknown'].includes(has),
          );
        const unknown = unitsReaching(all, ({ effect }) => effect === 'unknown');
        const reaching = { narrows: having('narrows', 'widens'), widens: having('widens', 'narrows'), unknown };
        for (const run of last.splice(0)) run((effect, unit) => reaching[effect].has(unit));
      }
    },
  };
}

/** What a thing is known by. Two that share one of these keys are the same. */
export type KeysOf<Thing> = (side: Side, thing: Thing) => string[];

/** Pairs things of both documents by the first kind of key that they share: those of the new one in order, then what is gone. */
export function pairBy<Thing>(
  { before, after, spend }: Walk,
  old: readonly Thing[],
  current: readonly Thing[],
  kinds: readonly KeysOf<Thing>[],
): { before: Thing | null; after: Thing | null }[] {
  const left = new Set(old);
  const partners = new Map<Thing, Thing>();
  for (const keysOf of kinds) {
    const byKey = new Map<string, Thing[]>();
    const spent = (keys: readonly string[]) => (spend(keys.length), keys);
    for (const thing of left)
      for (const key of spent(keysOf(before, thing))) byKey.getOrInsertComputed(key, () => []).push(thing);
    for (const thing of byKey.size === 0 ? [] : current) {
      if (partners.has(thing)) continue;
      const keys = spent(keysOf(after, thing));
      const partner = keys.flatMap((key) => byKey.get(key) ?? []).find((one) => left.has(one));
      if (partner !== undefined && left.delete(partner)) partners.set(thing, partner);
    }
  }
  return [
    ...current.map((thing) => ({ before: partners.get(thing) ?? null, after: thing })),
    ...[...left].map((thing) => ({ before: thing, after: null })),
  ];
}

export function createUnit(): Unit {
  return { facts: [], children: [], excluded: [] };
}

/** A unit, and whether it is reached as what `not` excludes. */
type Reached = readonly [unit: Unit, isExcluded: boolean];

/** The units that have a fact of a kind, or from which one that has it can be reached. */
export function unitsReaching(
  roots: readonly Unit[],
  isMeant: (fact: Fact, isExcluded: boolean) => boolean,
): ReadonlySet<Unit> {
  const parents = [new Map<Unit, Reached[]>(), new Map<Unit, Reached[]>()] as const;
  const seen = [new Set(roots), new Set<Unit>()] as const;
  const stack: Reached[] = roots.map((unit) => [unit, false]);
  const hot: Reached[] = [];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const [unit, isExcluded] = next;
    if (unit.facts.some((fact) => isMeant(fact, isExcluded))) hot.push(next);
    const below: Reached[] = [
      ...unit.children.map((child): Reached => [child, isExcluded]),
      ...unit.excluded.map((child): Reached => [child, !isExcluded]),
    ];
    for (const [child, at] of below) {
      parents[Number(at)]!.getOrInsertComputed(child, () => []).push(next);
      if (!seen[Number(at)]!.has(child)) stack.push((seen[Number(at)]!.add(child), [child, at]));
    }
  }
  const all = [new Set<Unit>(), new Set<Unit>()] as const;
  for (let next = hot.pop(); next !== undefined; next = hot.pop()) {
    const [unit, isExcluded] = next;
    if (all[Number(isExcluded)]!.has(unit)) continue;
    all[Number(isExcluded)]!.add(unit);
    hot.push(...(parents[Number(isExcluded)]!.get(unit) ?? []));
  }
  return all[0]!;
}

/** All facts of a unit and below it. */
export function factsBelow({ spend }: Walk, unit: Unit): Fact[] {
  const seen = new Set([unit]);
  for (const { children } of seen) for (const child of children) seen.add(child);
  spend(seen.size);
  return [...seen].flatMap(({ facts }) => facts);
}

/**
 * Finds what need not be compared: most of two versions is the same. The targets of references are
 * looked at once. Documents of different dialects are never the same.
 */
function createSame(before: Side, after: Side, spend: (steps: number) => void) {
  /** By reference: whether its targets, and all that they refer to, are equal. */
  const settled = new Map<string, boolean>();

  function settle(reference: string): void {
    const users = new Map<string, string[]>();
    const differing: string[] = [];
    const references = [reference];
    const seen = new Set(references);
    for (let name = references.pop(); name !== undefined; name = references.pop()) {
      const [old, current] = [targetOf(before, name), targetOf(after, name)];
      // Nobody can follow a reference that leads to nothing in both.
      const within = old === current ? new Set<string>() : old && current && equal(old.value, current.value, spend);
      if (!within) differing.push(name);
      // A discriminator reaches the schemas that are made of this one.
      const made = [...childrenOf(before, old), ...childrenOf(after, current)].map(({ pointer }) => `#${pointer}`);
      for (const used of within ? [...within, ...made] : []) {
        if (settled.get(used) === false) differing.push(name);
        else if (!settled.has(used)) users.getOrInsertComputed(used, () => []).push(name);
        if (seen.has(used) || settled.has(used)) continue;
        seen.add(used);
        references.push(used);
      }
    }
    for (const name of seen) settled.set(name, true);
    for (let name = differing.pop(); name !== undefined; name = differing.pop()) {
      if (settled.get(name) === false) continue;
      settled.set(name, false);
      differing.push(...(users.get(name) ?? []));
    }
  }

  return (one: unknown, other: unknown): boolean => {
    if (before.dialect.name !== after.dialect.name) return false;
    const references = equal(one, other, spend);
    if (references === null) return false;
    for (const reference of references) {
      if (!settled.has(reference)) settle(reference);
      if (settled.get(reference) !== true) return false;
    }
    return true;
  };
}

/** The references in two equal values. Null if they differ. No document is nested too deep for it. */
function equal(before: unknown, after: unknown, spend: (steps: number) => void): Set<string> | null {
  const references = new Set<string>();
  let steps = 1;
  const isEqual = areEqual(before, after);
  spend(steps / 4);
  return isEqual ? references : null;

  function areEqual(one: unknown, other: unknown): boolean {
    steps++;
    if (one === other) return true;
    if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
    if (Array.isArray(one) || Array.isArray(other)) {
      if (!Array.isArray(one) || !Array.isArray(other) || one.length !== other.length) return false;
      return one.every((item, at) => areEqual(item, other[at]));
    }
    return areObjectsEqual(one as JsonObject, other as JsonObject);
  }

  function areObjectsEqual(one: JsonObject, other: JsonObject): boolean {
    let left = 0;
    for (const key in other) if (Object.hasOwn(other, key)) left++;
    for (const key in one) {
      if (!Object.hasOwn(one, key)) continue;
      if (!Object.hasOwn(other, key) || !areEqual(one[key], other[key])) return false;
      left--;
      for (const reference of referencesAt(one, key)) references.add(reference);
    }
    return left === 0;
  }
}

/** The references that a member of an object is, or has in a `discriminator`. */
export function referencesAt(value: JsonObject, key: string): string[] {
  if (key === 'discriminator') {
    const { mapping, defaultMapping } = objectOf(value[key]);
    const targets = [...Object.values(objectOf(mapping)), defaultMapping].map(textOf).filter((target) => target !== '');
    return targets.map((target) => (/^[\w.-]+$/.test(target) ? `#/components/schemas/${target}` : target));
  }
  const isReference = key === '$ref' || key === '$dynamicRef' || key === '$recursiveRef';
  return isReference && typeof value[key] === 'string' ? [referenceOf(value)] : [];
}

/** The references in a value. */
export function referencesIn(value: unknown): Set<string> {
  const references = new Set<string>();
  eachNode(value, (node) => {
    for (const key in node) for (const reference of referencesAt(node, key)) references.add(reference);
  });
  return references;
}
