import PQueue from 'p-queue';

/**
 * Slots for the background work of many organizations. One has at most half of them, so its slow
 * work cannot stop the others.
 */
export interface Places {
  /** Runs the work when a slot is free. */
  take<T>(org: string, work: () => Promise<T>): Promise<T>;
  /** The number of tasks running now. */
  running(): number;
  /** Resolves when nothing runs or waits. */
  onIdle(): Promise<void>;
}

/**
 * `patience`: milliseconds after which work gives its slot back and goes on in one of twice as many
 * slots for slow work, if one is free. So a few remotes that never answer do not hold up the other
 * work of their organization. Null: work keeps its slot.
 */
export function createPlaces(count: number, { patience = null }: { patience?: number | null } = {}): Places {
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
    async take<T>(org: string, work: () => Promise<T>) {
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
    async onIdle() {
      await quick.onIdle();
      await slow.onIdle();
    },
  };
}

interface Shared {
  add(org: string, work: () => Promise<void>): Promise<void>;
  onIdle(): Promise<void>;
}

/** Slots of which one organization has at most half. */
function createShared(count: number): Shared {
  const all = new PQueue({ concurrency: count });
  const shares = new Map<string, PQueue>();
  return {
    async add(org, work) {
      const share = shares.getOrInsertComputed(org, () => new PQueue({ concurrency: Math.ceil(count / 2) }));
      try {
        await share.add(() => all.add(work));
      } finally {
        if (share.size === 0 && share.pending === 0 && shares.get(org) === share) shares.delete(org);
      }
    },
    async onIdle() {
      await Promise.all([...shares.values()].map((share) => share.onIdle()));
      await all.onIdle();
    },
  };
}

/**
 * Places for requests that stay open while they wait: of one asker, of one organization, and of all.
 * No organization can take those of the others.
 */
export interface WaitingPlaces {
  /** Takes a place. Returns a function that gives it back; null: there is none. */
  take(org: string, asker: string): (() => void) | null;
}

/** How many places may be taken at once. */
export interface MaxPlaces {
  ofOne: number;
  ofOrganization: number;
  ofAll: number;
}

export function createWaitingPlaces({ ofOne, ofOrganization, ofAll }: MaxPlaces): WaitingPlaces {
  const counts = new Map<string, number>();
  const count = (name: string): number => counts.get(name) ?? 0;
  return {
    take(org, asker) {
      const names = { all: 'all', org: `organization ${org}`, asker: `asker ${asker}` };
      if (count(names.all) >= ofAll || count(names.org) >= ofOrganization || count(names.asker) >= ofOne) return null;
      for (const name of Object.values(names)) counts.set(name, count(name) + 1);
      let isTaken = true;
      return () => {
        if (!isTaken) return;
        isTaken = false;
        for (const name of Object.values(names)) {
          const left = count(name) - 1;
          if (left === 0) counts.delete(name);
          else counts.set(name, left);
        }
      };
    },
  };
}
