/**
 * Runs work with the same name in the order of the calls, one at a time. Work with different names
 * runs concurrently.
 */
export type InOrder = <T>(name: string, work: () => Promise<T>) => Promise<T>;

export function createInOrder(): InOrder {
  const last = new Map<string, Promise<unknown>>();
  return async (name, work) => {
    const before = last.get(name) ?? Promise.resolve();
    const mine = before.then(work, work);
    last.set(name, mine);
    try {
      return await mine;
    } finally {
      if (last.get(name) === mine) last.delete(name);
    }
  };
}
