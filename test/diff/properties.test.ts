import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Comparison, Direction } from '../../src/model/comparison.ts';
import { timesAsMany } from '../thorough.ts';
import { instancesFor, judged, oracleOf, type Dialect } from './schema-oracle.ts';
import { pairs, unions, type Pair } from './schema-pairs.ts';

const forms: readonly (readonly [Direction, Dialect, Dialect])[] = [
  ['request', '3.1', '3.1'],
  ['response', '3.1', '3.1'],
  ['request', '3.0', '3.0'],
  ['response', '3.0', '3.0'],
  ['request', '3.0', '3.1'],
  ['response', '3.0', '3.1'],
  ['both', '2020-12', '2020-12'],
  ['both', 'draft-07', 'draft-07'],
];

const families = {
  'unions of types and values': unions(),
  'flat schemas': pairs({ deep: false }),
  'deep schemas': pairs({ deep: true }),
};
const runs = 400 * timesAsMany;

/** Runs something for pairs of a family, each as documents of two dialects. */
function forPairs(
  name: keyof typeof families,
  run: (pair: Pair, direction: Direction, comparison: Comparison) => void,
) {
  fc.assert(
    fc.property(families[name], fc.nat(forms.length - 1), (pair, at) => {
      const [direction, ...dialects] = forms[at]!;
      const comparison = judged(pair, direction, dialects);
      if (comparison !== null) run(pair, direction, comparison);
    }),
    { numRuns: runs },
  );
}

/**
 * A value that was valid and is refused now, or the reverse in a response. Of the side that sends,
 * either all that is valid, or only what its schema describes: properties that it does not name may
 * get a meaning later, and that breaks nobody who kept to the schema.
 */
function witness(pair: Pair, direction: Direction, of: 'accepts' | 'describes'): unknown {
  const [old, current] = [oracleOf(pair.before), oracleOf(pair.after)];
  const isLost = (value: unknown) => direction !== 'response' && old[of](value) && !current.accepts(value);
  const isNew = (value: unknown) =>
    (direction === 'response' || (direction === 'both' && of === 'describes')) &&
    current[of](value) &&
    !old.accepts(value);
  return instancesFor(pair).find((value) => isLost(value) || isNew(value));
}

test.each(Object.keys(families) as (keyof typeof families)[])(
  'no change of %s is safe if a value was valid and is refused now, or the reverse in a response',
  (name) => {
    forPairs(name, (pair, direction, { verdict, changes }) => {
      if (!['safe', 'docs', 'none'].includes(verdict)) return;
      const said = changes.map(({ message }) => message).join(' ');
      expect(witness(pair, direction, 'describes'), `${direction}, ${verdict}: ${said}`).toBeUndefined();
    });
  },
);

test('nearly every change of unions that is called breaking breaks some value, and few cannot be judged', () => {
  const counts = { all: 0, unknown: 0, breaking: 0, untrue: 0 };
  forPairs('unions of types and values', (pair, direction, { verdict }) => {
    counts.all++;
    if (verdict === 'unknown') counts.unknown++;
    if (verdict !== 'breaking') return;
    counts.breaking++;
    if (witness(pair, direction, 'accepts') === undefined) counts.untrue++;
  });
  if (timesAsMany > 1) console.log(counts);
  expect(counts.untrue / counts.breaking).toBeLessThan(0.06);
  expect(counts.unknown / counts.all).toBeLessThan(0.05);
});
