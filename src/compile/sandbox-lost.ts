import { isRegistryError, RegistryError } from '../model/errors.ts';

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
