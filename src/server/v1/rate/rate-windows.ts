import type { Store } from 'express-rate-limit';

/**
 * Counts requests in windows that are the same for all clients. Uses the monotonic clock, so that
 * setting the wall clock back blocks nobody.
 */
export function createRateWindows(window: number, monotonic: () => number): Store {
  let hits = new Map<string, number>();
  let endsAt = 0;
  function renew(): void {
    if (monotonic() < endsAt) return;
    hits = new Map();
    endsAt = monotonic() + window;
  }
  return {
    localKeys: true,
    increment(key) {
      renew();
      const totalHits = (hits.get(key) ?? 0) + 1;
      hits.set(key, totalHits);
      return { totalHits, resetTime: new Date(Date.now() + endsAt - monotonic()) };
    },
    decrement(key) {
      renew();
      hits.set(key, Math.max(0, (hits.get(key) ?? 0) - 1));
    },
    resetKey: (key) => void hits.delete(key),
  };
}
