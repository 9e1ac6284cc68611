import { afterAll, expect, test } from 'vitest';
import { live, shrink } from './live.ts';

/** A test for the life of each seed, which takes those of so many steps that apply. */
export function expectLives(seeds: readonly number[], length: number): void {
  const steps = Array.from({ length }, (_, at) => at);
  let taken = 0;

  test.for(seeds)('life %i is as the documentation promises', async (seed) => {
    const first = await live(seed, steps);
    taken += first.taken.length;
    const lived = first.faults.length === 0 ? first : await shrink(first);
    const repeat = `node scripts/life.ts --seed ${seed} --steps ${lived.taken.join(',')}`;
    expect(lived.faults, `${lived.said.join('\n')}\n${repeat}`).toEqual([]);
  });

  // Many steps apply, in all lives together: a short life may have few.
  afterAll(() => expect(taken).toBeGreaterThan((seeds.length * length) / 4));
}
