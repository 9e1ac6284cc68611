import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/** Seconds of processor time of this process and of all that it started, and that has ended. Linux alone tells. */
export function processorTime(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
}

/** Seconds of processor time of all processes that this one started, running or ended. Linux alone tells. */
export function childrenTime(): number {
  const found = new Map<number, { parent: number; seconds: number }>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      // Of this process, only what its children used that have ended.
      const seconds =
        fields.slice(Number(name) === process.pid ? 13 : 11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
      found.set(Number(name), { parent: Number(fields[1]), seconds });
    } catch {
      // It has ended.
    }
  }
  const isOurs = (pid: number): boolean => pid === process.pid || (found.has(pid) && isOurs(found.get(pid)!.parent));
  return [...found].reduce((sum, [pid, { seconds }]) => (isOurs(pid) ? sum + seconds : sum), 0);
}

/** Waits until what this process started has hardly used a processor for so many milliseconds. */
export async function untilIdle(milliseconds = 1000): Promise<void> {
  for (let used = Infinity; used > milliseconds / 20_000;) {
    const before = childrenTime();
    await delay(milliseconds);
    used = childrenTime() - before;
  }
}
