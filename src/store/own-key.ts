import { randomBytes, randomUUID } from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { RegistryError } from '../model/errors.ts';
import { fileMode, folderMode } from './private.ts';

/** The key that a registry makes for itself, where the configuration names none. */
export interface OwnKey {
  /** Null where none was made yet. */
  read(): string | null;
  /** The key, made if there is none. All processes that share the folder get the same. Throws `unavailable` when it cannot be written. */
  make(): string;
}

/**
 * A key in the file `.secret-key` of the data folder, for its owner alone. A bucket in the same folder has no key of that name (the dot),
 * so that what is copied or replicated key by key leaves it behind.
 */
export function createOwnKey(folder: string): OwnKey {
  const path = join(folder, '.secret-key');
  let known: string | null = null;

  function read(): string | null {
    try {
      return (known ??= readFileSync(path, 'utf8').trim());
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw new RegistryError('unavailable', `The key of the stored secrets cannot be read: ${path}.`, {
        cause: error,
      });
    }
  }

  /** `link` lets one process win; a crash leaves no half of a key. */
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
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      closeSync(file);
      unlinkSync(temporary);
    }
  }

  return {
    read,
    make() {
      try {
        if (read() === null) write();
      } catch (error) {
        if (error instanceof RegistryError) throw error;
        throw new RegistryError('unavailable', `The key of the stored secrets cannot be written: ${path}.`, {
          cause: error,
        });
      }
      return read()!;
    },
  };
}
