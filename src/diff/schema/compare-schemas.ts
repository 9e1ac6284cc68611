import type { Direction } from '../../model/comparison.ts';
import { compareArrays } from './compare-arrays.ts';
import { areBytes } from './compare-formats.ts';
import { compareLimits } from './compare-limits.ts';
import { compareObjects } from './compare-objects.ts';
import { compareOthers } from './compare-others.ts';
import { compareTexts } from './compare-texts.ts';
import { compareNull, compareTypes, haveType } from './compare-types.ts';
import { compareUnions, isWrapped, type CompareBranches } from './compare-unions.ts';
import { compareValues } from './compare-values.ts';
import { createPair, report, type Below, type Pair } from '../report.ts';
import { deref, keyOf, type Schema } from './schema-parts.ts';
import type { SchemaView } from './read-schema.ts';
import { childrenOf, type Place } from '../side.ts';
import type { Unit, Walk } from '../walk.ts';

/**
 * Compares two schemas, below a unit. A pair of schemas is compared once for each direction,
 * wherever it is used.
 */
export function compareSchemas(walk: Walk, parent: Unit, direction: Direction, before: Schema, after: Schema): void {
  compareBelow({ walk, unit: parent, direction, isBranch: false, isHarmless: false }, before, after);
}

/** Null: they are the same. */
function compareBelow(given: Parameters<typeof createPair>[0], before: Schema, after: Schema): Unit | null {
  const { walk, unit: parent, direction, isBranch, isHarmless } = given;
  const old = before.map((place) => deref(walk.before, place));
  const current = after.map((place) => deref(walk.after, place));
  if (old.length === current.length && old.every((place, at) => isSame(walk, place, current[at]!))) return null;
  const key = `${direction}${isBranch ? ' branch' : ''}${isHarmless ? ' harmless' : ''} ${keyOf(old)} | ${keyOf(current)}`;
  return walk.below(parent, key, (unit) => {
    const pair = createPair({ ...given, unit }, old, current);
    walk.spend(sizeOf(pair.before) + sizeOf(pair.after));
    const below = (one: Schema, other: Schema) => {
      compareBelow({ ...pair, isBranch: false }, one, other);
    };
    const branches: CompareBranches = (one, other, isMoot) =>
      compareBelow({ ...pair, isBranch: true, isHarmless: isHarmless || isMoot }, one, other);
    comparePair(pair, below, branches);
  });
}

function isSame(walk: Walk, before: Place, after: Place): boolean {
  if (!walk.same(before.value, after.value)) return false;
  if (childrenOf(walk.before, before).length + childrenOf(walk.after, after).length === 0) return true;
  const [old, current] = [before, after].map(({ pointer }) => ({ $ref: `#${pointer}` }));
  return walk.same(old, current);
}

/** How much there is to compare, in steps. */
function sizeOf({ flat, properties, required }: SchemaView): number {
  return 10 * (flat.parts.length + properties.size) + required.size;
}

function comparePair(pair: Pair, below: Below, branches: CompareBranches): void {
  const { before, after } = pair;
  if (areBytes(pair)) return compareTexts(pair);
  compareNull(pair);
  if (before.isNever && after.isNever) return;
  if (before.isNever !== after.isNever) return comparePossible(pair);
  compareReferences(pair);
  if (isWrapped(pair)) compareUnions(pair, below, branches);
  else if (compareTypes(pair)) {
    compareValues(pair);
    compareLimits(pair);
    if (haveType(pair, 'object')) compareObjects(pair, below);
    if (haveType(pair, 'array')) compareArrays(pair, below);
    compareUnions(pair, below, branches);
    compareOthers(pair, below);
  }
  compareTexts(pair);
}

/** Compares a schema that allows no value besides null with one that does. */
function comparePossible(pair: Pair): void {
  const isNarrower = pair.after.isNever;
  const isNull = (isNarrower ? pair.after : pair.before).allowsNull === true;
  if (isNarrower)
    report(pair, 'narrows', 'became-impossible', isNull ? 'allows only null' : 'no longer allows any value');
  else
    report(
      pair,
      'widens',
      'became-possible',
      `allows ${isNull ? 'other values; it allowed only null' : 'values; it allowed none'}`,
    );
}

/** References that lead to nothing can only be compared as they are written. */
function compareReferences(pair: Pair): void {
  const [old, current] = [pair.before.flat.unresolved.join(', '), pair.after.flat.unresolved.join(', ')];
  if (old === current) return;
  const says = `refers to ${current || 'nothing'} instead of ${old || 'nothing'}, which cannot be compared`;
  report(pair, 'unknown', 'reference-changed', says, { before: old || null, after: current || null });
}
