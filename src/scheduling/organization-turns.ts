import PQueue from 'p-queue';
import { RegistryError } from '../model/errors.ts';

/**
 * Documents processed at once for one organization. More wait, so that no organization takes all
 * the memory or all compilers.
 */
const atOnce = 8;
/** Requests of one organization that may wait. */
const maxWaiting = 32;
/** Seconds before a rejected caller may retry. */
const retryAfter = 5;

/**
 * Limits how much work of one organization runs at once. Organizations do not wait for each other.
 */
export interface Turns {
  /** Rejects with `rate_limited` when too many requests of the organization are waiting. */
  take<T>(org: string, work: () => Promise<T>): Promise<T>;
}

export function createTurns(): Turns {
  const queues = new Map<string, PQueue>();
  return {
    async take(org, work) {
      const queue = queues.getOrInsertComputed(org, () => new PQueue({ concurrency: atOnce }));
      if (queue.size >= maxWaiting) {
        const message = `Your organization has ${queue.size} documents waiting to be published. Send fewer at once.`;
        throw new RegistryError('rate_limited', message, { retryAfter });
      }
      try {
        return await queue.add(work);
      } finally {
        if (queue.size === 0 && queue.pending === 0) queues.delete(org);
      }
    },
  };
}
