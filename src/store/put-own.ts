import { isRegistryError, RegistryError } from '../model/errors.ts';
import type { Bucket } from './bucket.ts';

/**
 * Writes the bytes under a key that several writers want. Returns whether they are stored there
 * now; false means that another writer's are. `isOurs` recognizes our bytes when the answer was
 * lost; it may throw `corrupt`. Rejects with `unavailable` if nothing was written, and with
 * `outcome_unknown` if that cannot be found out.
 */
export async function putOwn(
  bucket: Bucket,
  key: string,
  bytes: Uint8Array,
  isOurs: (stored: Uint8Array) => boolean,
): Promise<boolean> {
  for (let attempt = 0; ; attempt++) {
    const answer = await bucket.putIfAbsent(key, bytes).catch((error: unknown) => ({ error }));
    if (answer === 'created') return true;
    const failure = typeof answer === 'object' ? answer.error : undefined;
    // Reading back would prove nothing.
    if (isRegistryError(failure, 'outcome_unknown')) throw outcomeUnknown(failure);
    // After the first attempt, an earlier write may still arrive.
    if (attempt === 0 && isRegistryError(failure, 'unavailable')) throw failure;
    const stored = await bucket.get(key).catch((error: unknown) => {
      throw outcomeUnknown(error);
    });
    if (stored !== null) return isOurs(stored);
    // It may still arrive. Writing the same bytes again is safe.
    if (attempt === 2) throw outcomeUnknown(failure);
  }
}

/** The error for a write of which it cannot be known whether it counts. */
export function outcomeUnknown(cause: unknown): RegistryError {
  const message =
    'The store did not confirm the change. Retry with the same Idempotency-Key, or check whether it was made.';
  return new RegistryError('outcome_unknown', message, { cause, retryAfter: 1 });
}
