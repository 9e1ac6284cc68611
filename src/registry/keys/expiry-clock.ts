import type { Refs } from '../../store/refs.ts';
import type { Registry } from '../registry.ts';

/** Milliseconds that a clock may be behind without a word: small corrections are nothing to look after. */
const tolerance = 60_000;

/**
 * Creates `Registry.expiryTime`: the wall clock, and where that goes back, the time that it had
 * reached, continued by the monotonic clock. A clock that went back before this process began is behind
 * the newest entry of the logs: then it begins with the time of that.
 */
export function createExpiryClock({
  now,
  monotonic,
  log,
  refs,
}: Pick<Registry, 'now' | 'monotonic' | 'log'> & { refs: Pick<Refs, 'writtenUntil'> }): () => Date {
  let reached = now().getTime();
  let at = monotonic();
  let isTold = false;
  return () => {
    const wall = now().getTime();
    const passed = monotonic();
    const behind = Math.max(reached + (passed - at), refs.writtenUntil()) - wall;
    reached = wall + Math.max(0, behind);
    at = passed;
    if (behind > tolerance && !isTold) log('warn', 'clock set back', { seconds: Math.round(behind / 1000) });
    isTold = behind > tolerance;
    return new Date(reached);
  };
}
