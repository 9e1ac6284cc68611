import { randomBytes, randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, ignoring, RegistryError, unavailable } from '../model/errors.ts';
import { fileMode, folderMode } from './files.ts';

/** See `createOwnKey`. */
export type OwnKey = ReturnType<typeof createOwnKey>;

/**
 * Keeps a key that a registry makes for itself, if the configuration has none, in a file of the data
 * folder, readable only by its owner. The dot makes it an invalid bucket key, so that copying the
 * bucket key by key leaves it behind.
 */
export function createOwnKey(folder: string, name: '.secret-key' | '.log-key') {
  const path = join(folder, name);
  let cachedKey: string | null = null;

  function read(): string | null {
    try {
      return (cachedKey ??= readFileSync(path, 'utf8').trim());
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw unavailable(`The key ${path} cannot be read.`, { cause: error });
    }
  }

  /** Writes by `link`, so that one process wins and a crash leaves no partial key. */
  function write(): void {
    const temporary = `${path}.${randomUUID()}`;
    mkdirSync(folder, { recursive: true, mode: folderMode });
    const file = openSync(temporary, 'wx', fileMode);
    try {
      writeSync(file, `${randomBytes(32).toString('base64url')}\n`);
      fsyncSync(file);
      linkSync(temporary, path);
      const parent = openSync(folder, 'r');
      fsyncSync(parent);
      closeSync(parent);
    } catch (error) {
      ignoring('EEXIST')(error);
    } finally {
      closeSync(file);
      unlinkSync(temporary);
    }
  }

  return {
    /** Returns the key, or null if none was made yet. */
    read,
    /**
     * Returns the key and makes it if needed. All processes that share the folder get the same key.
     * Throws `unavailable` if it cannot be written.
     */
    make(): string {
      try {
        if (read() === null) write();
      } catch (error) {
        if (error instanceof RegistryError) throw error;
        throw unavailable(`The key ${path} cannot be written.`, { cause: error });
      }
      return read()!;
    },
  };
}
