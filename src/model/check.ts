import type { Severity } from './problem.ts';

/** What a check says about one place of a file. */
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

/** How a check stands. `cancelled`: a newer commit took its place. */
export type CheckState = 'running' | 'success' | 'failure' | 'neutral' | 'cancelled';

/** What a git host is told about one commit: for each resource that the commit is about, one. */
export interface Check {
  /** 40 hexadecimal digits. */
  commit: string;
  /** Says what it is about, the same for every commit: `stele @acme/apis/payments`, or `stele` for the repository as a whole. */
  name: string;
  state: CheckState;
  /** One line: `Published as 1.4.0`, `Would be published as 1.4.0`, `3 problems`. */
  title: string;
  /** Markdown. Holds nothing that the reader of the repository may not know. */
  summary: string;
  annotations: Annotation[];
  /** Page of the resource, or null. */
  url: string | null;
}
