import { expect, test } from 'vitest';
import { families, forPairs, witness } from './properties-world.ts';

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
