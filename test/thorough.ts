/**
 * Whether this run does everything, as CI does. `npm test` alone takes fewer of what is many and alike, so that it is quick;
 * the place that does so says what it leaves out. Of whole files, CI alone runs those of the packed program and of Ceph.
 */
export const isThorough = process.env['CI'] === 'true';

/** All of them in a thorough run; else every so-manieth, counted from `from`. */
export function sampleOf<T>(all: readonly T[], every: number, from = 0): readonly T[] {
  return isThorough ? all : all.filter((_, at) => at % every === from % every);
}
