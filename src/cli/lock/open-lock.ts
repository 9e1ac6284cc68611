import { lstat, realpath } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { isUtf8 } from 'node:buffer';
import type { Command } from 'commander';
import { RegistryError } from '../../model/errors.ts';
import { formatLock, lockName, maxLockLength, parseLock, pathFault, type LockedContract } from '../../model/lock.ts';
import type { CommonOptions } from '../command-context.ts';
import { readTreeFile, writeTreeFile } from './tree-files.ts';

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

/** Adds the option of all commands on a lock. */
export function withLockOption(command: Command): Command {
  return command.option('--lock <folder>', `the folder of ${lockName} (default: the nearest one up to the repository)`);
}

/**
 * Opens the nearest lock, from the current folder up to that of its repository. Throws `malformed` for
 * an invalid one, and where there is none unless it `creates` one.
 */
export async function openLock(command: Command, { creates = false } = {}): Promise<OpenLock> {
  const { lock } = command.optsWithGlobals<LockOptions>();
  const start = await realpath(lock ?? '.').catch(() => {
    throw new RegistryError('malformed', `There is no folder ${lock}. Check --lock.`);
  });
  const folder = lock === undefined ? await nearest(start) : start;
  const text = folder === null ? null : await readLockText(folder);
  if (text === null && !creates)
    throw new RegistryError(
      'malformed',
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
  if (bytes !== null && !isUtf8(bytes)) throw new RegistryError('malformed', `${lockName} is not UTF-8 text.`);
  return bytes === null ? null : bytes.toString();
}

/** Writes the lock with these contracts. Throws `conflict` if somebody else wrote it since it was opened. */
export async function saveLock(lock: OpenLock, contracts: readonly LockedContract[]): Promise<void> {
  const text = formatLock(contracts);
  if (text === lock.text) return;
  parseLock(text);
  if ((await readLockText(lock.folder)) !== lock.text)
    throw new RegistryError('conflict', `${lockName} was changed meanwhile. Run the command again.`);
  await writeTreeFile(lock.folder, lockName, Buffer.from(text));
}

/** The path of a file in the lock, as it is named from the current folder. Throws `malformed`. */
export async function pathInLock(lock: OpenLock, name: string): Promise<string> {
  const path = relative(lock.folder, resolve(await realpath('.'), name))
    .split(sep)
    .join('/');
  const fault = pathFault(path);
  if (fault !== null) throw new RegistryError('malformed', `The path ${JSON.stringify(name)} ${fault}.`);
  return path;
}

/**
 * The entries that a name means: a file, or a coordinate without a version. All without a name. Throws
 * `malformed` if there is none.
 */
export async function entriesNamed(lock: OpenLock, name: string | undefined): Promise<LockedContract[]> {
  if (name === undefined) return lock.contracts;
  const path = name.startsWith('@') ? null : relative(lock.folder, resolve(await realpath('.'), name));
  const named = lock.contracts.filter((each) => each.contract === name || each.path === path);
  if (named.length === 0)
    throw new RegistryError('malformed', `${name} is not in ${lockName}. stele list shows what is.`);
  return named;
}
