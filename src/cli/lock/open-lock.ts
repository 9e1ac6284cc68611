import { randomUUID } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rm, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { type RegistryError, malformed, conflict } from '../../model/errors.ts';
import { isUtf8 } from 'node:buffer';
import { Option, type Command } from 'commander';
import { formatLock, lockName, maxLockLength, parseLock, pathFault, type LockedContract } from '../../model/lock.ts';
import type { CommonOptions } from '../command-context.ts';

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
    if (status.size > limit) throw malformed(`${path} has more than ${limit} bytes.`);
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
  if (before === null) await assertAlone(target, path);
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

async function enter(folder: string, path: string, { creates }: { creates: boolean }): Promise<boolean> {
  let at = folder;
  for (const name of path.split('/').slice(0, -1)) {
    at = join(at, name);
    let status = await orNull(lstat(at), path);
    if (status === null && !creates) return false;
    if (status === null) {
      await assertAlone(at, path);
      await mkdir(at).catch((cause: unknown) => {
        if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritable(path, cause);
      });
      status = await lstat(at);
    }
    if (!status.isDirectory()) throw notPlain(path, status, at.slice(folder.length + 1));
    if ((await orNull(lstat(join(at, '.git')), path)) !== null)
      throw malformed(`${path} leads into another repository (${name}). Choose another path.`);
  }
  return true;
}

/** Throws if what is made here would be one with something else where a file system ignores case and Unicode form. */
async function assertAlone(target: string, path: string): Promise<void> {
  const fold = (name: string) => name.normalize('NFC').toLowerCase();
  const name = basename(target);
  const other = (await readdir(dirname(target))).find((one) => one !== name && fold(one) === fold(name));
  if (other === undefined) return;
  const says = `${path}: there is ${other}, which is the same as ${name} where case is ignored.`;
  throw malformed(`${says} Rename it, or choose another path.`);
}

async function orNull<T>(work: Promise<T>, path: string): Promise<T | null> {
  return work.catch((cause: unknown) => {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    if (code === 'ELOOP') throw malformed(`${path} is a symbolic link. ${instead}`);
    throw malformed(`${path} cannot be read (${code}).`, { cause });
  });
}

const instead = 'Replace it with a file or a folder, or choose another path.';

function notPlain(path: string, status: Stats, part = path): RegistryError {
  const what = status.isSymbolicLink() ? 'a symbolic link' : part === path ? 'not a file' : 'not a folder';
  return malformed(`${part === path ? '' : `${path}: `}${part} is ${what}. ${instead}`);
}

/** The error for a file that the system does not let a command write. */
export function unwritable(path: string, cause: unknown): RegistryError {
  const { code } = cause as NodeJS.ErrnoException;
  const advice = ['ENOSPC', 'EDQUOT'].includes(code!) ? 'The disk is full. Free some space' : 'Make it writable';
  return malformed(`${path} cannot be written (${code}). ${advice}, and run the command again.`, { cause });
}

/** Options of the commands on a lock. */
export interface LockOptions extends CommonOptions {
  lock?: string;
}

/** A lock and the folder that it is for. */
export interface OpenLock {
  /** The real path of the folder of the lock. */
  folder: string;
  contracts: LockedContract[];
  /** The text that was read. Null: there is none yet. */
  text: string | null;
}

/** The option of all commands on a lock. */
export const lockOption = new Option(
  '--lock <folder>',
  `the folder of ${lockName} (default: the nearest one up to the repository)`,
);

/**
 * Opens the nearest lock, from the current folder up to that of its repository. Throws `malformed` for
 * an invalid one, and where there is none unless it `creates` one.
 */
export async function openLock(command: Command, { creates = false } = {}): Promise<OpenLock> {
  const { lock } = command.optsWithGlobals<LockOptions>();
  const start = await realpath(lock ?? '.').catch(() => {
    throw malformed(`There is no folder ${lock}. Check --lock.`);
  });
  const folder = lock === undefined ? await nearest(start) : start;
  const text = folder === null ? null : await readLockText(folder);
  if (text === null && !creates)
    throw malformed(
      `There is no ${lockName} ${lock === undefined ? 'here, nor above in this repository' : `in ${lock}`}. stele add makes one.`,
    );
  return { folder: folder ?? start, contracts: text === null ? [] : parseLock(text), text };
}

async function nearest(start: string): Promise<string | null> {
  for (let folder = start, candidate: string | null = null; ; folder = dirname(folder)) {
    if (candidate === null && (await isThere(join(folder, lockName)))) candidate = folder;
    if (await isThere(join(folder, '.git'))) return candidate;
    // Outside of a repository, a folder above may be anybody's.
    if (dirname(folder) === folder) return candidate === start ? start : null;
  }
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function readLockText(folder: string): Promise<string | null> {
  const bytes = await readTreeFile(folder, lockName, 4 * maxLockLength);
  if (bytes !== null && !isUtf8(bytes)) throw malformed(`${lockName} is not UTF-8 text.`);
  return bytes === null ? null : bytes.toString();
}

/** Writes files, then the lock with these contracts. Throws `conflict` if somebody else wrote it since it was opened. */
export async function saveLock(
  { folder, text: before }: OpenLock,
  contracts: readonly LockedContract[],
  files: readonly { path: string; bytes: Uint8Array }[] = [],
): Promise<void> {
  const text = formatLock(contracts);
  parseLock(text);
  const own = text === before ? [] : [{ path: lockName, bytes: Buffer.from(text) }];
  for (const { path, bytes } of [...files, ...own]) {
    if ((await readLockText(folder)) !== before)
      throw conflict(`${lockName} was changed meanwhile. Run the command again.`);
    await writeTreeFile(folder, path, bytes);
  }
}

/** The path of a file in the lock, as it is named from the current folder. Throws `malformed`. */
export async function pathInLock(lock: OpenLock, name: string): Promise<string> {
  const path = relative(lock.folder, resolve(await realpath('.'), name))
    .split(sep)
    .join('/');
  const fault = pathFault(path);
  if (fault !== null) throw malformed(`The path ${JSON.stringify(name)} ${fault}.`);
  return path;
}

/**
 * The entries that a name means: a file, seen from here or as `stele list` names it, or a coordinate without a version.
 * All without a name. Throws `malformed` if there is none.
 */
export async function entriesNamed(lock: OpenLock, name: string | undefined): Promise<LockedContract[]> {
  if (name === undefined) return lock.contracts;
  const path = name.startsWith('@') ? null : relative(lock.folder, resolve(await realpath('.'), name));
  const here = lock.contracts.filter((each) => each.contract === name || each.path === path);
  const named = here.length > 0 ? here : lock.contracts.filter((each) => each.path === name);
  if (named.length === 0) throw malformed(`${name} is not in ${lockName}. stele list shows what is.`);
  return named;
}
