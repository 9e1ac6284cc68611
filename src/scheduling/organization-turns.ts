import PQueue from 'p-queue';

/** Documents that are worked on at once for one organization: more wait, so that nobody takes all the memory or all the compilers. */
const atOnce = 8;

/** Lets the work of each organization go on a few at a time, and that of the others beside it. */
export interface Turns {
  take<T>(org: string, work: () => Promise<T>): Promise<T>;
}

export function createTurns(): Turns {
  const queues = new Map<string, PQueue>();
  return {
    async take(org, work) {
      const queue = queues.get(org) ?? new PQueue({ concurrency: atOnce });
      queues.set(org, queue);
      try {
        return await queue.add(work);
      } finally {
        if (queue.size === 0 && queue.pending === 0) queues.delete(org);
      }
    },
  };
}
