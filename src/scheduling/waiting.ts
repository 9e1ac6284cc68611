/** What the work resolves to, or null when it takes longer than these milliseconds. It goes on in either case. */
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

/**
 * Does the work for each item, some at once, and returns what it made, in order. Once one fails, none is begun, and the
 * call rejects with that failure when those under way have ended.
 */
export async function mapAtOnce<T, R>(items: Iterable<T>, atOnce: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const failures: unknown[] = [];
  // One iterator for all: a loop that fails ends it.
  const rest = Iterator.from(items).map((item, at) => [at, item] as const);
  const some = async (): Promise<void> => {
    for (const [at, item] of rest) results[at] = await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, () => some().catch((error: unknown) => failures.push(error))));
  if (failures.length > 0) throw failures[0];
  return results;
}

/** The bytes of a stream, once it has ended. Throws this error as soon as there are more than `max`. */
export async function readAtMost(
  stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  max: number,
  tooMany: () => Error,
): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of stream) {
    size += part.byteLength;
    if (size > max) throw tooMany();
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** The longest time that a timer can wait, in milliseconds; a later alarm rings then, and is set again. */
const longestTimer = 2 ** 31 - 1;

/**
 * Wakes work at its time: one alarm for each name, of which the earliest counts. Keeps no process
 * running. `ring` must not throw.
 */
export function createAlarms(ring: (name: string) => void) {
  const set = new Map<string, { at: number; timer: NodeJS.Timeout }>();
  let isClosed = false;
  return {
    /** `milliseconds`: from now. Counts for nothing after `close`. */
    set(name: string, milliseconds: number): void {
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
    close(): void {
      isClosed = true;
      for (const { timer } of set.values()) clearTimeout(timer);
      set.clear();
    },
  };
}

interface Rhythm {
  /** Milliseconds from now to the first round, and from the end of a round to the next. */
  first: number;
  pause: number;
  /** The most of the time that the work gets, from 0 to 1: after a long round, all later ones wait. Default: all of it. */
  share?: number;
}

/**
 * Does work again and again until it is closed, one round at a time. What fails is reported, and
 * tried again the next time. Keeps no process running. `work`: the signal aborts on `close`.
 */
export function openRounds(
  { first, pause, share = Infinity }: Rhythm,
  work: (signal: AbortSignal) => Promise<unknown>,
  failed: (error: unknown) => void,
) {
  const stopping = new AbortController();
  let running: Promise<void> | null = null;
  let isWoken = false;
  let earliest = 0;

  async function round(): Promise<void> {
    const begun = performance.now();
    await work(stopping.signal).catch((error: unknown) => (stopping.signal.aborted ? undefined : failed(error)));
    const now = performance.now();
    earliest = now + (now - begun) / share;
    running = null;
    wake(isWoken ? 0 : pause);
    isWoken = false;
  }

  const alarms = createAlarms(() => {
    if (running === null) running = round();
    else isWoken = true;
  });

  /** The next round begins in so many milliseconds, if not before. */
  function wake(milliseconds: number): void {
    alarms.set('next', Math.max(milliseconds, earliest - performance.now()));
  }

  wake(first);
  return {
    wake,
    /** Resolves when the running round has ended. */
    async close(): Promise<void> {
      stopping.abort();
      alarms.close();
      await running;
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
