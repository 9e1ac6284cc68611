/**
 * What the work resolves to, or null when it takes longer than these milliseconds. It goes on in
 * either case.
 */
export async function within<T>(milliseconds: number, work: Promise<T>): Promise<T | null> {
  if (milliseconds === Infinity) return work;
  const { promise: late, resolve } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), milliseconds);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** What the work resolves to. Rejects with the signal's reason when it aborts. The work goes on. */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const listener = (): void => reject(signal.reason as Error);
  if (signal.aborted) listener();
  signal.addEventListener('abort', listener, { once: true });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', listener));
}
