import PQueue from 'p-queue';
import { RegistryError } from '../model/errors.ts';

/** Documents that are worked on at once for one organization: more wait, so that nobody takes all the memory or all the compilers. */
const atOnce = 8;
/** Requests of one organization that wait for that. */
const mostWaiting = 32;
/** Seconds after which whoever was turned away may ask again. */
const retryAfter = 5;

/** Lets the work of each organization go on a few at a time, and that of the others beside it. */
export interface Turns {
  /** Rejects with `rate_limited` where too much of the organization waits already. */
  take<T>(org: string, work: () => Promise<T>): Promise<T>;
}

export function createTurns(): Turns {
  const queues = new Map<string, PQueue>();
  return {
    async take(org, work) {
      const queue = queues.get(org) ?? new PQueue({ concurrency: atOnce });
      queues.set(org, queue);
      if (queue.size >= mostWaiting) {
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
