import type { Problem } from '../model/problem.ts';
import type { Provenance } from '../model/artifact.ts';
import type { CommitNote } from '../model/resource.ts';

/** A file of a snapshot: its bytes, or why it cannot be read. */
export type SnapshotFile =
  | { path: string; found: true; bytes: Uint8Array; /** Git blob id, or null for an upload. */ blob: string | null }
  | {
      path: string;
      found: false;
      /** `file-missing`, `symlink`, `submodule`, `lfs-pointer`, `file-too-large`, `path-outside-tree` */ problem: Problem;
    };

/** An entry in a snapshot's tree. */
export interface SnapshotEntry {
  path: string;
  kind: 'file' | 'symlink' | 'submodule';
  /** Git object id. For a file, the id of its blob. */
  id: string;
}

/** The signature that a commit carries. Nothing says yet that it holds. */
export interface CommitSignature {
  /** What was signed: the commit object without the signature. */
  payload: Buffer;
  /** Armored, of ssh or OpenPGP. */
  text: string;
}

/** Somebody as a commit names them, which nobody checked. */
export interface CommitPerson {
  name: string;
  email: string;
}

/**
 * The files of one commit or one upload. Users' files enter the system only through it (design §6).
 * It never changes. Paths are as in git: relative, `/` between segments, compared byte for byte.
 */
export interface Snapshot {
  /** Repository URL and commit. Both are null for an upload. */
  readonly origin: Pick<Provenance, 'repository' | 'commit'>;

  /**
   * The commit's own date: ISO 8601, UTC. Null for an upload, and for a date that is invalid or
   * after the year 9999.
   */
  readonly committedAt: string | null;

  /** Who wrote the commit and its first line. Null or absent for an upload. */
  readonly note?: CommitNote | null;

  /** The signature of the commit. Null or absent without one. */
  readonly signature?: CommitSignature | null;

  /**
   * Who changed one of these files since the commit `since`: authors, committers and co-authors (`Co-authored-by`) of
   * every commit that leads here and not there. Without `since`, or if the repository has it no more, of the whole
   * history. Null: there are too many, or the history cannot be read whole. Absent for an upload.
   */
  writers?(since: string | null, paths: readonly string[]): Promise<CommitPerson[] | null>;

  /**
   * Every file, symlink and submodule, ordered by path. Rejects with `too_large` when there are
   * more entries than the limit.
   */
  entries(): Promise<SnapshotEntry[]>;

  /**
   * Reads these paths, in order, with at most one batch over the network. Symlinks, submodules, LFS
   * pointers, files over the limit, missing files and paths that are not plain (`..`, `.`, empty
   * segments, absolute, NUL) are `found: false`.
   */
  read(paths: readonly string[]): Promise<SnapshotFile[]>;
}

/** The regular files of a snapshot: blob ids by path. */
export function filesOf(entries: readonly SnapshotEntry[]): Map<string, string> {
  return new Map(entries.flatMap(({ path, kind, id }) => (kind === 'file' ? [[path, id] as const] : [])));
}
