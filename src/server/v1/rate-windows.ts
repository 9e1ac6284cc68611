import type { Store } from 'express-rate-limit';

/**
 * What `rateLimit` counts in, one window after the other for everybody. By the monotonic clock: where the clock on the wall is set back, nobody
 * waits for it to catch up.
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
