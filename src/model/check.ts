import { digestOf, hexOf, type Digest } from './digest.ts';
import type { Problem } from './problem.ts';

/** A finding of a check at one place in a file. */
export interface Annotation extends Pick<Problem, 'rule' | 'severity' | 'message' | 'line' | 'column'> {
  /** Path in the repository's tree. */
  path: string;
}

/** The state of a check. `waiting`: for an approval. `cancelled`: a newer commit replaced it. */
export type CheckState = 'running' | 'waiting' | 'success' | 'failure' | 'neutral' | 'cancelled';

/** What Stele reports to a git host about one commit: one check for each resource that it affects. */
export interface Check {
  /** 40 hexadecimal digits. */
  commit: string;
  /** What the check is about, the same for every commit: `stele @acme/apis/payments`, or `stele` for the repository. */
  name: string;
  state: CheckState;
  /** One line: `Published as 1.4.0`, `Would be published as 1.4.0`, `3 problems`. */
  title: string;
  /** Markdown. Contains nothing that readers of the repository may not see. */
  summary: string;
  annotations: Annotation[];
  /** How many changes break clients. Absent: none. */
  breaking?: number;
  /** Set when somebody asked to repeat it: a host that keeps runs of a check gets a new run. */
  isAgain?: true;
  /** The resource's page, or null. */
  url: string | null;
}

/** The one comment of a pull request, which is edited in place. */
export interface PullComment {
  number: number;
  /** The commit that it is about, and that its notes are placed in. */
  commit: string;
  /** Marks the comment and its notes as Stele's. Nobody can guess it before the first is written. */
  mark: string;
  /** Markdown. Contains nothing that readers of the repository may not see. */
  text: string;
  /** Findings to show at their lines, where the host has no annotations. */
  notes: Annotation[];
  /** Whether to write nothing unless there is a comment already. */
  isOnlyEdit: boolean;
}

/** The check of a pull request: the value of one record, created when somebody asks for a check. */
export interface PullCheck {
  org: string;
  /** `repositoryId` */
  repository: string;
  /** Null for a group of a merge queue. */
  number: number | null;
  /** Full name of the ref under which its head is fetched. */
  ref: string;
  state: 'wanted' | 'checked' | 'failed' | 'closed';
  /** The branch that it would be merged into. Absent in older records. */
  into?: string;
  /** The commit that was last checked, or whose check failed. */
  head: string | null;
  /** The commit of the target branch that it was merged into for the check. */
  base?: string;
  /** Marks its comment on the host. Made before the first is written. */
  mark?: string;
  /** Set when somebody asked for the check of `head` again. */
  isAgain?: boolean;
  /** Names of the checks that were reported to the host for `head`. */
  checks: string[];
  /** Digest of these checks. The same is not reported again when the target branch moves. */
  reported?: Digest;
  /** Why the check failed, or null. */
  detail: string | null;
  /** How many times in a row the remote did not answer for this head, and when the check is retried (ISO 8601, UTC). */
  tries?: number;
  nextAt?: string;
}

/**
 * The name of the record that holds the check of a pull request, or of a merge queue's group, which has
 * only its git ref.
 */
export function pullRef(org: string, repository: string, { number, ref }: Pick<PullCheck, 'number' | 'ref'>): string {
  const id = number === null ? `group-${hexOf(digestOf(ref)).slice(0, 16)}` : String(number);
  return `pulls/${org}/${repository}/${id}`;
}
