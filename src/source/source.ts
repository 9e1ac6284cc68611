import type { Snapshot } from './snapshot.ts';

/** Where a repository is and how to get in. */
export interface Remote {
  /** https or ssh URL, or the path of a local repository where the configuration allows it. Never holds a credential. */
  url: string;
  /** Null: the remote's HEAD. */
  branch: string | null;
  credential: Credential | null;
}

/** A credential, resolved from the configuration. Never written to argv, a URL, a log or an error. */
export type Credential = { kind: 'token'; username: string; token: string } | { kind: 'ssh'; keyFile: string };

/** Where the remote's branch stands. */
export type Tip = { found: true; commit: string } | { found: false; /** Why, for a person. */ detail: string };

/** A tag of a repository, annotated or not, and the commit that it stands for. */
export interface Tag {
  /** Without `refs/tags/`. */
  name: string;
  commit: string;
}

/** How a commit relates to an earlier one of the same branch. */
export type Ancestry = 'descendant' | 'unrelated' | 'unknown';

/**
 * Git repositories elsewhere (DESIGN §10). Nothing is checked out, no hook or filter runs, only the allowed schemes and hosts are
 * contacted, and every call ends within its time limit. Rejects with `unreachable` when the remote does not answer, refuses the credential or is
 * too slow, with `forbidden` when its scheme or host is not allowed, `too_large` past the size limit; messages hold no credential.
 */
export interface Source {
  /** Asks the remote where the branch stands. Moves no objects. */
  tip(remote: Remote, signal?: AbortSignal): Promise<Tip>;

  /** Asks the remote for its tags, in order of name. Moves no objects. */
  tags(remote: Remote, signal?: AbortSignal): Promise<Tag[]>;

  /** The files of a commit that `tip` or `tags` named; fetched if need be. Rejects with `refused` for what is no commit (a tag may name anything). */
  snapshot(remote: Remote, commit: string, signal?: AbortSignal): Promise<Snapshot>;

  /** Whether `commit` has `ancestor` among its ancestors, as far back as the source looks (1,000 commits). */
  ancestry(remote: Remote, commit: string, ancestor: string, signal?: AbortSignal): Promise<Ancestry>;

  /** The folder to watch for pushes when the remote is a local repository, else null. */
  watchable(remote: Remote): string | null;
}
