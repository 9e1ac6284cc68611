import { expect, test } from 'vitest';
import { live, shrink } from './live.ts';
import { isEverything, isThorough } from '../thorough.ts';

// Short in every run; in CI some that are longer. A run of everything lives twenty long ones, and `scripts/life.ts` any others.
const seeds = Array.from({ length: isEverything ? 20 : 8 }, (_, at) => at + 1);
const steps = Array.from({ length: isEverything ? 300 : isThorough ? 200 : 60 }, (_, at) => at);

test.for(seeds)('life %i is as the documentation promises', async (seed) => {
  const lived = await live(seed, steps);
  const { taken, said, faults } = lived.faults.length === 0 ? lived : await shrink(lived);
  const repeat = `node scripts/life.ts --seed ${seed} --steps ${taken.join(',')}`;
  expect(faults, `${said.join('\n')}\n${repeat}`).toEqual([]);
  // Most steps apply, or the life is none.
  expect(taken.length).toBeGreaterThan(steps.length / 3);
});
