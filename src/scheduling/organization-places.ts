import PQueue from 'p-queue';

/** Places for background work of many organizations. One has at most half of them, so that its slow work does not stop another's. */
export interface Places {
  /** Does the work when there is a place for it. */
  take<T>(org: string, work: () => Promise<T>): Promise<T>;
  /** How much is being done at this moment. */
  running(): number;
  /** Resolves when nothing is being done or waits. */
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
