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

/** Wakes work at its time: one alarm for each name, of which the earliest counts. */
export interface Alarms {
  /** `milliseconds`: from now. Counts for nothing after `close`. */
  set(name: string, milliseconds: number): void;
  close(): void;
}

/** The longest time that a timer can wait; a later alarm rings then, and is set again. */
const longestTimer = 24 * 60 * 60_000;

/** Creates alarms that keep no process running. `ring` must not throw. */
export function createAlarms(ring: (name: string) => void): Alarms {
  const set = new Map<string, { at: number; timer: NodeJS.Timeout }>();
  let isClosed = false;
  return {
    set(name, milliseconds) {
      const wait = Math.min(Math.max(milliseconds, 0), longestTimer);
      const at = performance.now() + wait;
      const alarm = set.get(name);
      if (isClosed || (alarm && alarm.at <= at)) return;
      clearTimeout(alarm?.timer);
      const timer = setTimeout(() => {
        set.delete(name);
        ring(name);
      }, wait).unref();
      set.set(name, { at, timer });
    },
    close() {
      isClosed = true;
      for (const { timer } of set.values()) clearTimeout(timer);
      set.clear();
    },
  };
}

/** Milliseconds by which the clocks of processes that share a store may differ. */
const skew = 60_000;

/**
 * When work that was put off until `at` (ISO 8601) is due: milliseconds since 1970. `longest`: the
 * most milliseconds that it is ever put off by. A time further ahead comes from before the clock
 * was set back. The work is then due now.
 */
export function dueAt(at: string, now: number, longest: number): number {
  const due = Date.parse(at);
  return due - now > longest + skew ? now : due;
}
