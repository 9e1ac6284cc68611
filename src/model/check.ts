import type { Severity } from './problem.ts';

/** A finding of a check at one place in a file. */
export interface Annotation {
  /** Path in the repository's tree. */
  path: string;
  /** 1-based. */
  line: number;
  column: number;
  severity: Severity;
  /** The rule's name. */
  rule: string;
  message: string;
}

/** The state of a check. `cancelled`: a newer commit replaced it. */
export type CheckState = 'running' | 'success' | 'failure' | 'neutral' | 'cancelled';

/**
 * What Stele reports to a git host about one commit. A commit gets one check for each resource that
 * it affects.
 */
export interface Check {
  /** 40 hexadecimal digits. */
  commit: string;
  /**
   * What the check is about, the same for every commit: `stele @acme/apis/payments`, or `stele` for
   * the repository.
   */
  name: string;
  state: CheckState;
  /** One line: `Published as 1.4.0`, `Would be published as 1.4.0`, `3 problems`. */
  title: string;
  /** Markdown. Contains nothing that readers of the repository may not see. */
  summary: string;
  annotations: Annotation[];
  /** Somebody asked for it again. A host that keeps the runs of a check gets a new one. */
  isAgain?: true;
  /** The resource's page, or null. */
  url: string | null;
}

/** The one comment of a pull request, which is edited in place. */
export interface PullComment {
  /** The pull request's number on its host. */
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
