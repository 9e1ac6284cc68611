import { setTimeout as delay } from 'node:timers/promises';
import type { Registry } from '../registry.ts';
import { publicLogOf } from './public-log.ts';

/** Milliseconds after a change of a record, so that what is published together is appended together. */
const soon = 500;

/**
 * Brings what becomes public into the public log, until it is closed: soon after this process changed it, and
 * every `interval` milliseconds for what others changed. Null for a registry without a log.
 */
export async function keepLog(registry: Registry, interval = 15_000): Promise<{ close(): Promise<void> } | null> {
  const log = await publicLogOf(registry).catch((error: unknown) => {
    registry.log('error', 'the public log cannot be read', { error: String(error) });
    return null;
  });
  if (log === null) return null;
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

  async function update(organizations?: readonly string[]): Promise<void> {
    await log!.update(organizations).catch((error: unknown) => {
      registry.log('warn', 'the public log was not written', { error: String(error) });
    });
  }

  async function keep(): Promise<void> {
    for (let next = 0; !stop.signal.aborted;) {
      woken = Promise.withResolvers();
      const [now, organizations] = [registry.monotonic(), [...changed]];
      changed = new Set();
      // Looking at all of them takes a walk over all names.
      await update(now < next ? organizations : undefined);
      if (now >= next) next = now + interval;
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
