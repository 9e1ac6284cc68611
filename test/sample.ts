/** Every so-manieth of them, counted from `from`. */
export function sampleOf<T>(all: readonly T[], every: number, from = 0): readonly T[] {
  return all.filter((_, at) => at % every === from % every);
}

/** How many times as many cases a test draws as usual: `scripts/properties.ts --times 50`. */
export const timesAsMany = Number(process.env['STELE_TEST_TIMES'] ?? 1);
