import { problemAtFile } from '../model/problem.ts';
import type { SnapshotFile } from './snapshot.ts';

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

/** The path, or its folder `at`, is a symbolic link. Links are never followed. */
export function symlinked(path: string, at: string): Refused {
  const what = at === path ? 'This' : `The folder ${JSON.stringify(at)}`;
  return refused(path, 'symlink', `${what} is a symbolic link; links are not followed. Name the file itself.`);
}

/** The path, or its folder `at`, belongs to another repository. */
export function inSubmodule(path: string, at: string): Refused {
  const what = at === path ? 'This' : `The folder ${JSON.stringify(at)}`;
  return refused(
    path,
    'submodule',
    `${what} is a submodule; other repositories are not read. Connect that repository itself.`,
  );
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
