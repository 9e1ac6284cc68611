import type { Problem } from '../model/problem.ts';
import type { Provenance } from '../model/artifact.ts';

/** A file of a snapshot: its bytes, or why they may not be read. */
export type SnapshotFile =
  | { path: string; found: true; bytes: Uint8Array; /** Git blob id, or null for an upload. */ blob: string | null }
  | {
      path: string;
      found: false;
      /** `file-missing`, `symlink`, `submodule`, `lfs-pointer`, `file-too-large`, `path-outside-tree` */ problem: Problem;
    };

/** One name in a snapshot's tree. */
export interface SnapshotEntry {
  path: string;
  kind: 'file' | 'symlink' | 'submodule';
  /** Git object id; for a file, of its blob. */
  id: string;
}

/**
 * The files of one commit, or of one upload: the only way by which users' bytes get further (design §6). Nothing in it changes
 * while it is held. Paths are as in git: relative, `/` between segments, compared byte for byte.
 */
export interface Snapshot {
  /** Where it is from, without the blobs: repository URL and commit, both null for an upload. */
  readonly origin: Pick<Provenance, 'repository' | 'commit'>;

  /** When the commit was committed, as it says itself: ISO 8601, UTC. Null for an upload, and for a commit whose date is none or after the year 9999. */
  readonly committedAt: string | null;

  /** Every file, symlink and submodule, in order of path. A tree of more entries than the limit is refused with `too_large`. */
  entries(): Promise<SnapshotEntry[]>;

  /**
   * The files of these paths, in the order asked for; one batch over the network at most, whatever their number. Symlinks, submodules, LFS
   * pointers, files over the limit, absent files and paths that are not plain (`..`, `.`, empty segments, absolute, NUL) are `found: false`.
   */
  read(paths: readonly string[]): Promise<SnapshotFile[]>;
}

/** The plain files among a snapshot's entries: blob ids by path. */
export function filesOf(entries: readonly SnapshotEntry[]): Map<string, string> {
  return new Map(entries.flatMap(({ path, kind, id }) => (kind === 'file' ? [[path, id] as const] : [])));
}
