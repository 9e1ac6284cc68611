import type { Snapshot } from './snapshot.ts';

/** A repository's address, ref and credential. */
export interface Remote {
  /**
   * https or ssh URL, or the path of a local repository if the configuration allows it. Never
   * contains a credential.
   */
  url: string;
  /** Full name of a ref (`refs/heads/main`, `refs/pull/7/head`), or `HEAD`. */
  ref: string;
  credential: Credential | null;
}

/** A credential from the configuration. Never written to arguments, a URL, a log or an error. */
export type Credential = { kind: 'token'; username: string; token: string } | { kind: 'ssh'; keyFile: string };

/** The commit of a remote's ref. `branch`: the one that `HEAD` stands for, if the remote says so. */
export type Tip =
  { found: true; commit: string; branch?: string } | { found: false; /** Why, for people. */ detail: string };

/** A tag, annotated or not, and its commit. */
export interface Tag {
  /** Without `refs/tags/`. */
  name: string;
  commit: string;
}

/** A commit of a history, and the files that it changed compared with its first parent. */
export interface HistoryCommit {
  commit: string;
  /** Same as `committedAt` of its snapshot. */
  committedAt: string | null;
  /** By path: blob id of an added or changed file, null for a removed one. Symlinks and submodules count as removed. */
  files: ReadonlyMap<string, string | null>;
  /** Files that moved without a change: new path → old path. */
  moves: ReadonlyMap<string, string>;
}

/**
 * The relation of a commit to an earlier one.
 *
 * - `descendant`: the earlier one is in its history, or is the same.
 * - `rewritten`: it is not, but both histories have a commit in common.
 * - `unrelated`: no commit in common is known. Either there is none, or the repository no longer
 *   provides the earlier commit and none of its parents that are in the mirror is in the history.
 */
export type Ancestry = 'descendant' | 'rewritten' | 'unrelated';

/**
 * What merging a commit into a branch would give. `conflict`: git cannot merge them by itself; the
 * paths are at most 20. `unrelated`: they have no common ancestor.
 */
export type Merge =
  | { outcome: 'merged'; snapshot: Snapshot }
  | { outcome: 'conflict'; paths: readonly string[] }
  | { outcome: 'unrelated' };

/**
 * Remote git repositories (design §10). Nothing is checked out, no hook or filter runs, and only
 * allowed schemes and hosts are contacted. Every call ends within its time limit. Rejects with
 * `unreachable` when the remote does not answer, rejects the credential or is too slow; with
 * `forbidden` when its scheme or host is not allowed; with `too_large` over the size limit.
 * Messages contain no credential.
 */
export interface Source {
  /**
   * Asks the remote for the commit of the ref. Fetches no objects. `found: false` also when the
   * host says that the repository does not exist, which hosts say as well when the credential may
   * not see it.
   */
  tip(remote: Remote, signal?: AbortSignal): Promise<Tip>;

  /** Asks the remote for its tags, ordered by name. Fetches no objects. */
  tags(remote: Remote, signal?: AbortSignal): Promise<Tag[]>;

  /**
   * The files of a commit from `tip` or `tags`, fetched if needed. Rejects with `refused` when it
   * is not a commit (a tag may name anything).
   */
  snapshot(remote: Remote, commit: string, signal?: AbortSignal): Promise<Snapshot>;

  /**
   * The first-parent history of `commit`, oldest first; the first commit lists all its files. One
   * fetch brings commits and trees but no blobs, and later snapshots of these commits need no
   * other. Rejects with `too_large` for more than `most` commits, and with `refused` when it is not
   * a commit or its history is cut off (a shallow clone).
   */
  history(remote: Remote, commit: string, most: number, signal?: AbortSignal): Promise<HistoryCommit[]>;

  /**
   * Fetches these commits and their trees in as few requests as the server allows. Their snapshots
   * then fetch only blobs. A commit that the server does not provide fails when its snapshot is
   * opened.
   */
  bring(remote: Remote, commits: readonly string[], signal?: AbortSignal): Promise<void>;

  /** Fetches these blobs of the commit in as few requests as the server allows. */
  bringBlobs(remote: Remote, commit: string, blobs: readonly string[], signal?: AbortSignal): Promise<void>;

  /**
   * Merges `head` (a commit and the ref that leads to it) into `commit` of the remote's ref, as
   * `git merge` would, in memory: nothing is written to the remote. The snapshot has the origin and the date of `head`.
   */
  merge(remote: Remote, commit: string, head: { commit: string; ref: string }, signal?: AbortSignal): Promise<Merge>;

  /**
   * How `commit` relates to `ancestor`. Searches the whole history; needs no network when the mirror
   * has the commit and `ancestor` is a parent. Rejects, rather than guess, with `too_large` when the
   * history exceeds the size limit, and with `refused` when it is cut off (a shallow clone).
   */
  ancestry(remote: Remote, commit: string, ancestor: string, signal?: AbortSignal): Promise<Ancestry>;

  /** The folder to watch for pushes when the remote is a local repository, else null. */
  watchable(remote: Remote): string | null;
}
