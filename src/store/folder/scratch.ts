import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { processSpace } from '../process.ts';
import { ignoring, type Files } from './files.ts';

/** What this process has under way: another bucket on the same folder leaves it alone. */
const own = new Set<string>();
/** Milliseconds after which a temporary file of a process that cannot be asked for is litter: none is needed for a minute. */
const stale = 60 * 60 * 1000;
const pattern = /^([0-9a-f]{12})\.(\d+)\.[0-9a-f-]{36}$/;

/** Where bytes are written before they have a name. */
export interface Scratch {
  /** Does the work with a path that nothing has, and clears it away afterwards. */
  use<T>(work: (path: string) => Promise<T>): Promise<T>;
}

/** Temporary files in a folder that any number of processes may share: each is named after its process, so that its litter is known. */
export function createScratch(files: Files, folder: string): Scratch {
  return {
    async use(work) {
      const name = `${spaceName()}.${process.pid}.${randomUUID()}`;
      own.add(name);
      try {
        return await work(join(folder, name));
      } finally {
        // Litter at worst, which the next start sweeps.
        await files.unlink(join(folder, name)).catch(() => undefined);
        own.delete(name);
      }
    },
  };
}

/** Deletes what processes left that were killed, and what is older than an hour by whatever left it. What cannot be deleted stays: it does no harm. */
export async function sweepScratch(files: Files, folder: string, now: number): Promise<void> {
  const entries = await files.readdir(folder, { withFileTypes: true });
  for (const entry of entries) {
    if (!entry.isFile() || own.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (isLeft(entry.name) || (await ageOf(files, path, now)) > stale) await files.unlink(path).catch(() => undefined);
  }
}

async function ageOf(files: Files, path: string, now: number): Promise<number> {
  const found = await files.stat(path).catch(ignoring('ENOENT'));
  return found === null ? 0 : now - found.mtimeMs;
}

/** Whether the file is of a process that does not run any more. Of other machines and containers nobody knows. */
function isLeft(name: string): boolean {
  const [, space, pid] = pattern.exec(name) ?? [];
  if (space !== spaceName()) return false;
  if (Number(pid) === process.pid) return true;
  try {
    return !process.kill(Number(pid), 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

function spaceName(): string {
  return createHash('sha256').update(processSpace()).digest('hex').slice(0, 12);
}
