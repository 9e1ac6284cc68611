import { lstat, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { simpleGit } from 'simple-git';
import { createFolderSnapshot, idOf, workTreeOf, type FolderLimits } from './folder.ts';
import type { Snapshot, SnapshotEntry } from './snapshot.ts';

/**
 * Opens a snapshot of the work tree that a folder is in, as a commit of everything would be: without what git
 * ignores. Without a work tree, of the folder. `root`: where its paths start.
 */
export async function openWorkTree(
  folder: string,
  limits: FolderLimits,
): Promise<{ snapshot: Snapshot; root: string; isRepository: boolean }> {
  const real = await realpath(folder);
  const tree = await workTreeOf(real);
  const root = tree ?? real;
  const snapshot = createFolderSnapshot(root, limits);
  if (tree === null) return { snapshot, root, isRepository: false };
  return { snapshot: { ...snapshot, entries: () => listCommittable(root) }, root, isRepository: true };
}

/** The files that `git add --all` leaves in the index. */
async function listCommittable(root: string): Promise<SnapshotEntry[]> {
  const listed = await simpleGit(root).raw(['ls-files', '-z', '--cached', '--others', '--exclude-standard']);
  const entries: SnapshotEntry[] = [];
  for (const path of [...new Set(listed.split('\0'))].toSorted()) {
    const status = path === '' ? null : await lstat(join(root, path)).catch(() => null);
    const kind = status?.isSymbolicLink() ? 'symlink' : status?.isFile() ? 'file' : null;
    if (kind !== null) entries.push({ path, kind, id: await idOf(join(root, path), kind) });
  }
  return entries;
}
