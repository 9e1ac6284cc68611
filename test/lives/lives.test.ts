import { expect, test } from 'vitest';
import { live, shrink } from './live.ts';
import { isThorough } from '../thorough.ts';

const seeds = Array.from({ length: 20 }, (_, at) => at + 1);
const steps = Array.from({ length: isThorough ? 300 : 100 }, (_, at) => at);

test.for(seeds)('life %i is as the documentation promises', async (seed) => {
  const lived = await live(seed, steps);
  const { taken, said, faults } = lived.faults.length === 0 ? lived : await shrink(lived);
  const repeat = `node scripts/life.ts --seed ${seed} --steps ${taken.join(',')}`;
  expect(faults, `${said.join('\n')}\n${repeat}`).toEqual([]);
  // Most steps apply, or the life is none.
  expect(taken.length).toBeGreaterThan(steps.length / 3);
});
