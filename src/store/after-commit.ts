import { isRegistryError, RegistryError } from '../model/errors.ts';
import type { Refs } from './refs.ts';

/**
 * Runs work that changes the registry. An error after a commit becomes `outcome_unknown`, because
 * `unavailable` would promise that nothing changed. The work's own errors stay as they are.
 */
export async function watchingCommits<T, R extends { refs: Refs }>(
  registry: R,
  work: (registry: R) => Promise<T>,
): Promise<T> {
  let hasChanged = false;
  const refs: Refs = {
    ...registry.refs,
    async update(name, decide, options) {
      let isChange = false;
      const newest = await registry.refs.update<never>(
        name,
        async (current) => {
          const decision = await decide(current);
          isChange = decision !== null;
          return decision as never;
        },
        options,
      );
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

/** Returns the error for a committed change whose later steps failed. */
export function followUpFailed(cause: unknown): RegistryError {
  const message = 'The change was made, but a later step failed. Retry with the same Idempotency-Key to finish it.';
  return new RegistryError('outcome_unknown', message, { cause, retryAfter: 1 });
}
