/**
 * The CI job that a key was issued to, as its verified token states. Recorded with what the job
 * publishes.
 */
export interface JobOrigin {
  issuer: string;
  subject: string;
  /** URL of the repository that the job ran for. */
  repository: string;
  /** The commit that the job ran at. Null when the token names none. */
  commit: string | null;
  /** Full name, such as `refs/heads/main`. Null for a job without a ref. */
  ref: string | null;
  /** The workflow and its ref: GitHub's `workflow_ref` or GitLab's `ci_config_ref_uri`. */
  workflow: string | null;
  /** Page of the job or its run. Null when the token does not identify it. */
  run: string | null;
  /** The account that started the job, by its name on the host. Absent: the token names none. Not published. */
  startedBy?: string;
}

/** A one-line name for the job: its page, or the issuer and subject when it has none. */
export function formatJob({ run, issuer, subject }: Pick<JobOrigin, 'run' | 'issuer' | 'subject'>): string {
  return run ?? `${issuer}#${subject}`;
}

/** A CI job as its verified token describes it. */
export interface Job {
  issuer: string;
  subject: string;
  audiences: readonly string[];
  /** The token's identifier. A token can be used once. */
  tokenId: string;
  /** Which claims the token has: GitHub's (Forgejo and Gitea use them too) or GitLab's. */
  kind: 'github' | 'gitlab';
  /** `owner/name`, or a GitLab project's path. */
  repository: string;
  repositoryUrl: string;
  /** Identifiers that stay the same when the name changes owner. Null when the token has none. */
  repositoryId: string | null;
  ownerId: string | null;
  /** Full name, such as `refs/heads/main`. Null when the job has no ref or names it ambiguously. */
  ref: string | null;
  isRefProtected: boolean;
  commit: string | null;
  /**
   * The file that started the run and the file that defines this job, each with repository and ref.
   */
  workflow: string | null;
  jobWorkflow: string | null;
  environment: string | null;
  /** What started the job: `push`, `pull_request`, `merge_request_event`, … */
  event: string | null;
  /**
   * Whether the job runs for a merge request from a fork. GitHub's tokens do not say; `event` does.
   */
  isFork: boolean;
  /** Page of the job or its run. */
  run: string | null;
  /** The account that started the job, by its name on the host. Null: the token names none. */
  startedBy: string | null;
  /** ISO 8601. */
  expiresAt: string;
}

/** The part of a job that is recorded with what it publishes. */
export function originOf({ issuer, subject, repositoryUrl, commit, ref, workflow, run, startedBy }: Job): JobOrigin {
  const origin = { issuer, subject, repository: repositoryUrl, commit, ref, workflow, run };
  return { ...origin, ...(startedBy !== null && { startedBy }) };
}
