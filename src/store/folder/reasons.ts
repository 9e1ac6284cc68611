import { isRegistryError, RegistryError } from '../../model/errors.ts';
import { codeOf } from './files.ts';

/** Why a file system does not take bytes, where that is not a bug of ours. */
const writing = new Map([
  ['ENOSPC', 'The store has no space left'],
  ['EDQUOT', 'The store has no space left'],
  ['EFBIG', 'The store cannot be written: the file would be over the limit of this process'],
  ['EROFS', 'The store cannot be written: its file system is read-only'],
  ['EACCES', 'The store cannot be written: this user may not'],
  ['EPERM', 'The store cannot be written: this user may not'],
  ['EIO', 'The store cannot be written: its disk reports an error'],
  ['EMFILE', 'The store cannot be written: too many files are open'],
  ['ENFILE', 'The store cannot be written: too many files are open'],
  ['ENOENT', 'The folder of the store is not there'],
  ['ENOTDIR', 'The store cannot be written: a file stands where a folder must be'],
]);

const reading = new Map([
  ['EACCES', 'this user may not'],
  ['EPERM', 'this user may not'],
  ['EIO', 'its disk reports an error'],
  ['EMFILE', 'too many files are open'],
  ['ENFILE', 'too many files are open'],
]);

const folder = new Map([
  ['EACCES', 'this user may not read and write it'],
  ['EPERM', 'this user may not make it'],
  ['EROFS', 'its file system is read-only'],
  ['ENOENT', 'no folder can be made there'],
  ['ENOTDIR', 'a file is in its place'],
  ['EEXIST', 'a file is in its place'],
]);

/** A handler for `catch`, for a write that is known not to have happened: `unavailable` with the reason, and anything else a bug. */
export function refuseWrite(cause: unknown): never {
  const reason = isRegistryError(cause) ? undefined : writing.get(codeOf(cause));
  if (reason === undefined) throw cause;
  throw new RegistryError('unavailable', `${reason}; nothing was written.`, { cause, retryAfter: 5 });
}

/** A write whose fate nobody knows. To read it back proves nothing: that shows what is in memory, not what is on the disk. */
export function notConfirmed(cause: unknown): RegistryError {
  const message =
    'The disk did not confirm the write, so nobody knows whether it lasts. Repeat the request with the same Idempotency-Key.';
  return new RegistryError('outcome_unknown', message, { cause, retryAfter: 5 });
}

/** A store that takes no bytes at the moment. */
export function notWritable(cause: unknown): RegistryError {
  const reason = writing.get(codeOf(cause)) ?? 'The disk of the store confirms no writes';
  return new RegistryError('unavailable', `${reason}.`, { cause, retryAfter: 5 });
}

/** A handler for `catch`: what cannot be read is `unavailable`, and anything else a bug. */
export function refuseRead(cause: unknown): never {
  const reason = reading.get(codeOf(cause));
  if (reason === undefined) throw cause;
  throw new RegistryError('unavailable', `The store cannot be read: ${reason}.`, { cause, retryAfter: 5 });
}

/** A handler for `catch`: why the path cannot be the data folder. */
export function refuseFolder(path: string): (cause: unknown) => never {
  return (cause) => {
    if (isRegistryError(cause)) throw cause;
    const reason = folder.get(codeOf(cause)) ?? (cause as Error).message;
    throw new RegistryError('unavailable', `${path} cannot be the data folder: ${reason}.`, { cause });
  };
}
