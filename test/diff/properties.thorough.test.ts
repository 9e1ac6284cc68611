import { expect, test } from 'vitest';
import type { Direction } from '../../src/model/comparison.ts';
import { timesAsMany } from '../sample.ts';
import { instancesFor } from './schema-instances.ts';
import { oracleOf } from './schema-oracle.ts';
import { type Pair } from './schema-pairs.ts';
import { forPairs, witness } from './properties-world.ts';

/**
 * Why a change is called breaking although no value shows it. A schema allows nothing at all, because keywords of it
 * contradict each other (such as `contains` and `items`): what it says is compared nevertheless, since an author who
 * writes that means something else. `other`: mostly alternatives that allow the same values.
 */
function reasonOf(pair: Pair, direction: Direction): 'nothing is valid' | 'other' {
  const from = oracleOf(direction === 'response' ? pair.after : pair.before);
  const isEmpty = !instancesFor(pair).some((value) => value !== null && from.accepts(value));
  return isEmpty ? 'nothing is valid' : 'other';
}

/** The definitions of a JSON Schema are compared on their own, too. */
function breaks(pair: Pair, direction: Direction): boolean {
  if (witness(pair, direction, 'accepts') !== undefined) return true;
  const both = Object.keys(direction === 'both' ? pair.before.defs : {}).filter((name) => pair.after.defs[name]);
  return both.some((name) => {
    const [before, after] = [pair.before, pair.after].map(({ defs }) => ({ root: defs[name]!, defs }));
    return witness({ before: before!, after: after! }, direction, 'accepts') !== undefined;
  });
}

test.each([
  ['unions of types and values', { untrue: 0.03, other: 0.03, unknown: 0.04 }],
  ['flat schemas', { untrue: 0.06, other: 0.05, unknown: 0.04 }],
  ['deep schemas', { untrue: 0.16, other: 0.1, unknown: 0.05 }],
  ['exclusions and conditions', { untrue: 0.17, other: 0.17, unknown: 0.05 }],
] as const)(
  'nearly every change of %s that is called breaking breaks some value, and few cannot be judged',
  (name, most) => {
    const counts = { all: 0, unknown: 0, breaking: 0, 'nothing is valid': 0, other: 0 };
    forPairs(
      name,
      (pair, direction, { verdict }) => {
        counts.all++;
        if (verdict === 'unknown') counts.unknown++;
        if (verdict !== 'breaking') return;
        counts.breaking++;
        if (!breaks(pair, direction)) counts[reasonOf(pair, direction)]++;
      },
      3,
    );
    if (timesAsMany > 1) console.log(name, counts);
    expect((counts.other + counts['nothing is valid']) / counts.breaking).toBeLessThan(most.untrue);
    expect(counts.other / counts.breaking).toBeLessThan(most.other);
    expect(counts.unknown / counts.all).toBeLessThan(most.unknown);
  },
);
