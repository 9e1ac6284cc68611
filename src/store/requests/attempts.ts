import { setTimeout as sleep } from 'node:timers/promises';
import { failureOf } from './s3-errors.ts';

/** How long requests may take and how often they are tried. Times in milliseconds. */
export interface Patience {
  /** Time for one attempt; for a write, and another second for each megabyte. */
  timeout: number;
  attempts: number;
  /** Pause before the second attempt at most; it doubles with each further one. */
  pause: number;
  /** Time after which no further attempt begins. */
  total: number;
}

export const usualPatience: Patience = { timeout: 10_000, attempts: 5, pause: 100, total: 30_000 };

/**
 * Runs one attempt. The signal aborts it when `timeout` milliseconds have passed since it began or
 * since it last called `moved`.
 */
export async function within<T>(
  timeout: number,
  work: (signal: AbortSignal, moved: () => void) => Promise<T>,
): Promise<T> {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), timeout);
  try {
    return await work(abort.signal, () => void timer.refresh());
  } finally {
    clearTimeout(timer);
  }
}

/** Returns a function that waits before the next attempt; false if there is none. */
export function createTurns({ attempts, pause, total }: Patience): () => Promise<boolean> {
  const end = performance.now() + total;
  let attempt = 0;
  return async () => {
    // Full jitter, so that many writers do not come back at the same time.
    const wait = Math.random() * pause * 2 ** attempt;
    if (++attempt >= attempts || performance.now() + wait > end) return false;
    await sleep(wait);
    return true;
  };
}

/** Repeats idempotent work until it succeeds or a retry cannot help. */
export async function repeating<T>(patience: Patience, work: () => Promise<T>): Promise<T> {
  const next = createTurns(patience);
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const failure = failureOf(error);
      if (failure === 'absent' || failure === 'refused' || !(await next())) throw error;
    }
  }
}
