import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { type Files, type OpenFile, fileMode, notConfirmed, notWritable } from './files.ts';

/** As large as a typical write: a disk with room for only one byte is full. */
const probe = new Uint8Array(64 * 1024).fill(0x5a);

/**
 * fsync that distrusts a failed disk. After a failed fsync the kernel may have dropped the data,
 * and the next fsync succeeds. So nothing is confirmed until a probe has been written and read
 * back.
 */
export function createConfirm(files: Files) {
  const doubtful = new Set<string>();
  let failures = 0;
  let proving: Promise<void> | null = null;

  async function confirmed(folder: string, sync: () => Promise<void>): Promise<void> {
    await sync().catch((cause: unknown) => {
      failures++;
      doubtful.add(folder);
      throw notConfirmed(cause);
    });
  }

  /** A new name makes the kernel write the folder's entries again, including dropped ones. */
  async function proveFolder(folder: string): Promise<void> {
    const path = join(folder, `.probe-${randomUUID()}`);
    try {
      await withOpen(files, path, 'wx', async (file) => {
        await file.writeFile(probe);
        await file.sync();
      });
      await syncFolder(files, folder);
      const back = await files.readFile(path);
      if (!back.equals(probe)) throw new Error('The probe does not read back as written.');
    } finally {
      await files.unlink(path).catch(() => undefined);
    }
  }

  async function proveAll(folders: ReadonlySet<string>): Promise<void> {
    const before = failures;
    for (const folder of folders) {
      await proveFolder(folder).catch((cause: unknown) => {
        throw notWritable(cause);
      });
      // A write that failed meanwhile may have been dropped after the probe was written.
      if (failures === before) doubtful.delete(folder);
    }
  }

  /** Concurrent calls share one probe. */
  const prove = (...folders: string[]): Promise<void> =>
    (proving ??= proveAll(new Set([...folders, ...doubtful])).finally(() => (proving = null)));

  return {
    /** Makes the bytes of an open file durable. Rejects with `outcome_unknown` if the disk does not confirm it. */
    file: (file: OpenFile, folder: string) => confirmed(folder, () => file.sync()),
    /** Makes the names in a folder durable. Rejects like `file`. */
    folder: (path: string) => confirmed(path, () => syncFolder(files, path)),
    /**
     * Runs work that ends in a confirmed write. Rejects with `unavailable` before the work if the
     * probe fails, and with `outcome_unknown` after it if another write was not confirmed meanwhile:
     * the two may have shared an fsync.
     */
    async during<T>(work: () => Promise<T>): Promise<T> {
      while (doubtful.size > 0) await prove();
      const before = failures;
      const answer = await work();
      if (failures !== before) throw notConfirmed(new Error('A concurrent write was not confirmed.'));
      return answer;
    },
    /** Probes the folder and every doubtful one: writes, fsyncs, reads back. Rejects with `unavailable`. */
    prove: (folder: string) => prove(folder),
  };
}

/** Fsyncs a folder. */
export async function syncFolder(files: Files, path: string): Promise<void> {
  await withOpen(files, path, 'r', (folder) => folder.sync());
}

/** Opens a file, runs the work, and closes the file, also after an error. */
export async function withOpen<T>(
  files: Files,
  path: string,
  flags: 'r' | 'wx' | number,
  work: (file: OpenFile) => Promise<T>,
): Promise<T> {
  const file = await files.open(path, flags, fileMode);
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}
