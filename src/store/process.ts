import { randomUUID } from 'node:crypto';
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

/** Who does a piece of work that others must not do meanwhile, as it is written down. */
export interface Worker {
  /** `host/pid`, and where that number counts (`processSpace`). */
  process: string;
  space?: string;
  /** Tells this piece of work from others of the same process, and from those of an earlier process of the same number. */
  holder: string;
}

/** What this process is at. */
const atWork = new Set<string>();

/** Begins a piece of work. `end` is called when it is over, however it went. */
export function beginWork(): { worker: Worker; end: () => void } {
  const holder = randomUUID();
  atWork.add(holder);
  const worker = { process: processName(), space: processSpace(), holder };
  return { worker, end: () => void atWork.delete(holder) };
}

/** Whether it is a piece of work of this process that is not over. */
export function isOwn({ holder }: Worker): boolean {
  return atWork.has(holder);
}

/** Whether the worker may still be at it. Of this process that is known; other processes of this machine may run; and of others nobody knows. */
export function mayWork({ process, space, holder }: Worker): boolean {
  if (space !== undefined && space !== processSpace()) return true;
  return process === processName() ? atWork.has(holder) : isAlive(process);
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
