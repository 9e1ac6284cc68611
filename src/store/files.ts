import type { Dirent } from 'node:fs';
import { stat } from 'node:fs/promises';
import { codeOf, ignoring, isRegistryError, RegistryError, unavailable } from '../model/errors.ts';
import { createHash, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { isTaken, processSpace } from './process.ts';

/**
 * The calls of `node:fs/promises` that a folder bucket makes, so that a test can count them, make
 * them fail, and drop what was not fsynced.
 */
export interface Files {
  access(path: string): Promise<void>;
  link(from: string, to: string): Promise<void>;
  mkdir(path: string, mode: number): Promise<unknown>;
  open(path: string, flags: 'r' | 'wx' | number, mode: number): Promise<OpenFile>;
  readFile(path: string): Promise<Buffer>;
  readdir(path: string, options: { withFileTypes: true }): Promise<Dirent[]>;
  /** `nlink` is the number of hard links. */
  stat(path: string): Promise<{ nlink: number; mtimeMs: number; isDirectory(): boolean }>;
  unlink(path: string): Promise<void>;
}

/** An open file or folder. */
export interface OpenFile {
  /** Reads into the buffer, from this position of the file. */
  read(into: Uint8Array, offset: number, length: number, position: number): Promise<{ bytesRead: number }>;
  stat(): Promise<{ size: number; isFile(): boolean }>;
  writeFile(bytes: Uint8Array): Promise<void>;
  sync(): Promise<void>;
  close(): Promise<void>;
}

/** Mode of every folder in the data folder: only for its owner, whatever the umask. */
export const folderMode = 0o700;

/** Mode of every file in the data folder. */
export const fileMode = 0o600;

/** Whether others than the owner have access to a folder. False if it is missing, and on Windows. */
export async function isOpenToOthers(folder: string): Promise<boolean> {
  const stats = await stat(folder).catch(() => null);
  return stats !== null && process.platform !== 'win32' && (stats.mode & 0o077) !== 0;
}

/**
 * Throws `unavailable` for root in a folder of another user, whose server could not read what root writes there.
 * The first of the folders that is there tells: who made `.tmp` made the store, and the root of a volume may belong to
 * anybody.
 */
export async function assertOwn(...folders: string[]): Promise<void> {
  if (process.geteuid?.() !== 0) return;
  for (const folder of folders) {
    const { uid } = (await stat(folder).catch(() => null)) ?? {};
    if (uid === 0) return;
    if (uid === undefined) continue;
    const message = `${folder} belongs to another user (${uid}), whose server could not read what root writes there.`;
    throw unavailable(`${message} Run this as that user, with sudo -u '#${uid}'.`);
  }
}

/** Why a file cannot be used, where that is no bug in Stele. */
const faults = new Map([
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EROFS', 'its file system is read-only'],
  ['EIO', 'its disk reports an error'],
  ['EMFILE', 'too many files are open'],
  ['ENFILE', 'too many files are open'],
  ['EFBIG', 'the file exceeds the size limit of this process'],
  ['ENOTDIR', 'a file is in the place of a folder'],
]);

/** Why a write failed, as a sentence without its period; null for a bug. */
function whyNotWritten(cause: unknown): string | null {
  const code = codeOf(cause);
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'The store has no space left';
  if (code === 'ENOENT') return 'The folder of the store is missing';
  return faults.has(code) ? `The store is not writable: ${faults.get(code)}` : null;
}

/** For `catch` after a write that did not happen: throws `unavailable` for a known reason, else the error itself. */
export function refuseWrite(cause: unknown): never {
  const reason = isRegistryError(cause) ? null : whyNotWritten(cause);
  if (reason === null) throw cause;
  throw unavailable(`${reason}; nothing was written.`, { cause, retryAfter: 5 });
}

/** The error for an unconfirmed write. Reading it back proves nothing: that reads the page cache, not the disk. */
export function notConfirmed(cause: unknown): RegistryError {
  const message = 'The disk did not confirm the write, so it may be lost. Retry with the same Idempotency-Key.';
  return new RegistryError('outcome_unknown', message, { cause, retryAfter: 5 });
}

/** Returns the error for a store that is not writable. */
export function notWritable(cause: unknown): RegistryError {
  const reason = whyNotWritten(cause) ?? 'The disk of the store does not confirm writes';
  return unavailable(`${reason}.`, { cause, retryAfter: 5 });
}

/** For `catch` after a read: throws `unavailable` for a known reason, else the error itself. */
export function refuseRead(cause: unknown): never {
  const reason = faults.get(codeOf(cause));
  if (reason === undefined) throw cause;
  throw unavailable(`The store cannot be read: ${reason}.`, { cause, retryAfter: 5 });
}

/** A handler for `catch` that throws `unavailable`, saying why the path cannot be the data folder. */
export function refuseFolder(path: string): (cause: unknown) => never {
  return (cause) => {
    if (isRegistryError(cause)) throw cause;
    const code = codeOf(cause);
    const isInTheWay = code === 'ENOTDIR' || code === 'EEXIST';
    const own = isInTheWay ? 'a file is in its place' : code === 'ENOENT' ? 'a folder cannot be created there' : null;
    const reason = own ?? faults.get(code) ?? (cause as Error).message;
    throw unavailable(`${path} cannot be the data folder: ${reason}.`, { cause });
  };
}

/** Temporary files of this process, so that another bucket on the same folder does not delete them. */
const ownFiles = new Set<string>();
/** Age in milliseconds at which any temporary file is deleted. None is needed for a minute. */
const stale = 60 * 60 * 1000;
const pattern = /^([0-9a-f]{12})\.(\d+)\.[0-9a-f-]{36}$/;

/**
 * Runs the work with the path of an unused file in a shared folder, for bytes that have no name yet,
 * and deletes the file afterwards. Names hold the pid, so that files of dead processes are recognized.
 */
export async function withTemporaryFile<T>(
  files: Files,
  folder: string,
  work: (path: string) => Promise<T>,
): Promise<T> {
  const name = `${spaceName()}.${process.pid}.${randomUUID()}`;
  ownFiles.add(name);
  try {
    return await work(join(folder, name));
  } finally {
    // If this fails, the next start deletes the file.
    await files.unlink(join(folder, name)).catch(() => undefined);
    ownFiles.delete(name);
  }
}

/** Deletes files of dead processes and files older than an hour. Files that cannot be deleted are ignored. */
export async function sweepTemporaryFiles(files: Files, folder: string, now: number): Promise<void> {
  const entries = await files.readdir(folder, { withFileTypes: true });
  for (const entry of entries) {
    if (!entry.isFile() || ownFiles.has(entry.name)) continue;
    const path = join(folder, entry.name);
    if (isLeft(entry.name) || (await ageOf(files, path, now)) > stale) await files.unlink(path).catch(() => undefined);
  }
}

async function ageOf(files: Files, path: string, now: number): Promise<number> {
  const stats = await files.stat(path).catch(ignoring('ENOENT'));
  return stats === null ? 0 : now - stats.mtimeMs;
}

/** Reports whether the file belongs to a dead process. False for other machines and containers. */
function isLeft(name: string): boolean {
  const [, space, pid] = pattern.exec(name) ?? [];
  return space === spaceName() && (Number(pid) === process.pid || !isTaken(Number(pid)));
}

function spaceName(): string {
  return createHash('sha256').update(processSpace).digest('hex').slice(0, 12);
}
