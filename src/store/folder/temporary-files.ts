import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { processSpace } from '../process.ts';
import { ignoring, type Files } from './files.ts';

/**
 * Temporary files of this process, so that another bucket on the same folder does not delete them.
 */
const ownFiles = new Set<string>();
/** Age in milliseconds at which any temporary file is deleted. None is needed for a minute. */
const stale = 60 * 60 * 1000;
const pattern = /^([0-9a-f]{12})\.(\d+)\.[0-9a-f-]{36}$/;

/** Temporary files, for bytes that have no name yet. */
export interface TemporaryFiles {
  /** Runs the work with an unused path and deletes the file afterwards. */
  use<T>(work: (path: string) => Promise<T>): Promise<T>;
}

/**
 * Creates temporary files in a shared folder. Names hold the pid, so that files of dead processes
 * are recognized.
 */
export function createTemporaryFiles(files: Files, folder: string): TemporaryFiles {
  return {
    async use(work) {
      const name = `${spaceName()}.${process.pid}.${randomUUID()}`;
      ownFiles.add(name);
      try {
        return await work(join(folder, name));
      } finally {
        // If this fails, the next start deletes the file.
        await files.unlink(join(folder, name)).catch(() => undefined);
        ownFiles.delete(name);
      }
    },
  };
}

/**
 * Deletes files of dead processes and files older than an hour. Files that cannot be deleted are
 * ignored.
 */
export async function sweepTemporaryFiles(files: Files, folder: string, now: number): Promise<void> {
  const entries = await files.readdir(folder, { withFileTypes: true });
  for (const entry of entries) {
    if (!entry.isFile() || ownFiles.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (isLeft(entry.name) || (await ageOf(files, path, now)) > stale) await files.unlink(path).catch(() => undefined);
  }
}

async function ageOf(files: Files, path: string, now: number): Promise<number> {
  const stats = await files.stat(path).catch(ignoring('ENOENT'));
  return stats === null ? 0 : now - stats.mtimeMs;
}

/** Reports whether the file belongs to a dead process. False for other machines and containers. */
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
