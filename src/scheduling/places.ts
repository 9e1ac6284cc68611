import PQueue from 'p-queue';

/** Queues by name, which do not wait for each other. Each runs its work in the order of the calls, so many at once. */
export function createQueues(atOnce: number) {
  const queues = new Map<string, PQueue>();
  return {
    async add<T>(name: string, work: () => Promise<T>): Promise<T> {
      const queue = queues.getOrInsertComputed(name, () => new PQueue({ concurrency: atOnce }));
      try {
        return await queue.add(work);
      } finally {
        if (queue.size === 0 && queue.pending === 0 && queues.get(name) === queue) queues.delete(name);
      }
    },
    waiting: (name: string) => queues.get(name)?.size ?? 0,
    onIdle: async () => void (await Promise.all([...queues.values()].map((queue) => queue.onIdle()))),
  };
}

/** See `createPlaces`. */
export type Places = ReturnType<typeof createPlaces>;

/**
 * Slots for the background work of many organizations. One has at most half of them, so its slow
 * work cannot stop the others.
 * `patience`: milliseconds after which work gives its slot back and goes on in one of twice as many
 * slots for slow work, if one is free. So a few remotes that never answer do not hold up the other
 * work of their organization. Null: work keeps its slot.
 */
export function createPlaces(count: number, { patience = null }: { patience?: number | null } = {}) {
  const quick = createShared(count);
  const slow = createShared(2 * count);
  let running = 0;

  /** Resolves when the work need not keep its slot any longer. */
  async function untilEndOrSlow(org: string, ended: Promise<void>): Promise<void> {
    if (patience === null) return ended;
    const moved = Promise.withResolvers<void>();
    const timer = setTimeout(() => {
      slow
        .add(org, () => {
          moved.resolve();
          return ended;
        })
        .catch(moved.reject);
    }, patience);
    await Promise.race([ended, moved.promise]);
    clearTimeout(timer);
  }

  return {
    async take<T>(org: string, work: () => Promise<T>): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>();
      await quick.add(org, () => {
        running++;
        const ended = work()
          .then(resolve, reject)
          .finally(() => running--);
        return untilEndOrSlow(org, ended);
      });
      return promise;
    },
    running: () => running,
    async onIdle(): Promise<void> {
      await quick.onIdle();
      await slow.onIdle();
    },
  };
}

/** Slots of which one organization has at most half. */
function createShared(count: number) {
  const all = new PQueue({ concurrency: count });
  const shares = createQueues(Math.ceil(count / 2));
  return {
    add: (org: string, work: () => Promise<void>) => shares.add(org, () => all.add(work)),
    async onIdle(): Promise<void> {
      await shares.onIdle();
      await all.onIdle();
    },
  };
}

/** Requests of one organization, and of all, that may stay open while they wait. */
const [ofOrganization, ofAll] = [32, 256];

/**
 * Places for requests that stay open while they wait: of one asker, of one organization, and of all.
 * No organization can take those of the others.
 */
export function createWaitingPlaces(ofOne: number) {
  const counts = new Map<string, number>();
  const count = (name: string): number => counts.get(name) ?? 0;
  return {
    /** Takes a place. Returns a function that gives it back; null: there is none. */
    take(org: string, asker: string): (() => void) | null {
      const limits = Object.entries({ all: ofAll, [`organization ${org}`]: ofOrganization, [`asker ${asker}`]: ofOne });
      if (limits.some(([name, limit]) => count(name) >= limit)) return null;
      for (const [name] of limits) counts.set(name, count(name) + 1);
      let isTaken = true;
      return () => {
        for (const [name] of isTaken ? limits : [])
          if (count(name) === 1) counts.delete(name);
          else counts.set(name, count(name) - 1);
        isTaken = false;
      };
    },
  };
}
