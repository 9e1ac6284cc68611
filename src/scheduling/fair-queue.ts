import PQueue from 'p-queue';

/** Work that waits for a place, of several owners. */
export interface FairQueue {
  /** Runs the work when its turn comes. When the signal aborts before, it rejects with its reason, and the work never begins. */
  add<T>(owner: string, work: () => Promise<T>, signal: AbortSignal): Promise<T>;
  /** Resolves when nothing runs or waits. */
  onIdle(): Promise<void>;
}

/**
 * Gives the places to the owners in turn, however much one of them has waiting (start-time fair queueing): the work of an owner is numbered
 * one after the other from where the queue stands, and the lowest number goes first. Nobody waits for ever.
 */
export function createFairQueue(concurrency: number): FairQueue {
  const queue = new PQueue({ concurrency });
  const last = new Map<string, number>();
  let reached = 0;
  return {
    async add(owner, work, signal) {
      const number = Math.max(reached, (last.get(owner) ?? -1) + 1);
      last.set(owner, number);
      const begin = () => {
        reached = Math.max(reached, number);
        return work();
      };
      try {
        return await queue.add(begin, { signal, priority: -number });
      } finally {
        if (last.get(owner) === number) last.delete(owner);
      }
    },
    onIdle: () => queue.onIdle(),
  };
}
