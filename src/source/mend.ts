import { RegistryError, isRegistryError } from '../model/errors.ts';

const maxAttempts = 5;

/**
 * Runs work on a mirror, which other processes may delete and a disk may damage. Except for a
 * RegistryError or an abort, a failure calls `mend` and runs the work again, up to five times. The
 * work gets the number of the attempt.
 */
export async function mending<T>(
  repository: string,
  signal: AbortSignal,
  work: (attempt: number) => Promise<T>,
  mend: () => Promise<void>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (cause) {
      if (isRegistryError(cause) || signal.aborted) throw cause;
      if (attempt === maxAttempts) {
        throw new RegistryError('unreachable', `${repository} sent objects that cannot be read.`, { cause });
      }
      await mend();
    }
  }
}
