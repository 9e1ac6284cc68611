/**
 * How much a run does of what is many and alike. `npm test` takes a sample and must be quick. CI (`CI=true`) takes more,
 * and one of each family. `STELE_TESTS=all npm test` does everything, for a machine with half an hour. The place that leaves
 * something out says what.
 */
export const isEverything = process.env['STELE_TESTS'] === 'all';

/** Whether this run does at least what CI does. `docs/development.md` lists the tests that only CI runs. */
export const isThorough = isEverything || process.env['CI'] === 'true';

/** How many times as many cases a test draws as usual: `scripts/properties.ts --times 50`. */
export const timesAsMany = Number(process.env['STELE_TEST_TIMES'] ?? 1);

/** Ends the name of a long test that only CI runs, because a shorter one of the same behaviour runs everywhere. */
export const unlessThorough = isThorough ? '' : ' (skipped: it runs with CI=true)';

/** Every so-manieth, counted from `from`: all when everything is tested, and in CI every `inCi`-th. */
export function sampleOf<T>(all: readonly T[], every: number, from = 0, inCi = 1): readonly T[] {
  const step = isEverything ? 1 : isThorough ? inCi : every;
  return all.filter((_, at) => at % step === from % step);
}
