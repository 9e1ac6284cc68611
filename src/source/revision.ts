import { posix, join } from 'node:path';
import { simpleGit } from 'simple-git';
import { withoutCredential } from '../model/connection.ts';
import { malformed, notFound } from '../model/errors.ts';
import { maxEntries, type FolderLimits, createFolderSnapshot, idOf, workTreeOf } from './folder.ts';
import { findPaths, listEntries, listOnce, fileTooLarge, lfsPointer } from './lookup.ts';
import type { Snapshot, SnapshotFile, SnapshotEntry } from './snapshot.ts';
import { parseTree } from './git-format.ts';
import { lstat, realpath } from 'node:fs/promises';

/**
 * Opens a snapshot of a commit in the user's own repository, which `folder` is in. `text` names the
 * commit and a file in it (gitrevisions(7)): `./` before the path stands for the folder. Contacts
 * nobody. Rejects with `not_found` when there is no repository or no such commit.
 */
export async function openRevision(
  text: string,
  limits: FolderLimits,
  folder: string,
): Promise<{ snapshot: Snapshot; entry: string }> {
  const colon = text.indexOf(':');
  const [revision, path] = [text.slice(0, colon), text.slice(colon + 1)];
  const git = simpleGit(folder);
  const commit = await git.revparse(['--verify', '--end-of-options', `${revision}^{commit}`]).catch((cause: Error) => {
    throw notFound(`git does not know ${JSON.stringify(revision)} here: ${cause.message.trim()}`);
  });
  const isBelow = /^\.\.?\//.test(path);
  const entry = isBelow ? posix.join(await git.revparse(['--show-prefix']), path) : path;
  const list = listOnce(async (tree) => parseTree((await git.binaryCatFile(['tree', tree])) as Buffer));

  async function readBlob(at: string, blob: string): Promise<SnapshotFile> {
    const size = Number(await git.catFile(['-s', blob]));
    if (size > limits.fileBytes) return fileTooLarge(at, size, limits.fileBytes);
    const bytes = (await git.binaryCatFile(['blob', blob])) as Buffer;
    return lfsPointer(at, bytes) ?? { path: at, found: true, bytes, blob };
  }

  const snapshot: Snapshot = {
    origin: { repository: null, commit },
    committedAt: null,
    entries: () => listEntries(commit, list, limits.entries ?? maxEntries),
    read: async (paths) =>
      Array.fromAsync(await findPaths(commit, paths, list), (file) =>
        file.found ? readBlob(file.path, file.blob) : file,
      ),
  };
  return { snapshot, entry };
}

/**
 * Opens a snapshot of the work tree that a folder is in, as a commit of everything would be: without what git
 * ignores. Without a work tree, of the folder. `root`: where its paths start; `remote`: where it was cloned from.
 */
export async function openWorkTree(
  folder: string,
  limits: FolderLimits,
): Promise<{ snapshot: Snapshot; root: string; remote: string | null }> {
  const real = await realpath(folder);
  const root = await workTreeOf(real);
  const snapshot = createFolderSnapshot(root ?? real, limits);
  if (root === null) return { snapshot, root: real, remote: null };
  const url = await simpleGit(root)
    .remote(['get-url', 'origin'])
    .catch(() => null);
  const remote = withoutCredential((url || '').trim()) || null;
  return { snapshot: { ...snapshot, entries: () => listCommittable(root) }, root, remote };
}

/** The files that `git add --all` leaves in the index. */
async function listCommittable(root: string): Promise<SnapshotEntry[]> {
  const asked = simpleGit(root).raw(['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  const listed = await asked.catch((cause: Error) => {
    throw malformed(`git does not list the files of ${root}: ${cause.message.trim()}`);
  });
  const entries: SnapshotEntry[] = [];
  for (const path of [...new Set(listed.split('\0'))].toSorted()) {
    const status = path === '' ? null : await lstat(join(root, path)).catch(() => null);
    const kind = status?.isSymbolicLink() ? 'symlink' : status?.isFile() ? 'file' : null;
    if (kind !== null) entries.push({ path, kind, id: await idOf(join(root, path), kind) });
  }
  return entries;
}
