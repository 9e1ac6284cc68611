import { readFileSync } from 'node:fs';

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
