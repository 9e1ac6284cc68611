import { randomUUID } from 'node:crypto';
import { access, constants, link, mkdir, open, readdir, readFile, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { RegistryError } from '../model/errors.ts';
import { assertKey, isKey, type Bucket } from './bucket.ts';

/**
 * A bucket in a folder: a file per key. `link()` is the compare-and-swap (design §5): it fails when the name exists, for every
 * process on the same file system. Temporary files are in `.tmp`, which no key can name.
 */
export async function openFsBucket(path: string): Promise<Bucket> {
  const root = resolve(path);
  const temporary = join(root, '.tmp');
  const made = await mkdir(temporary, { recursive: true }).catch(refuseFolder(root));
  await access(temporary, constants.R_OK | constants.X_OK).catch(refuseFolder(root));
  if (made !== undefined) await syncFolders(root, dirname(resolve(made)));
  const durable = new Set<string>([root]);

  /** Makes a folder and fsyncs the parents that gained an entry, so that a path to durable bytes is itself durable. */
  async function makeFolder(folder: string): Promise<void> {
    if (durable.has(folder)) return;
    await makeFolder(dirname(folder));
    await mkdir(folder).catch(ignoring('EEXIST'));
    await syncFolder(dirname(folder));
    if (durable.size > 50_000) durable.clear();
    durable.add(root).add(folder);
  }

  /** Nothing is absent from a folder that is not there itself, as when its disk is not mounted. */
  async function assertThere(): Promise<void> {
    await access(temporary).catch((cause: unknown) => {
      throw new RegistryError('unavailable', 'The folder of the store is not there.', { cause });
    });
  }

  return {
    async get(key) {
      assertKey(key);
      const bytes = await readFile(join(root, key)).catch(ignoring('ENOENT', 'ENOTDIR', 'EISDIR'));
      if (bytes === null) await assertThere();
      return bytes;
    },

    async putIfAbsent(key, bytes) {
      assertKey(key);
      const target = join(root, key);
      const scratch = join(temporary, randomUUID());
      let named = false;
      try {
        await writeDurably(scratch, bytes);
        await makeFolder(dirname(target));
        const won = await link(scratch, target).then(() => true, ignoring('EEXIST'));
        named = true;
        // A loser waits for the winner's name to be durable too: what it reads back must not vanish.
        await syncFolder(dirname(target));
        return won ? 'created' : 'exists';
      } catch (error) {
        const reason = named ? null : reasonOf(error);
        throw reason === null
          ? error
          : new RegistryError('unavailable', `${reason}; nothing was written.`, { cause: error });
      } finally {
        await unlink(scratch).catch(ignoring('ENOENT'));
      }
    },

    async list(prefix, { after = '', limit = 1000 } = {}) {
      const found: string[] = [];
      const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1);
      if (folder !== '' && !isKey(folder.slice(0, -1))) return found;
      await walk(root, folder, { prefix, after, limit, found });
      if (found.length === 0) await assertThere();
      return found;
    },

    async delete(key) {
      assertKey(key);
      await unlink(join(root, key)).catch(ignoring('ENOENT', 'ENOTDIR', 'EISDIR'));
      await syncFolder(dirname(join(root, key))).catch(ignoring('ENOENT', 'ENOTDIR'));
    },
  };
}

interface Walk {
  prefix: string;
  after: string;
  limit: number;
  found: string[];
}

/** Depth first from a folder, in the order of whole keys: a folder `a` sorts as `a/`, after a file `a-b`. Prunes what cannot match. */
async function walk(root: string, folder: string, search: Walk): Promise<void> {
  const entries = await readdir(join(root, folder), { withFileTypes: true }).catch(ignoring('ENOENT', 'ENOTDIR'));
  const names = (entries ?? [])
    .filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isFile()))
    .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .sort();
  for (const name of names) {
    if (search.found.length >= search.limit) return;
    if (!name.startsWith(search.prefix) && !search.prefix.startsWith(name)) continue;
    if (name.endsWith('/')) {
      const isBefore = name < search.after && !search.after.startsWith(name);
      if (!isBefore) await walk(root, name, search);
    } else if (name.startsWith(search.prefix) && name > search.after) {
      search.found.push(name);
    }
  }
}

async function writeDurably(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(bytes);
    await file.sync();
  } catch (error) {
    await unlink(path).catch(ignoring('ENOENT'));
    throw error;
  } finally {
    await file.close();
  }
}

/** Whether the file system refused for want of space, before any name was made. */
const reasons = new Map([
  ['ENOSPC', 'The store has no space left'],
  ['EDQUOT', 'The store has no space left'],
  ['EROFS', 'The store cannot be written: its file system is read-only'],
  ['EACCES', 'The store cannot be written: this user may not'],
  ['EPERM', 'The store cannot be written: this user may not'],
]);

/** Why the file system does not take bytes, where that is no bug of ours. */
function reasonOf(error: unknown): string | null {
  return reasons.get((error as NodeJS.ErrnoException).code ?? '') ?? null;
}

const folderReasons = new Map([
  ['EACCES', 'this user may not read and write it'],
  ['EPERM', 'this user may not make it'],
  ['EROFS', 'its file system is read-only'],
  ['ENOENT', 'no folder can be made there'],
  ['ENOTDIR', 'a file is in its place'],
  ['EEXIST', 'a file is in its place'],
]);

function refuseFolder(root: string): (cause: unknown) => never {
  return (cause) => {
    const { code, message } = cause as NodeJS.ErrnoException;
    throw new RegistryError(
      'unavailable',
      `${root} cannot be the data folder: ${folderReasons.get(code ?? '') ?? message}.`,
      { cause },
    );
  };
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** Fsyncs a folder and those above it, up to and with `top`. */
async function syncFolders(folder: string, top: string): Promise<void> {
  await syncFolder(folder);
  if (folder !== top && folder !== dirname(folder)) await syncFolders(dirname(folder), top);
}

function ignoring(...codes: string[]): (error: unknown) => null {
  return (error) => {
    if (codes.includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    throw error;
  };
}
