import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';

/**
 * Of sandboxes (`nice`); the registry's own is 0. A job that takes long gives way to short ones, so
 * that a small document is not held up by what others compile.
 */
export const priorities = { usual: 5, long: 15 };

/**
 * Sets the priority of every thread of a process. Where the system does not allow it, and it allows
 * only root to raise one again, they keep what they have.
 */
export function setPriorities(pid: number | undefined, priority: number): void {
  if (pid === undefined) return;
  for (const thread of threadsOf(pid)) {
    try {
      setPriority(thread, priority);
    } catch {}
  }
}

/** On Linux each thread has a priority of its own. */
function threadsOf(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [pid];
  }
}
