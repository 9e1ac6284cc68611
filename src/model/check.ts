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
  /** The resource's page, or null. */
  url: string | null;
}
