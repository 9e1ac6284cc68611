import { readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';

/** The resource usage of a process, as reported by the system and not by the process. */
export interface Usage {
  /** Processor time of all its threads since its start, in seconds. */
  processorSeconds: number;
  /** Current memory in bytes. */
  residentBytes: number;
}

/** The title that a process gave itself, or its command line. Empty where the system does not tell. */
export function readTitle(pid: number): string {
  return read(pid, 'cmdline').replace(/\0.*$/s, '').trim();
}

/** USER_HZ: the same on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** Reads the usage. Null on systems without `/proc` and for a process that has ended. */
export function readUsage(pid: number): Usage | null {
  const stat = read(pid, 'stat');
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(read(pid, 'status'))?.[1];
  // proc_pid_stat(5): the name, the second field, may hold anything, also spaces and parentheses.
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  if (user === undefined || system === undefined || kilobytes === undefined) return null;
  return { processorSeconds: (user + system) / ticksPerSecond, residentBytes: Number(kilobytes) * 1024 };
}

function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

/**
 * Who gives way to whom, as `nice` values. The registry has 0. `first`: the only job of its
 * organization. `more`: a job beside others of the same organization. `long`: a job that has used
 * the processor for a while, or has large documents, so that short ones pass it.
 */
const niceness = { start: 5, first: 5, more: 10, long: 15 };

/**
 * Lowers the priority of a sandbox, so that the registry goes first. Linux shares processors among
 * sessions before it looks at processes (`sched_autogroup_enabled`, sched(7)), and every sandbox is
 * a session of its own: unless its session gives way too, it counts as much as the whole registry.
 * Does what the system allows; without sessions that count, all jobs have the same priority. Reports
 * whether the session has the priority now.
 */
export function giveWay(pid: number | undefined, to: keyof typeof niceness): boolean {
  if (pid === undefined) return false;
  try {
    if (to === 'start') setPriority(pid, niceness[to]);
  } catch {}
  try {
    // The kernel accepts one change in 100 ms from a process without privileges.
    const path = `/proc/${pid}/autogroup`;
    const nice = String(niceness[to]);
    if (!readFileSync(path, 'utf8').trimEnd().endsWith(` nice ${nice}`)) writeFileSync(path, nice);
    return true;
  } catch {
    return false;
  }
}
