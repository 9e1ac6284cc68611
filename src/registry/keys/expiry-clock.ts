import type { Registry } from '../registry.ts';

/** Milliseconds that a clock may be behind without a word: small corrections are nothing to look after. */
const tolerance = 60_000;

/**
 * Creates `Registry.expiryTime`: the wall clock, and where that goes back, the time that it had
 * reached, continued by the monotonic clock.
 */
export function createExpiryClock({ now, monotonic, log }: Pick<Registry, 'now' | 'monotonic' | 'log'>): () => Date {
  let reached = now().getTime();
  let at = monotonic();
  let isTold = false;
  return () => {
    const wall = now().getTime();
    const passed = monotonic();
    const behind = reached + (passed - at) - wall;
    reached = wall + Math.max(0, behind);
    at = passed;
    if (behind > tolerance && !isTold) log('warn', 'clock set back', { seconds: Math.round(behind / 1000) });
    isTold = behind > tolerance;
    return new Date(reached);
  };
}
