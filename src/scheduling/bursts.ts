import { performance } from 'node:perf_hooks';

/**
 * Lets a flood of small tasks take no more than about half of the event loop, however fast it is: a
 * pause after each burst is twice as long as the loop was busy since the one before ended. A task
 * that comes alone starts at once. Owners take turns. Nothing is refused. `size`: tasks in a burst;
 * `longestPause`: between two bursts, in milliseconds.
 */
export function createBursts({ size, longestPause }: { size: number; longestPause: number }) {
  /** The owner that had its turn last is the last one. */
  const waiting = new Map<string, (() => void)[]>();
  let running = 0;
  let isPause = false;
  let before = performance.eventLoopUtilization();

  function begin(): void {
    if (running > 0 || isPause) return;
    for (const [owner, tasks] of waiting) {
      if (running === size) break;
      waiting.delete(owner);
      running++;
      tasks.shift()!();
      if (tasks.length > 0) waiting.set(owner, tasks);
    }
  }

  function end(): void {
    if (--running > 0) return;
    const now = performance.eventLoopUtilization();
    const { active } = performance.eventLoopUtilization(now, before);
    before = now;
    isPause = true;
    setTimeout(
      () => {
        isPause = false;
        begin();
      },
      Math.min(longestPause, 2 * active),
    );
  }

  return async <T>(owner: string, task: () => Promise<T>): Promise<T> => {
    await new Promise<void>((resolve) => {
      waiting.getOrInsert(owner, []).push(resolve);
      begin();
    });
    try {
      return await task();
    } finally {
      end();
    }
  };
}
