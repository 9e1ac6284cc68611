import { readFileSync } from 'node:fs';

/** What a process uses, as the system counts it and not as the process says. */
export interface Usage {
  /** Seconds of processor time since the process began, of all its threads. */
  processorSeconds: number;
  /** Bytes of memory that it holds now. */
  residentBytes: number;
}

/** USER_HZ: the same on every Linux that Node runs on. */
const ticksPerSecond = 100;

/** Null where the system does not tell (it has no `/proc`), and for a process that is gone. */
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
