import { expect } from 'vitest';
import type { Registry } from '../../src/registry/registry.ts';

/** A registry whose looks at one record, one after the other, are counted. `look` waits for one that begins after the call. */
export function watchLooks<R extends Registry>(registry: R, name: string): { registry: R; look: () => Promise<void> } {
  let begun = 0;
  let ended = 0;
  const update: Registry['refs']['update'] = async (ref, decide, options) => {
    if (ref === name) begun++;
    try {
      return await registry.refs.update(ref, decide, options);
    } finally {
      if (ref === name) ended++;
    }
  };
  return {
    registry: { ...registry, refs: { ...registry.refs, update } },
    async look() {
      const before = begun;
      await expect.poll(() => ended, { interval: 10 }).toBeGreaterThan(before);
    },
  };
}
