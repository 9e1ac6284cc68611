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

export function createPlaces(count: number): Places {
  const all = new PQueue({ concurrency: count });
  const shares = new Map<string, PQueue>();
  return {
    async take(org, work) {
      const share = shares.get(org) ?? new PQueue({ concurrency: Math.ceil(count / 2) });
      shares.set(org, share);
      try {
        return await share.add(() => all.add(work));
      } finally {
        if (share.size === 0 && share.pending === 0 && shares.get(org) === share) shares.delete(org);
      }
    },
    running: () => all.pending,
    async onIdle() {
      await Promise.all([...shares.values()].map((share) => share.onIdle()));
      await all.onIdle();
    },
  };
}
