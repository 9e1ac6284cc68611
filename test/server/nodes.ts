import { createAnswerCache } from '../../src/registry/answer-cache.ts';
import { newId, type Registry } from '../../src/registry/registry.ts';
import { createRefs } from '../../src/store/refs.ts';
import { createTestRegistry } from './registry.ts';
import { unlimited } from './v1/api.ts';

/** The registries of two nodes over one bucket. What they read may be as old as the test. */
export function createNodes(): [Registry, Registry] {
  const registry = createTestRegistry(unlimited);
  const another = (): Registry => {
    const refs = createRefs(registry.bucket, { ...registry, uniqueId: () => newId(registry), maxAge: 3_600_000 });
    return { ...registry, refs, answers: createAnswerCache(refs) };
  };
  return [another(), another()];
}
