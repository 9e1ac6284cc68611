import { isRegistryError, RegistryError } from '../model/errors.ts';
import type { Report } from '../model/problem.ts';

/** The error for a job whose sandbox died without exceeding a limit. `reason` is for the log. */
export function sandboxLost(reason: string): RegistryError {
  return new RegistryError(
    'unavailable',
    'The process that compiles documents stopped unexpectedly. Nothing was changed. Try again later.',
    { retryAfter: 30, extra: { sandbox: 'lost' }, cause: new Error(reason) },
  );
}

/** Whether the sandbox failed and not the document, so that a retry may succeed. */
export function isSandboxLost(error: unknown): error is RegistryError {
  return isRegistryError(error, 'unavailable') && error.extra['sandbox'] === 'lost';
}

/** Whether the report says that a sandbox died, perhaps because of the machine. */
export function hasDied({ problems }: Report): boolean {
  return problems.some(({ rule }) => rule.startsWith('sandbox-'));
}
