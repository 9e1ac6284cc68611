import { isRegistryError, RegistryError } from '../model/errors.ts';
import type { Report } from '../model/problem.ts';

/**
 * The error for a job that its sandbox did not end: it died, or, with `isHung`, it was stopped because
 * it took too long. That may be the machine's fault, so it is never a finding of a document, and is
 * stored nowhere. `reason`: a sentence; for the log unless it hung.
 */
export function sandboxLost(reason: string, isHung = false): RegistryError {
  const what = isHung
    ? `The document could not be checked. ${reason}`
    : 'The process that compiles documents stopped unexpectedly.';
  return new RegistryError('unavailable', `${what} Nothing was changed. Try again later.`, {
    retryAfter: isHung ? 300 : 30,
    extra: { sandbox: 'lost' },
    cause: new Error(reason),
  });
}

/** Whether a document could not be checked, so that a retry may succeed. */
export function isSandboxLost(error: unknown): error is RegistryError {
  return isRegistryError(error, 'unavailable') && error.extra['sandbox'] === 'lost';
}

/** Whether the report says that a sandbox ran out of memory, perhaps because of the machine. */
export function hasDied({ problems }: Report): boolean {
  return problems.some(({ rule }) => rule === 'sandbox-memory');
}
