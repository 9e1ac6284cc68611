import fc from 'fast-check';
import { type Comparison, type Direction } from '../../src/model/comparison.ts';
import { timesAsMany } from '../sample.ts';
import { anyKeywords } from './any-keywords.ts';
import { instancesFor } from './schema-instances.ts';
import { judged, oracleOf, type Dialect } from './schema-oracle.ts';
import { pairs, restrictions, unions, type Pair } from './schema-pairs.ts';

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

export const families = {
  'unions of types and values': unions(),
  'flat schemas': pairs({ deep: false }),
  'deep schemas': pairs({ deep: true }),
  'exclusions and conditions': restrictions(),
  'schemas with any keywords': anyKeywords(),
};

const runs = 200 * timesAsMany;

/** Runs something for pairs of a family, each as documents of two dialects. */
export function forPairs(
  name: keyof typeof families,
  run: (pair: Pair, direction: Direction, comparison: Comparison) => void,
  times = 1,
) {
  fc.assert(
    fc.property(families[name], fc.nat(forms.length - 1), (pair, at) => {
      const [direction, ...dialects] = forms[at]!;
      const comparison = judged(pair, direction, dialects);
      if (comparison !== null) run(pair, direction, comparison);
    }),
    // Those with any keywords are large.
    { numRuns: runs * times * (name === 'schemas with any keywords' ? 0.3 : 1) },
  );
}

/**
 * A value that was valid and is refused now, or the reverse in a response. Of the side that sends,
 * either all that is valid, or only what its schema describes: properties that it does not name may
 * get a meaning later, and that breaks nobody who kept to the schema.
 */
export function witness(pair: Pair, direction: Direction, of: 'accepts' | 'describes'): unknown {
  const [old, current] = [oracleOf(pair.before), oracleOf(pair.after)];
  const isLost = (value: unknown) => direction !== 'response' && !current.accepts(value) && old[of](value);
  const isNew = (value: unknown) =>
    (direction === 'response' || (direction === 'both' && of === 'describes')) &&
    !old.accepts(value) &&
    current[of](value);
  return instancesFor(pair).find((value) => isLost(value) || isNew(value));
}
