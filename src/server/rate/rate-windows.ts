import type { Store } from 'express-rate-limit';
import type { Count } from './counts.ts';

/** Counts requests for `express-rate-limit`. Counts are never decremented. */
export function createRateWindows(count: Count): Store {
  return {
    localKeys: true,
    increment(key) {
      const { uses, milliseconds } = count(key);
      return { totalHits: uses, resetTime: new Date(Date.now() + milliseconds) };
    },
    decrement: unsupported,
    resetKey: unsupported,
  };
}

function unsupported(): never {
  throw new Error('Requests that were counted stay counted.');
}
