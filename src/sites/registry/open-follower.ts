import type { Registry } from '../../registry/registry.ts';
import { followSites } from './follow-sites.ts';

/** Milliseconds between two looks for what other processes published. */
const pause = 60_000;
/** Milliseconds after a change of this process: an import publishes many versions at once. */
const soon = 300;
/** A look reads the sites of all organizations. It gets at most this share of the time. */
const share = 0.05;

/** Publishes sites again when what they embed has a new version, until it is closed. */
export function openFollower(registry: Registry): { close(): Promise<void> } {
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<unknown> = Promise.resolve();
  let isClosed = false;
  let earliest = 0;

  function plan(milliseconds: number): void {
    if (timer !== null) clearTimeout(timer);
    timer = setTimeout(look, Math.max(milliseconds, earliest - registry.monotonic())).unref();
  }

  function look(): void {
    const begun = registry.monotonic();
    running = running
      .then(() => (isClosed ? 0 : followSites(registry)))
      .catch((error: unknown) => registry.log('warn', 'sites not followed', { error: String(error) }))
      .then(() => {
        const now = registry.monotonic();
        earliest = now + (now - begun) / share;
        if (!isClosed) plan(pause);
      });
  }

  const unwatch = registry.refs.watch((name) => void (name.startsWith('resources/') && !isClosed && plan(soon)));
  plan(soon);
  return {
    async close() {
      isClosed = true;
      unwatch();
      if (timer !== null) clearTimeout(timer);
      await running;
    },
  };
}
