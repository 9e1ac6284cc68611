/** The CI job that a key was made for, as its verified token says: who publishes, and out of what. */
export interface JobOrigin {
  issuer: string;
  subject: string;
  /** URL of the repository that the job ran for. */
  repository: string;
  /** The commit that the job ran at; null where the token names none. */
  commit: string | null;
  /** Full, such as `refs/heads/main`; null for a job that has none. */
  ref: string | null;
  /** The workflow with its ref, as GitHub's `workflow_ref` or GitLab's `ci_config_ref_uri` has it. */
  workflow: string | null;
  /** Page of the job or of its run; null where the token does not say which it is. */
  run: string | null;
}

/** One line that names the job: its page, else what the issuer calls it. */
export function formatJob({ run, issuer, subject }: Pick<JobOrigin, 'run' | 'issuer' | 'subject'>): string {
  return run ?? `${issuer}#${subject}`;
}

/** What a CI job's verified token says about the job. */
export interface Job {
  issuer: string;
  subject: string;
  audiences: readonly string[];
  /** The token's own identifier: what it is used up by. */
  tokenId: string;
  /** Whose claims they are: GitHub's (Forgejo and Gitea have the same) or GitLab's. */
  kind: 'github' | 'gitlab';
  /** `owner/name`, or a GitLab project's path. */
  repository: string;
  repositoryUrl: string;
  /** Identifiers that a name keeps when somebody else takes it over; null where the token has none. */
  repositoryId: string | null;
  ownerId: string | null;
  /** Full, such as `refs/heads/main`; null for a job that has none, and for one that names it in a doubtful way. */
  ref: string | null;
  isRefProtected: boolean;
  commit: string | null;
  /** The file that the run was started by, and the file that defines this job; with repository and ref. */
  workflow: string | null;
  jobWorkflow: string | null;
  environment: string | null;
  /** What started it: `push`, `pull_request`, `merge_request_event`, … */
  event: string | null;
  /** Whether it runs for a fork's merge request. GitHub's tokens do not say: there the event tells. */
  isFork: boolean;
  /** Page of the job or its run. */
  run: string | null;
  /** ISO 8601. */
  expiresAt: string;
}

/** What is kept of a job with what it publishes. */
export function originOf({ issuer, subject, repositoryUrl, commit, ref, workflow, run }: Job): JobOrigin {
  return { issuer, subject, repository: repositoryUrl, commit, ref, workflow, run };
}
