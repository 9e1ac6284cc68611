import { problemAtFile } from '../model/problem.ts';
import type { SnapshotFile, SnapshotEntry } from './snapshot.ts';
import { tooLarge } from '../model/errors.ts';
import { isPlainPath, nearestName } from './git-names.ts';
import type { TreeEntry } from './git-format.ts';

type Refused = Extract<SnapshotFile, { found: false }>;

/** The path leads out of the tree, or is invalid. */
export function outsideTree(path: string): Refused {
  return refused(
    path,
    'path-outside-tree',
    'A path must be relative and inside the tree, without empty, "." or ".." segments.',
  );
}

/** The file does not exist. `hint` is the path that was probably meant. */
export function missing(path: string, hint: string | null, detail = 'There is no such file'): Refused {
  return refused(path, 'file-missing', `${detail}.${hint === null ? '' : ` Did you mean ${JSON.stringify(hint)}?`}`);
}

/** The path, or its folder `at`, leads elsewhere. Links are never followed, and no other repository is read. */
function leadsAway(path: string, at: string, kind: 'symlink' | 'submodule'): Refused {
  const what = at === path ? 'This' : `The folder ${JSON.stringify(at)}`;
  return kind === 'symlink'
    ? refused(path, 'symlink', `${what} is a symbolic link; links are not followed. Name the file itself.`)
    : refused(path, 'submodule', `${what} is a submodule; other repositories are not read. Connect that repository itself.`); // prettier-ignore
}

/** The file is larger than the limit, in bytes. */
export function fileTooLarge(path: string, size: number, limit: number): Refused {
  return refused(path, 'file-too-large', `The file has ${size} bytes; the limit is ${limit}.`);
}

const pointer = /^version https:\/\/git-lfs\.github\.com\/spec\/v1\n/;

/** A problem when the bytes are a Git LFS pointer (its specification v1), else null. */
export function lfsPointer(path: string, bytes: Uint8Array): Refused | null {
  if (bytes.length > 1024) return null;
  const text = Buffer.from(bytes).toString('latin1');
  if (!pointer.test(text)) return null;
  const size = /^size (\d+)$/m.exec(text)?.[1] ?? 'unknown';
  return refused(
    path,
    'lfs-pointer',
    `The file is stored in Git LFS (${size} bytes), so its content is not in git. Commit the file itself.`,
  );
}

function refused(path: string, rule: string, message: string): Refused {
  return { path, found: false, problem: problemAtFile(rule, path, message) };
}

/** Lists the entries of a tree. */
export type ListTree = (tree: string) => Promise<TreeEntry[]>;

/** Lists each folder once, because a batch of thousands of files is in few folders. */
export function listOnce(list: ListTree): ListTree {
  const lists = new Map<string, ReturnType<ListTree>>();
  return (folder) => lists.getOrInsertComputed(folder, () => list(folder));
}

/** The result of a path lookup: a blob, or why there is none. */
export type LookupResult = { found: true; path: string; blob: string } | Extract<SnapshotFile, { found: false }>;

/** Every file, symlink and submodule below a tree, ordered by path. Rejects with `too_large` above the limit. */
export async function listEntries(root: string, list: ListTree, limit: number): Promise<SnapshotEntry[]> {
  const entries: SnapshotEntry[] = [];
  let count = 0;
  async function walk(tree: string, prefix: string): Promise<void> {
    for (const { name, kind, id } of await list(tree)) {
      if (++count > limit) {
        throw tooLarge(`The tree has more than ${limit} entries, which is the limit.`);
      }
      const path = prefix + name;
      if (kind === 'folder') await walk(id, `${path}/`);
      else entries.push({ path, kind, id });
    }
  }
  await walk(root, '');
  return entries;
}

/** Looks up paths, in order. Follows no links. */
export function findPaths(root: string, paths: readonly string[], list: ListTree): Promise<LookupResult[]> {
  return Array.fromAsync(paths, (path) => findPath(root, path, list));
}

async function findPath(root: string, path: string, list: ListTree): Promise<LookupResult> {
  if (!isPlainPath(path)) return outsideTree(path);
  const segments = path.split('/');
  let tree = root;
  for (const [index, segment] of segments.entries()) {
    const entry = (await list(tree)).find(({ name }) => name === segment);
    const at = segments.slice(0, index + 1).join('/');
    if (entry?.kind === 'symlink' || entry?.kind === 'submodule') return leadsAway(path, at, entry.kind);
    const isLast = index === segments.length - 1;
    if (entry?.kind === 'file' && isLast) return { found: true, path, blob: entry.id };
    if (entry?.kind === 'folder' && isLast) return missing(path, null, 'This is a folder, not a file');
    if (entry?.kind !== 'folder') return missing(path, await guess(root, segments, list));
    tree = entry.id;
  }
  return missing(path, null);
}

/** The path that was probably meant: each segment as written, or else the nearest name. */
async function guess(root: string, segments: readonly string[], list: ListTree): Promise<string | null> {
  let tree = root;
  const names: string[] = [];
  for (const [index, segment] of segments.entries()) {
    const kind = index === segments.length - 1 ? 'file' : 'folder';
    const entries = (await list(tree)).filter((entry) => entry.kind === kind);
    const name = entries.some((entry) => entry.name === segment)
      ? segment
      : nearestName(
          segment,
          entries.map((entry) => entry.name),
        );
    const entry = entries.find((each) => each.name === name);
    if (entry === undefined) return null;
    names.push(entry.name);
    tree = entry.id;
  }
  return names.join('/');
}
