import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';

/** How this process is named in what it records: `host/pid`. */
export function processName(): string {
  return `${hostname()}/${process.pid}`;
}

/** Whether a process may still be running: those of other machines always may, those of this one are asked for. */
export function isAlive(name: string): boolean {
  const [host, pid] = name.split('/');
  if (host !== hostname()) return true;
  try {
    return process.kill(Number(pid), 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

let space: string | undefined;

/**
 * Where this process's number means this process: containers that share a machine's name count for themselves. Empty where the system has no such
 * spaces.
 */
export function processSpace(): string {
  return (space ??= read(
    () => `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`,
  ));
}

function read(text: () => string): string {
  try {
    return text();
  } catch {
    return '';
  }
}
