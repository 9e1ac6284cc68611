/** Milliseconds by which the clocks of processes that share a store may differ. */
const skew = 60_000;

/**
 * When work that was put off until `at` (ISO 8601) is due: milliseconds since 1970. `longest`: the
 * most milliseconds that it is ever put off by. A time further ahead comes from before the clock
 * was set back. The work is then due now.
 */
export function dueAt(at: string, now: number, longest: number): number {
  const due = Date.parse(at);
  return due - now > longest + skew ? now : due;
}
