import { setTimeout as delay } from 'node:timers/promises';
import type { Registry } from '../registry.ts';
import { hasPublicLog } from './log-key.ts';
import { publicLogOf } from './public-log.ts';

/** Milliseconds after a change of a record, so that what is published together is appended together. */
const soon = 500;
/** Milliseconds between two comparisons of all that is public with what the log says. */
const comparedEvery = 86_400_000;

/**
 * Brings what becomes public into the public log, until it is closed: soon after this process changed it, and
 * every `interval` milliseconds for what others changed. At the start and once a day, all that is public is compared with
 * what the log says. What fails is tried again. Null for a registry without a log.
 */
export async function keepLog(registry: Registry, interval = 15_000): Promise<{ close(): Promise<void> } | null> {
  if (!hasPublicLog(registry)) return null;
  const stop = new AbortController();
  let woken = Promise.withResolvers<void>();
  /** The organizations that this process changed since the last look. */
  let changed = new Set<string>();
  const unwatch = registry.refs.watch((name) => {
    if (!name.startsWith('resources/')) return;
    changed.add(name.split('/')[1]!);
    woken.resolve();
  });
  const pause = (milliseconds: number): Promise<void> =>
    delay(Math.max(0, milliseconds), undefined, { signal: stop.signal, ref: false }).catch(() => undefined);

  /** Resolves to false if it failed, which is logged. */
  async function update(organizations?: readonly string[], compares = false): Promise<boolean> {
    try {
      const log = await publicLogOf(registry);
      await log!.update(organizations, { compares });
      return true;
    } catch (error) {
      const cause = error instanceof Error && error.cause ? { cause: String(error.cause) } : {};
      registry.log('error', 'the public log was not written', { error: String(error), ...cause });
      return false;
    }
  }

  async function keep(): Promise<void> {
    for (let [next, comparing] = [0, 0]; !stop.signal.aborted;) {
      woken = Promise.withResolvers();
      const [now, organizations] = [registry.monotonic(), [...changed]];
      changed = new Set();
      // Looking at all of them takes a walk over all names.
      const isDone = await update(now < next ? organizations : undefined);
      if (now >= next) next = now + interval;
      if (isDone && now >= comparing && (await update(undefined, true))) comparing = now + comparedEvery;
      if (changed.size === 0) await Promise.race([woken.promise, pause(next - registry.monotonic())]);
      await pause(soon);
    }
  }

  const kept = keep();
  return {
    async close() {
      unwatch();
      stop.abort();
      await kept;
      await update([...changed]);
    },
  };
}
