import { isRegistryError, RegistryError } from '../model/errors.ts';
import type { Refs } from './refs.ts';

/**
 * Does work that changes the registry. What fails once a change is committed is told as `outcome_unknown`: `unavailable` would say that nothing
 * was changed, and a bug would say nothing. Refusals that the work itself makes stay what they are.
 */
export async function tellingCommits<T, R extends { refs: Refs }>(
  registry: R,
  work: (registry: R) => Promise<T>,
): Promise<T> {
  let hasChanged = false;
  const refs: Refs = {
    ...registry.refs,
    async update(name, decide) {
      let isChange = false;
      const newest = await registry.refs.update<never>(name, async (current) => {
        const decision = await decide(current);
        isChange = decision !== null;
        return decision as never;
      });
      hasChanged ||= isChange;
      return newest;
    },
  };
  try {
    return await work({ ...registry, refs });
  } catch (error) {
    const isOwnWord = isRegistryError(error) && error.code !== 'unavailable' && error.code !== 'corrupt';
    throw !hasChanged || isOwnWord ? error : followUpFailed(error);
  }
}

/** What is said when a change is committed, and something that belongs to it was not done. */
export function followUpFailed(cause: unknown): RegistryError {
  const message =
    'A change was made, but what belongs to it failed. Repeat the request with the same Idempotency-Key: it goes on where it stopped.';
  return new RegistryError('outcome_unknown', message, { cause, retryAfter: 1 });
}
