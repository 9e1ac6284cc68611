import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { codeOf } from '../model/errors.ts';

const started = startOf(process.pid);

/**
 * Returns the name of this process in records: `host/pid.start`. `start` is when it was started, since pids are used
 * again; absent where the system does not say.
 */
export function processName(): string {
  return `${hostname()}/${process.pid}${started && `.${started}`}`;
}

/** Reports whether a process may still be running. Always true for processes on other machines. */
export function isAlive(name: string): boolean {
  const [host, id = ''] = name.split('/');
  if (host !== hostname()) return true;
  const [pid, start = ''] = id.split('.');
  if (!isTaken(Number(pid))) return false;
  const now = start === '' ? '' : startOf(Number(pid));
  return now === '' || now === start;
}

/** Reports whether a process of this machine has this id, perhaps another than the one that had it before. */
export function isTaken(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** When a process was started, in ticks since the machine was (proc(5), field 22). Empty if the system does not say. */
function startOf(pid: number): string {
  // A name in parentheses, which may hold anything, ends the second field.
  return read(() => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')[19]!);
}

/** Owner of a lease: process id, host, and task. */
export interface Worker {
  /** See `processName`. `space` is the pid namespace (`processSpace`). */
  process: string;
  space?: string;
  /** Unique id of the task, since pids are reused and a process runs many tasks. */
  holder: string;
}

/** Ids of the running tasks of this process. */
const atWork = new Set<string>();

/** Begins a task, for `using`: it is over at the end of the block, also after an error. */
export function beginWork(): Disposable & { worker: Worker } {
  const holder = randomUUID();
  atWork.add(holder);
  const worker = { process: processName(), space: processSpace, holder };
  return { worker, [Symbol.dispose]: () => void atWork.delete(holder) };
}

/** Reports whether the worker is a running task of this process. */
export function isOwn({ holder }: Worker): boolean {
  return atWork.has(holder);
}

/**
 * Reports whether the worker may still be running: exact for this process, by pid for this machine,
 * and always true for other machines and containers.
 */
export function mayWork({ process, space, holder }: Worker): boolean {
  if (space !== undefined && space !== processSpace) return true;
  return process === processName() ? atWork.has(holder) : isAlive(process);
}

/** The id of the pid namespace, since containers may share a host name. Empty if the system has none. */
export const processSpace = read(
  () => `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`,
);

function read(text: () => string): string {
  try {
    return text();
  } catch {
    return '';
  }
}
