import fc from 'fast-check';
import { expect, test } from 'vitest';
import { timesAsMany } from '../sample.ts';
import { sharings, verdictsOf } from './shared-components.ts';

test('an operation is judged as if the other one, which uses the same component, were not there', () => {
  fc.assert(
    fc.property(sharings, (sharing) => {
      const { together, alone } = verdictsOf(sharing);
      expect(together).toEqual(alone);
    }),
    { numRuns: 15 * timesAsMany },
  );
});
