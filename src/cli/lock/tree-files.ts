import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, mkdir, open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { RegistryError } from '../../model/errors.ts';

/**
 * Files below a folder, by plain paths. Nothing here follows a symbolic link or enters another
 * repository. Everything throws `malformed` where that, or the file system, is in the way.
 */

/** Reads a file of at most `limit` bytes. Null: there is none. */
export async function readTreeFile(folder: string, path: string, limit: number): Promise<Buffer | null> {
  if (!(await enter(folder, path, { creates: false }))) return null;
  const file = await orNull(
    open(join(folder, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK),
    path,
  );
  if (file === null) return null;
  try {
    const status = await file.stat();
    if (!status.isFile()) throw notPlain(path, status);
    if (status.size > limit) throw new RegistryError('malformed', `${path} has more than ${limit} bytes.`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Writes a whole file or nothing: it is complete and on disk before it gets its name. */
export async function writeTreeFile(folder: string, path: string, bytes: Uint8Array): Promise<void> {
  await enter(folder, path, { creates: true });
  const target = join(folder, path);
  const before = await orNull(lstat(target), path);
  if (before !== null && !before.isFile()) throw notPlain(path, before);
  const draft = join(dirname(target), `.${basename(target)}.${randomUUID()}.tmp`);
  try {
    const file = await open(draft, 'wx', before === null ? 0o666 : before.mode);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, target);
    const parent = await open(dirname(target), 'r');
    await parent.sync();
    await parent.close();
  } catch (cause) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw unwritable(path, cause);
  }
}

/** Deletes a file, if it is there. */
export async function removeTreeFile(folder: string, path: string): Promise<void> {
  if (!(await enter(folder, path, { creates: false }))) return;
  await rm(join(folder, path), { force: true }).catch((cause: unknown) => {
    throw unwritable(path, cause);
  });
}

/** Whether the folders above the file are there, and are folders of this repository. `creates`: makes them. */
async function enter(folder: string, path: string, { creates }: { creates: boolean }): Promise<boolean> {
  let at = folder;
  for (const name of path.split('/').slice(0, -1)) {
    at = join(at, name);
    let status = await orNull(lstat(at), path);
    if (status === null && !creates) return false;
    if (status === null) {
      await mkdir(at).catch((cause: unknown) => {
        if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritable(path, cause);
      });
      status = await lstat(at);
    }
    if (!status.isDirectory()) throw notPlain(path, status, at.slice(folder.length + 1));
    if ((await orNull(lstat(join(at, '.git')), path)) !== null)
      throw new RegistryError('malformed', `${path} leads into another repository (${name}). Choose another path.`);
  }
  return true;
}

/** Null for what is not there. Throws `malformed` for everything else that fails. */
async function orNull<T>(work: Promise<T>, path: string): Promise<T | null> {
  return work.catch((cause: unknown) => {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code === 'ELOOP') throw new RegistryError('malformed', `${path} is a symbolic link. ${instead}`);
    throw new RegistryError('malformed', `${path} cannot be read (${code}).`, { cause });
  });
}

const instead = 'Replace it with a file or a folder, or choose another path.';

function notPlain(path: string, status: Stats, part = path): RegistryError {
  const what = status.isSymbolicLink() ? 'a symbolic link' : part === path ? 'not a file' : 'not a folder';
  return new RegistryError('malformed', `${part === path ? '' : `${path}: `}${part} is ${what}. ${instead}`);
}

function unwritable(path: string, cause: unknown): RegistryError {
  const { code } = cause as NodeJS.ErrnoException;
  return new RegistryError('malformed', `${path} cannot be written (${code}). Nothing of it was changed.`, { cause });
}
