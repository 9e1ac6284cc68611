/** Does the work of one name one after the other, in the order of asking, and that of different names side by side. */
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
