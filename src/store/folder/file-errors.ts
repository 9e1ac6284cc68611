import { isRegistryError, RegistryError } from '../../model/errors.ts';
import { codeOf } from './files.ts';

/** Reasons for failed writes that are not bugs in Stele. */
const writing = new Map([
  ['ENOSPC', 'The store has no space left'],
  ['EDQUOT', 'The store has no space left'],
  ['EFBIG', 'The store is not writable: the file exceeds the size limit of this process'],
  ['EROFS', 'The store is not writable: its file system is read-only'],
  ['EACCES', 'The store is not writable: permission denied'],
  ['EPERM', 'The store is not writable: permission denied'],
  ['EIO', 'The store is not writable: its disk reports an error'],
  ['EMFILE', 'The store is not writable: too many files are open'],
  ['ENFILE', 'The store is not writable: too many files are open'],
  ['ENOENT', 'The folder of the store is missing'],
  ['ENOTDIR', 'The store is not writable: a file is in the place of a folder'],
]);

const reading = new Map([
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EIO', 'its disk reports an error'],
  ['EMFILE', 'too many files are open'],
  ['ENFILE', 'too many files are open'],
]);

const folder = new Map([
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EROFS', 'its file system is read-only'],
  ['ENOENT', 'a folder cannot be created there'],
  ['ENOTDIR', 'a file is in its place'],
  ['EEXIST', 'a file is in its place'],
]);

/**
 * For `catch` after a write that did not happen: throws `unavailable` for a known reason, else the
 * error itself.
 */
export function refuseWrite(cause: unknown): never {
  const reason = isRegistryError(cause) ? undefined : writing.get(codeOf(cause));
  if (reason === undefined) throw cause;
  throw new RegistryError('unavailable', `${reason}; nothing was written.`, { cause, retryAfter: 5 });
}

/**
 * Returns the error for an unconfirmed write. Reading it back proves nothing: that reads the page
 * cache, not the disk.
 */
export function notConfirmed(cause: unknown): RegistryError {
  const message = 'The disk did not confirm the write, so it may be lost. Retry with the same Idempotency-Key.';
  return new RegistryError('outcome_unknown', message, { cause, retryAfter: 5 });
}

/** Returns the error for a store that is not writable. */
export function notWritable(cause: unknown): RegistryError {
  const reason = writing.get(codeOf(cause)) ?? 'The disk of the store does not confirm writes';
  return new RegistryError('unavailable', `${reason}.`, { cause, retryAfter: 5 });
}

/** For `catch` after a read: throws `unavailable` for a known reason, else the error itself. */
export function refuseRead(cause: unknown): never {
  const reason = reading.get(codeOf(cause));
  if (reason === undefined) throw cause;
  throw new RegistryError('unavailable', `The store cannot be read: ${reason}.`, { cause, retryAfter: 5 });
}

/**
 * Returns a handler for `catch` that throws `unavailable`, saying why the path cannot be the data
 * folder.
 */
export function refuseFolder(path: string): (cause: unknown) => never {
  return (cause) => {
    if (isRegistryError(cause)) throw cause;
    const reason = folder.get(codeOf(cause)) ?? (cause as Error).message;
    throw new RegistryError('unavailable', `${path} cannot be the data folder: ${reason}.`, { cause });
  };
}
