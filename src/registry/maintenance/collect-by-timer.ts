import type { Registry } from '../registry.ts';
import { collectGarbage } from './gc.ts';

const hour = 60 * 60_000;
/** Milliseconds from the start of the process to the first run, so that starting stays fast. */
const firstPause = 10 * 60_000;

/**
 * Collects garbage every `gc.interval` hours until it is closed; null if the configuration does not
 * want that. Logs what goes wrong and tries again at the next time.
 */
export function openCollector(registry: Registry): { close(): Promise<void> } | null {
  const { interval } = registry.config.gc;
  if (interval === 0) return null;
  let timer: NodeJS.Timeout;
  let running: Promise<void> = Promise.resolve();
  const stopping = new AbortController();
  const run = async (): Promise<void> => {
    try {
      const collected = await collectGarbage(registry, {
        // A run may take long, and can be left at any point.
        progress: () => stopping.signal.throwIfAborted(),
      });
      registry.log('info', 'garbage collected', { ...collected });
    } catch (error) {
      if (stopping.signal.aborted) return;
      registry.log('warn', 'garbage not collected', { error: String(error) });
    }
    if (!stopping.signal.aborted) plan(interval * hour);
  };
  const plan = (pause: number): void => {
    timer = setTimeout(() => {
      running = run();
    }, pause);
    timer.unref();
  };
  plan(Math.min(firstPause, interval * hour));
  return {
    async close() {
      stopping.abort();
      clearTimeout(timer);
      await running;
    },
  };
}
