import fc from 'fast-check';
import { expect, test } from 'vitest';
import { timesAsMany } from '../sample.ts';
import { apiPairs } from './api-pairs.ts';
import { compare } from './given.ts';

test.each(Object.entries(apiPairs))('a change of %s breaks somebody if and only if that is said', (_, pairs) => {
  fc.assert(
    fc.property(pairs, ({ before, after, lost }) => {
      const { verdict, changes } = compare(before, after);
      const said = `${JSON.stringify(lost)}, ${verdict}: ${changes.map(({ message }) => message).join(' ')}`;
      if (lost === null) expect(['breaking', 'unknown'], said).not.toContain(verdict);
      else if (lost !== undefined) expect(['safe', 'docs', 'none'], said).not.toContain(verdict);
    }),
    { numRuns: 50 * timesAsMany },
  );
});
