import type { Snapshot } from './snapshot.ts';

/** Where a repository is and how to get in. */
export interface Remote {
  /** https or ssh URL, or the path of a local repository where the configuration allows it. Never holds a credential. */
  url: string;
  /** Full name of a ref (`refs/heads/main`, `refs/pull/7/head`), or `HEAD`. */
  ref: string;
  credential: Credential | null;
}

/** A credential, resolved from the configuration. Never written to argv, a URL, a log or an error. */
export type Credential = { kind: 'token'; username: string; token: string } | { kind: 'ssh'; keyFile: string };

/** Where the remote's ref stands. */
export type Tip = { found: true; commit: string } | { found: false; /** Why, for a person. */ detail: string };

/** A tag of a repository, annotated or not, and the commit that it stands for. */
export interface Tag {
  /** Without `refs/tags/`. */
  name: string;
  commit: string;
}

/** A commit of a history, and the files that it changed against its first parent. */
export interface HistoryCommit {
  commit: string;
  /** As `committedAt` of its snapshot. */
  committedAt: string | null;
  /** By path: blob id of a file that came or changed, null of one that went. Symlinks and submodules count as gone. */
  files: ReadonlyMap<string, string | null>;
  /** Files that moved without a change of content: new path → old path. */
  moves: ReadonlyMap<string, string>;
}

/** How a commit relates to an earlier one of the same branch. */
export type Ancestry = 'descendant' | 'unrelated' | 'unknown';

/**
 * Git repositories elsewhere (design §10). Nothing is checked out, no hook or filter runs, only the allowed schemes and hosts are
 * contacted, and every call ends within its time limit. Rejects with `unreachable` when the remote does not answer, refuses the credential or is
 * too slow, with `forbidden` when its scheme or host is not allowed, `too_large` past the size limit; messages hold no credential.
 */
export interface Source {
  /**
   * Asks the remote where the ref stands. Moves no objects. A repository that the host says it does not have is `found: false`, too; hosts say so of
   * those that the credential may not see.
   */
  tip(remote: Remote, signal?: AbortSignal): Promise<Tip>;

  /** Asks the remote for its tags, in order of name. Moves no objects. */
  tags(remote: Remote, signal?: AbortSignal): Promise<Tag[]>;

  /** The files of a commit that `tip` or `tags` named; fetched if need be. Rejects with `refused` for what is no commit (a tag may name anything). */
  snapshot(remote: Remote, commit: string, signal?: AbortSignal): Promise<Snapshot>;

  /**
   * The commits that lead to `commit` by first parents, oldest first, the first with all its files. Commits and trees are brought here by one
   * fetch (later snapshots of them need no other), and no blobs. More than `most` commits are refused with `too_large`, what is no commit or is cut
   * off (a shallow clone) with `refused`.
   */
  history(remote: Remote, commit: string, most: number, signal?: AbortSignal): Promise<HistoryCommit[]>;

  /**
   * Brings these commits and their trees here, by as few requests as the server allows: snapshots of them need no fetch but for blobs. What the
   * server does not hand out is left to the snapshot to tell of.
   */
  bring(remote: Remote, commits: readonly string[], signal?: AbortSignal): Promise<void>;

  /** Brings these blobs of the commit here, by as few requests as the server allows. */
  bringBlobs(remote: Remote, commit: string, blobs: readonly string[], signal?: AbortSignal): Promise<void>;

  /** Whether `commit` has `ancestor` among its ancestors, as far back as the source looks (1,000 commits). */
  ancestry(remote: Remote, commit: string, ancestor: string, signal?: AbortSignal): Promise<Ancestry>;

  /** The folder to watch for pushes when the remote is a local repository, else null. */
  watchable(remote: Remote): string | null;
}
