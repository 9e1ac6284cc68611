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
