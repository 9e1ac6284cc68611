import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Files, OpenFile } from './files.ts';
import { fileMode } from '../private.ts';
import { notConfirmed, notWritable } from './reasons.ts';

/**
 * fsync, believed only when it succeeds. After one that failed the system may have dropped what it could not write, and says yes the next time: so
 * nothing is confirmed any more until the store has proved itself.
 */
export interface Confirm {
  /** Makes the bytes of an open file in the folder durable. Rejects with `outcome_unknown` when the disk does not say that they are. */
  file(file: OpenFile, folder: string): Promise<void>;
  /** Makes the names in a folder durable. Rejects as `file` does. */
  folder(path: string): Promise<void>;
  /**
   * Does work that ends in a confirmed write. Rejects with `unavailable` before it, while the store is in doubt and does not prove itself; after
   * it with `outcome_unknown`, when another write was not confirmed meanwhile: the two may have shared an fsync.
   */
  during<T>(work: () => Promise<T>): Promise<T>;
  /** Writes, fsyncs and reads back bytes in the folder, and in every folder that is in doubt. Rejects with `unavailable`. */
  prove(folder: string): Promise<void>;
}

/** As large as most of what is written: a disk that has room for a byte alone is full. */
const probe = new Uint8Array(64 * 1024).fill(0x5a);

export function createConfirm(files: Files): Confirm {
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

  /** A new name makes the system write the folder's entries again, also those that it dropped. */
  async function proveFolder(folder: string): Promise<void> {
    const path = join(folder, `.probe-${randomUUID()}`);
    try {
      await withOpen(files, path, 'wx', async (file) => {
        await file.writeFile(probe);
        await file.sync();
      });
      await syncFolder(files, folder);
      const back = await files.readFile(path);
      if (!back.equals(probe)) throw new Error('The probe was read back otherwise than it was written.');
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
      // What failed meanwhile may have been dropped after the probe was written.
      if (failures === before) doubtful.delete(folder);
    }
  }

  /** Those who ask at the same time share the work. */
  const prove = (...folders: string[]): Promise<void> =>
    (proving ??= proveAll(new Set([...folders, ...doubtful])).finally(() => (proving = null)));

  return {
    file: (file, folder) => confirmed(folder, () => file.sync()),
    folder: (path) => confirmed(path, () => syncFolder(files, path)),
    async during(work) {
      while (doubtful.size > 0) await prove();
      const before = failures;
      const answer = await work();
      if (failures !== before) throw notConfirmed(new Error('Another write of this moment was not confirmed.'));
      return answer;
    },
    prove: (folder) => prove(folder),
  };
}

/** Fsyncs the names in a folder. */
export async function syncFolder(files: Files, path: string): Promise<void> {
  await withOpen(files, path, 'r', (folder) => folder.sync());
}

/** Opens, does the work, and closes, however the work ended. */
export async function withOpen(
  files: Files,
  path: string,
  flags: 'r' | 'wx',
  work: (file: OpenFile) => Promise<void>,
): Promise<void> {
  const file = await files.open(path, flags, fileMode);
  try {
    await work(file);
  } finally {
    await file.close();
  }
}
