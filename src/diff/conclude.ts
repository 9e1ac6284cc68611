import type { Digest } from '../model/digest.ts';
import type { JsonObject } from '../model/json.ts';
import {
  maxChanges,
  maxOperations,
  noCounts,
  verdicts,
  worstOf,
  type Change,
  type ChangeRules,
  type Comparison,
} from '../model/comparison.ts';
import { createPathGlob } from '../model/glob.ts';
import { followPointer, outwards } from '../model/pointer.ts';
import { digestOfValue } from '../render/json-value.ts';
import type { ComparedApis } from './api/compare-apis.ts';
import { targetOf, type Side } from './side.ts';
import { referencesIn, unitsReaching, type Fact, type Unit, type Walk } from './walk.ts';

/** A change, and the operations that it reaches by their numbers. */
interface FactGroup {
  fact: Fact;
  /** Of each place where it was found. */
  decidedBy: Set<Fact['decidedBy']>;
  order: number;
  operations: Set<number>;
}

/** Steps from operations to what changed. More would take seconds; the rest is not named then. */
const maxSteps = 5_000_000;
/** Names of operations in one comparison. */
const maxNames = 50_000;

/** Puts the changes together: each once, with all operations that it reaches, the worst first. */
export function conclude({ walk, root, operations }: ComparedApis): Comparison {
  const groups = new Map<string, FactGroup>();
  const withRules = createRules(walk.rules);
  const collect = (unit: Unit, operation: number | null) => {
    for (const written of unit.facts) {
      const fact = withRules(written);
      const { verdict, code, pointers, direction, before, after, message } = fact;
      // The same change may be harmless where another alternative allows all values.
      const key = [verdict, code, pointers.before, pointers.after, direction, before, after, message].join('\n');
      const group = groups.get(key) ?? { fact, decidedBy: new Set(), order: groups.size, operations: new Set() };
      groups.set(key, group);
      group.decidedBy.add(fact.decidedBy);
      if (operation !== null) group.operations.add(operation);
    }
  };
  const hot = unitsReaching([root, ...operations.map(({ unit }) => unit)], () => true);
  let steps = 0;
  [{ unit: root }, ...operations].forEach(({ unit }, at) => {
    const seen = new Set([unit]);
    const stack = [unit];
    for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
      collect(next, at === 0 ? null : at - 1);
      if (++steps > maxSteps) return;
      for (const child of next.children.toReversed())
        if (hot.has(child) && !seen.has(child)) stack.push((seen.add(child), child));
    }
  });
  const counts = noCounts();
  for (const { fact } of groups.values()) counts[fact.verdict]++;
  const rank = ({ fact }: FactGroup) => verdicts.indexOf(fact.verdict);
  const first = ({ operations: [reached = Number.MAX_SAFE_INTEGER] }: FactGroup) => reached;
  const sorted = [...groups.values()].sort(
    (a, b) => rank(a) - rank(b) || first(a) - first(b) || compareTexts(a.fact, b.fact) || a.order - b.order,
  );
  const fingerprintOf = walk.rules.fingerprints ? createFingerprints(walk) : null;
  const namesOf = (all: Iterable<number>) => [...all].map((at) => operations[at]!.name);
  let left = maxNames;
  const changes = sorted.slice(0, maxChanges).map(({ fact, decidedBy, operations: reached }): Change => {
    const names = [...reached].sort((a, b) => a - b).slice(0, Math.min(maxOperations, left));
    left -= names.length;
    const pointers = {
      before: existing(walk.before.document, fact.pointers.before),
      after: existing(walk.after.document, fact.pointers.after),
    };
    const { verdict, usually, code, message, before, after, direction } = fact;
    const change = { verdict, ...(usually && { usually }), code, message, before, after, pointers, direction };
    // Where not all operations were followed, the change stands for both documents.
    const cut = steps > maxSteps ? { pointers: { before: null, after: null } } : {};
    const isBreak = verdict === 'breaking' || verdict === 'unknown';
    return {
      ...change,
      operations: namesOf(names),
      reach: reached.size,
      ...(isBreak &&
        fingerprintOf && { fingerprint: fingerprintOf({ ...fact, ...cut }, [...decidedBy], namesOf(reached)) }),
    };
  });
  return { verdict: worstOf(counts), counts, changes, truncated: sorted.length > maxChanges, reason: null };
}

/** Gives facts the verdicts that the organization set, and says so. */
function createRules({ rules = {} }: ChangeRules): (fact: Fact) => Fact {
  const set = Object.entries(rules).map(([code, verdict]) => ({ matches: createPathGlob(code), verdict }));
  return (fact) => {
    const verdict = set.findLast(({ matches }) => matches(fact.code) !== null)?.verdict ?? fact.verdict;
    if (verdict === fact.verdict) return fact;
    const says = `The organization's rules say ${verdict}; it is usually ${fact.verdict}.`;
    return { ...fact, verdict, usually: fact.verdict, message: `${fact.message} ${says}` };
  };
}

function compareTexts(a: Fact, b: Fact): number {
  const text = ({ pointers, code, message }: Fact) => `${pointers.after ?? pointers.before ?? ''}\n${code}\n${message}`;
  const [one, other] = [text(a), text(b)];
  return one < other ? -1 : one > other ? 1 : 0;
}

/** The pointer, or that of the nearest place around it which is there. */
function existing(document: JsonObject, pointer: string | null): string | null {
  return pointer && outwards(pointer).find((at) => followPointer(document, at) !== undefined)!;
}

/**
 * Makes fingerprints of the changes between two documents, with the operations that each reaches. Values count with all
 * that they refer to. What has no place stands for both documents.
 */
function createFingerprints({
  before,
  after,
  spend,
}: Walk): (fact: Fact, decidedBy: readonly Fact['decidedBy'][], reached: string[]) => Digest {
  const known = new Map<unknown, { digest: Digest; references: ReadonlySet<string> }>();
  const read = (asked: unknown) =>
    known.getOrInsertComputed(asked, (value) => ({ digest: digestOfValue(value), references: referencesIn(value) }));
  function digestIn(side: Side, value: unknown): Digest {
    const all = new Set(read(value).references);
    const targets: [string, Digest | null][] = [];
    for (const name of all) {
      const target = targetOf(side, name);
      const found = target && read(target.value);
      targets.push([name, found && found.digest]);
      for (const next of found?.references ?? []) all.add(next);
    }
    spend(all.size / 16);
    return digestOfValue([read(value).digest, ...targets.sort(([one], [other]) => (one < other ? -1 : 1))]);
  }
  function valueAt(side: Side, pointer: string | null): Digest | null {
    const value = pointer === null ? undefined : followPointer(side.document, pointer);
    return value === undefined ? null : digestIn(side, value);
  }
  return ({ code, pointers: at, direction }, decidedBy, reached) => {
    const pointers = at.before === null && at.after === null ? { before: '', after: '' } : at;
    const sides = [pointers.before, valueAt(before, pointers.before), pointers.after, valueAt(after, pointers.after)];
    const deciding = decidedBy.map((values) =>
      digestOfValue(values?.().map((value, index) => digestIn(index === 0 ? before : after, value))),
    );
    return digestOfValue([code, direction, ...sides, reached.sort(), [...new Set(deciding)].sort()]);
  };
}
