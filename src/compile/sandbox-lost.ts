import { isRegistryError, RegistryError } from '../model/errors.ts';

/** Says that sandboxes died over some work, and not by a limit of its own. `reason` is for the log. */
export function sandboxLost(reason: string): RegistryError {
  return new RegistryError(
    'unavailable',
    'The process that reads documents ended before it was done. Nothing was changed. Try again later.',
    { retryAfter: 30, extra: { sandbox: 'lost' }, cause: new Error(reason) },
  );
}

/** Whether the work may end otherwise the next time, since it was the sandbox that failed. */
export function isSandboxLost(error: unknown): error is RegistryError {
  return isRegistryError(error, 'unavailable') && error.extra['sandbox'] === 'lost';
}
