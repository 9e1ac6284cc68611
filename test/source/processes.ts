import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** The command lines of every process on this machine, their arguments joined by spaces. */
export function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')];
      } catch {
        return [];
      }
    });
}

/** Waits until the condition holds, ten seconds at most, and says whether it does. */
export async function eventually(holds: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 6000; tries++) {
    if (holds()) return true;
    await sleep(20);
  }
  return holds();
}
