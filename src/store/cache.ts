import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, ignoring, unavailable } from '../model/errors.ts';
import { fileMode, folderMode } from './files.ts';

/**
 * Bytes that were derived from stored bytes and can be derived again. Entries may vanish at any
 * time. Keys follow the grammar of bucket keys and name everything that the bytes depend on, so an
 * entry never changes.
 */
export interface Cache {
  get(key: string): Promise<Uint8Array | null>;
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Deletes all entries, so that nothing of a withdrawn version stays. */
  clear(): Promise<void>;
}

const keyGrammar = /^[a-z0-9][a-z0-9._-]*(?:\/[a-z0-9][a-z0-9._-]*)+$/;

/** Throws a TypeError for what is no key of a cache. */
export function assertCacheKey(key: string): void {
  if (!keyGrammar.test(key)) throw new TypeError(`Not a cache key: ${key}`);
}

/** Opens a cache in a folder that processes may share. Deletes the oldest files above `sizeLimit` bytes. */
export function openFolderCache(folder: string, { sizeLimit = 2 ** 31 }: { sizeLimit?: number } = {}): Cache {
  let sinceSweep = Infinity;
  return {
    async get(key) {
      assertCacheKey(key);
      return readFile(join(folder, key)).catch(ignoringAbsence);
    },
    async put(key, bytes) {
      assertCacheKey(key);
      const path = join(folder, key);
      const temporary = `${path}.${randomUUID()}.tmp`;
      try {
        await mkdir(dirname(path), { recursive: true, mode: folderMode });
        await writeFile(temporary, bytes, { mode: fileMode });
        await rename(temporary, path);
      } catch (error) {
        await rm(temporary, { force: true }).catch(() => undefined);
        // A full disk is not an error for a cache: it only costs time.
        if (!['ENOSPC', 'EDQUOT'].includes(codeOf(error)))
          throw unavailable('The cache folder is not writable. Check its permissions.', { cause: error });
      }
      sinceSweep += bytes.byteLength;
      if (sinceSweep > sizeLimit / 8) {
        sinceSweep = 0;
        await sweep(folder, sizeLimit);
      }
    },
    clear: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** Deletes the oldest files until the rest fits in three quarters of the limit. */
async function sweep(folder: string, sizeLimit: number): Promise<void> {
  const names = (await readdir(folder, { recursive: true, withFileTypes: true }).catch(ignoringAbsence)) ?? [];
  const files = [];
  for (const entry of names) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const stats = await stat(path).catch(ignoringAbsence);
    if (stats) files.push({ path, size: stats.size, at: stats.mtimeMs });
  }
  let total = files.reduce((sum, { size }) => sum + size, 0);
  for (const { path, size } of files.sort((a, b) => a.at - b.at)) {
    if (total <= sizeLimit * 0.75) return;
    await rm(path, { force: true });
    total -= size;
  }
}

const ignoringAbsence = ignoring('ENOENT', 'ENOTDIR');
