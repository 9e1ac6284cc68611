import { createHash } from 'node:crypto';
import { constants, type Dirent, readFileSync, realpathSync, statSync } from 'node:fs';
import { lstat, open, readdir, readlink, realpath, stat } from 'node:fs/promises';
import { dirname, join, relative, sep, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ignoring, notFound, malformed } from '../model/errors.ts';
import { blobId, type TreeEntry } from './git-format.ts';
import { findPaths, listEntries, listOnce, type ListTree, fileTooLarge, lfsPointer, missing } from './lookup.ts';
import type { Snapshot, SnapshotEntry, SnapshotFile } from './snapshot.ts';

export interface FolderLimits {
  /** Bytes per file. */
  fileBytes: number;
  /** The most names in the folder and below. Default: 100,000. */
  entries?: number;
}

/** The default of `FolderLimits.entries`. */
export const maxEntries = 100_000;

/**
 * Opens a snapshot of the working folder around a file: its git work tree, or else the file's
 * folder. `entry` is the file's path in it. The file name may lead through links, but nothing in
 * the snapshot does, nor out of the folder, nor into `.git`. Later changes in the folder are
 * visible. `root`: the folder; `isRepository`: whether it is a work tree.
 */
export async function openFolder(
  file: string,
  limits: FolderLimits,
): Promise<{ snapshot: Snapshot; entry: string; root: string; isRepository: boolean }> {
  const real = await realpath(file).catch(orVanished);
  if (real === null) throw notFound(`There is no file ${file}.`);
  if ((await stat(real)).isDirectory())
    throw malformed(`${file} is a folder. Give files, for example ${join(file, 'openapi.yaml')}.`);
  const tree = await workTreeOf(dirname(real));
  const root = tree ?? dirname(real);
  const entry = relative(root, real).split(sep).join('/');
  return { snapshot: createFolderSnapshot(root, limits), entry, root, isRepository: tree !== null };
}

/** The work tree of git that a folder is in. Null without one. */
export async function workTreeOf(folder: string): Promise<string | null> {
  if (await exists(join(folder, '.git'))) return folder;
  return dirname(folder) === folder ? null : workTreeOf(dirname(folder));
}

/** A snapshot of a folder, with everything in it. */
export function createFolderSnapshot(root: string, limits: FolderLimits): Snapshot {
  const list: ListTree = (folder) => listFolder(root, folder);
  return {
    origin: { repository: null, commit: null },
    committedAt: null,
    entries: async () => {
      const entries: SnapshotEntry[] = [];
      for (const { path, kind } of await listEntries('', list, limits.entries ?? maxEntries)) {
        const id = await idOf(join(root, path), kind).catch(orVanished);
        if (id !== null) entries.push({ path, kind, id });
      }
      return entries;
    },
    // One after the other: the files of a batch may be many.
    read: async (paths) =>
      Array.fromAsync(await findPaths('', paths, listOnce(list)), (entry) =>
        entry.found ? readFile(root, entry.path, limits.fileBytes) : entry,
      ),
  };
}

/**
 * The names in a folder as git would list them, in git's order. The id is the path. A folder with
 * its own repository is a submodule. Skips `.git`, names that are not UTF-8, and sockets, pipes and
 * devices.
 */
async function listFolder(root: string, folder: string): Promise<TreeEntry[]> {
  const entries: (TreeEntry & { key: Buffer })[] = [];
  const listed = readdir(join(root, folder), { withFileTypes: true });
  for (const entry of (await (folder === '' ? listed : listed.catch(orVanished))) ?? []) {
    const { name } = entry;
    if (name.toLowerCase() === '.git' || name.includes('\ufffd')) continue;
    const id = folder === '' ? name : `${folder}/${name}`;
    const kind = await kindOf(entry, join(root, id));
    if (kind !== null) entries.push({ name, kind, id, key: Buffer.from(kind === 'folder' ? `${name}/` : name) });
  }
  return entries.sort((a, b) => Buffer.compare(a.key, b.key)).map(({ name, kind, id }) => ({ name, kind, id }));
}

async function kindOf(entry: Dirent, path: string): Promise<TreeEntry['kind'] | null> {
  if (entry.isDirectory()) return (await exists(join(path, '.git'))) ? 'submodule' : 'folder';
  if (entry.isSymbolicLink()) return 'symlink';
  return entry.isFile() ? 'file' : null;
}

/** The id that git gives to a file. */
export async function idOf(path: string, kind: SnapshotEntry['kind']): Promise<string> {
  if (kind === 'submodule') return '0'.repeat(40);
  if (kind === 'symlink') return blobId(Buffer.from(await readlink(path)));
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  const hash = createHash('sha1').update(`blob ${(await file.stat()).size}\0`);
  await pipeline(file.createReadStream(), hash);
  return hash.digest('hex');
}

async function readFile(root: string, path: string, limit: number): Promise<SnapshotFile> {
  const at = join(root, path);
  const file = await open(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch(orVanished);
  if (file === null) return missing(path, null, 'It was deleted while it was read');
  try {
    const status = await file.stat();
    // A folder may have been replaced with a link since it was checked.
    const isInside = (await realpath(dirname(at))) === dirname(at);
    if (!status.isFile() || !isInside) return missing(path, null, 'This is not a file');
    if (status.size > limit) return fileTooLarge(path, status.size, limit);
    const bytes = await file.readFile();
    return lfsPointer(path, bytes) ?? { path, found: true, bytes, blob: null };
  } finally {
    await file.close();
  }
}

/** Null for what was there a moment ago. */
const orVanished = ignoring('ENOENT', 'ENOTDIR');

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}

/**
 * The git directory of a local repository, which changes with every push and commit. Follows a
 * `.git` file (gitrepository-layout(5)); for a linked work tree it is the shared directory. Null
 * when there is no repository.
 */
export function gitDirectory(path: string): string | null {
  try {
    const dotGit = join(path, '.git');
    const status = statSync(dotGit, { throwIfNoEntry: false });
    if (status?.isDirectory()) return realpathSync(dotGit);
    if (status?.isFile()) return realpathSync(commonDirectory(resolve(path, pointerIn(dotGit))));
    return statSync(join(path, 'HEAD')).isFile() && statSync(join(path, 'objects')).isDirectory()
      ? realpathSync(path)
      : null;
  } catch (error) {
    return ignoring('ENOENT', 'ENOTDIR', 'EACCES')(error);
  }
}

function pointerIn(file: string): string {
  return readFileSync(file, 'utf8')
    .trim()
    .replace(/^gitdir:\s*/, '');
}

function commonDirectory(folder: string): string {
  const pointer = join(folder, 'commondir');
  if (!statSync(pointer, { throwIfNoEntry: false })) return folder;
  return resolve(folder, readFileSync(pointer, 'utf8').trim());
}
