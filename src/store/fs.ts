import { constants } from 'node:fs';
import * as nodeFiles from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { codeOf, ignoring, unavailable } from '../model/errors.ts';
import { assertKey, isKey, type Bucket } from './bucket.ts';
import { createConfirm, syncFolder, withOpen } from './confirm.ts';
import {
  type Files,
  type OpenFile,
  assertOwn,
  folderMode,
  notConfirmed,
  refuseFolder,
  refuseRead,
  refuseWrite,
  withTemporaryFile,
  sweepTemporaryFiles,
} from './files.ts';

/**
 * Opens a bucket in a folder, one file per key. `link()` is the compare-and-swap (design §5): it
 * fails if the name exists, for every process on the same file system. Temporary files are in
 * `.tmp`, which is not a valid key; opening deletes those of killed processes. Rejects with
 * `unavailable` if the path cannot be used. Tests replace `files`.
 */
export async function openFsBucket(path: string, { files = nodeFiles }: { files?: Files } = {}): Promise<Bucket> {
  const root = resolve(path);
  const temporary = join(root, '.tmp');
  await assertOwn(temporary, root);
  await makePath(files, temporary)
    .then(() => sweepTemporaryFiles(files, temporary, Date.now()))
    .catch(refuseFolder(root));
  const confirm = createConfirm(files);
  const durable = new Set<string>([root]);

  /** Makes a folder and fsyncs each parent that gained an entry, so that the path is durable too. */
  async function makeFolder(folder: string): Promise<void> {
    if (durable.has(folder)) return;
    await makeFolder(dirname(folder));
    await files.mkdir(folder, folderMode).catch(ignoring('EEXIST'));
    await confirm.folder(dirname(folder));
    if (durable.size > 50_000) durable.clear();
    durable.add(root).add(folder);
  }

  /** Tells an absent key from a missing folder, such as an unmounted disk. */
  async function assertThere(): Promise<void> {
    await files.access(temporary).catch((cause: unknown) => {
      throw unavailable('The folder of the store is missing.', { cause, retryAfter: 5 });
    });
  }

  async function write(unnamed: string, bytes: Uint8Array, target: string): Promise<'created' | 'exists'> {
    try {
      await withOpen(files, unnamed, 'wx', async (file) => {
        await file.writeFile(bytes);
        await confirm.file(file, temporary);
      });
      await makeFolder(dirname(target));
    } catch (error) {
      return refuseWrite(error);
    }
    const isOurs = await giveName(files, unnamed, target);
    // Also for `exists`: what the caller reads back must be durable.
    await confirm.folder(dirname(target));
    return isOurs ? 'created' : 'exists';
  }

  /** Null also for what is no file. Opened so that a FIFO without a writer does not wait for one. */
  async function read(key: string, start: number, end: number): Promise<Uint8Array | null> {
    assertKey(key);
    const flags = constants.O_RDONLY | constants.O_NONBLOCK;
    const bytes = await withOpen(files, join(root, key), flags, (file) => readPart(file, start, end))
      .catch(ignoring('ENOENT', 'ENOTDIR', 'ENXIO'))
      .catch(refuseRead);
    if (bytes === null) await assertThere();
    return bytes;
  }

  return {
    get: (key) => read(key, 0, Number.POSITIVE_INFINITY),
    getPart: read,

    async putIfAbsent(key, bytes) {
      assertKey(key);
      return confirm.during(() =>
        withTemporaryFile(files, temporary, (unnamed) => write(unnamed, bytes, join(root, key))),
      );
    },

    async list(prefix, { after = '', limit = 1000 } = {}) {
      const keys: string[] = [];
      const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
      if (folder !== '' && !isKey(folder.slice(0, -1))) return keys;
      await walk(files, root, folder, { prefix, after, limit, keys }).catch(refuseRead);
      if (keys.length === 0) await assertThere();
      return keys;
    },

    async delete(key) {
      assertKey(key);
      const target = join(root, key);
      await confirm.during(async () => {
        await files
          .unlink(target)
          .catch(ignoring('ENOENT', 'ENOTDIR', 'EISDIR'))
          .catch(refuseWrite);
        if (await isFolder(files, dirname(target))) await confirm.folder(dirname(target));
      });
    },

    check: () => confirm.prove(temporary),
  };
}

async function readPart(file: OpenFile, start: number, end: number): Promise<Uint8Array | null> {
  const status = await file.stat();
  if (!status.isFile()) return null;
  const bytes = new Uint8Array(Math.max(Math.min(end, status.size) - start, 0));
  let read = 0;
  while (read < bytes.byteLength) {
    const { bytesRead } = await file.read(bytes, read, bytes.byteLength - read, start + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return bytes.subarray(0, read);
}

/**
 * Links a file to its final name; returns false if the name is taken. After an error it checks the
 * link count, as link(2) advises: on NFS a reply can be lost, and the retry then fails with EEXIST.
 */
async function giveName(files: Files, unnamed: string, target: string): Promise<boolean> {
  try {
    await files.link(unnamed, target);
    return true;
  } catch (error) {
    const { nlink } = await files.stat(unnamed).catch((cause: unknown) => {
      throw notConfirmed(cause);
    });
    if (nlink > 1) return true;
    if (codeOf(error) === 'EEXIST') return false;
    return refuseWrite(error);
  }
}

interface Walk {
  prefix: string;
  after: string;
  limit: number;
  keys: string[];
}

/** Walks a folder in the order of whole keys: a folder `a` sorts as `a/`, after a file `a-b`. */
async function walk(files: Files, root: string, folder: string, search: Walk): Promise<void> {
  const entries = await files.readdir(join(root, folder), { withFileTypes: true }).catch(ignoring('ENOENT', 'ENOTDIR'));
  const names = (entries ?? [])
    .filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isFile()))
    .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .sort();
  for (const name of names) {
    if (search.keys.length >= search.limit) return;
    if (!name.startsWith(search.prefix) && !search.prefix.startsWith(name)) continue;
    if (name.endsWith('/')) {
      const isBefore = name < search.after && !search.after.startsWith(name);
      if (!isBefore) await walk(files, root, name, search);
    } else if (name.startsWith(search.prefix) && name > search.after) {
      search.keys.push(name);
    }
  }
}

/** Makes a folder and its missing parents, each durable. `recursive` never returns where that fails (`/proc/x`). */
async function makePath(files: Files, folder: string): Promise<void> {
  if (await isFolder(files, folder)) return;
  if (dirname(folder) !== folder) await makePath(files, dirname(folder));
  await files.mkdir(folder, folderMode).catch(async (error: unknown) => {
    if (codeOf(error) !== 'EEXIST' || !(await isFolder(files, folder))) throw error;
  });
  await syncFolder(files, dirname(folder));
}

async function isFolder(files: Files, path: string): Promise<boolean> {
  const stats = await files.stat(path).catch(ignoring('ENOENT', 'ENOTDIR'));
  return stats !== null && stats.isDirectory();
}
