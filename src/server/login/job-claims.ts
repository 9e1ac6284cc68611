import type { Job } from '../../model/job.ts';

type Claims = Readonly<Record<string, unknown>>;
type Told = Omit<
  Job,
  'issuer' | 'subject' | 'audiences' | 'tokenId' | 'expiresAt' | 'repository' | 'repositoryUrl' | 'kind'
>;

/**
 * What the claims of a verified token say, in the words of GitHub Actions, Forgejo and Gitea (`repository`) or of GitLab
 * (`project_path`). Null when they do not name one repository, a subject and an identifier.
 */
export function readJob(claims: Claims): Job | null {
  const { aud, exp } = claims;
  const [issuer, subject, tokenId] = [textOf(claims['iss']), textOf(claims['sub']), textOf(claims['jti'])];
  const kind = claims['repository'] === undefined ? 'gitlab' : 'github';
  // Both at once is neither host's way to speak.
  if (kind === 'github' && claims['project_path'] !== undefined) return null;
  const repository = textOf(claims[kind === 'github' ? 'repository' : 'project_path']);
  if (issuer === null || subject === null || tokenId === null || repository === null) return null;
  const audiences = (Array.isArray(aud) ? aud : [aud]).filter((text) => typeof text === 'string');
  const told = kind === 'github' ? readGitHub(claims, issuer, repository) : readGitLab(claims, issuer, repository);
  const expiresAt = new Date(Number(exp) * 1000).toISOString();
  const repositoryUrl = `${kind === 'github' ? serverOf(issuer) : issuer}/${repository}`;
  return { issuer, subject, audiences, tokenId, kind, repository, repositoryUrl, ...told, expiresAt };
}

/** https://docs.github.com/en/actions/reference/security/oidc */
function readGitHub(claims: Claims, issuer: string, repository: string): Told {
  const [run, attempt] = [idOf(claims['run_id']), idOf(claims['run_attempt'])];
  const page = `${serverOf(issuer)}/${repository}/actions/runs/${run}`;
  return {
    repositoryId: idOf(claims['repository_id']),
    ownerId: idOf(claims['repository_owner_id']),
    ref: gitHubRef(textOf(claims['ref']), claims['ref_type']),
    isRefProtected: isTrue(claims['ref_protected']),
    commit: commitOf(claims['sha']),
    workflow: textOf(claims['workflow_ref']),
    jobWorkflow: textOf(claims['job_workflow_ref']),
    environment: textOf(claims['environment']),
    event: textOf(claims['event_name']),
    isFork: false,
    run: run === null ? null : attempt === null ? page : `${page}/attempts/${attempt}`,
  };
}

/** https://docs.gitlab.com/ci/secrets/id_token_authentication */
function readGitLab(claims: Claims, issuer: string, repository: string): Told {
  const job = idOf(claims['job_id']);
  const project = [idOf(claims['project_id']), repository];
  // `project_…` names the fork in a merge request's pipeline, `job_project_…` where it runs.
  const others = [
    [idOf(claims['job_project_id']), textOf(claims['job_project_path'])],
    [idOf(claims['source_project_id']), textOf(claims['source_project_path'])],
  ];
  return {
    repositoryId: project[0]!,
    ownerId: idOf(claims['namespace_id']),
    ref: gitLabRef(textOf(claims['ref']), claims['ref_type'], claims['ref_path']),
    isRefProtected: isTrue(claims['ref_protected']),
    commit: commitOf(claims['sha']),
    workflow: textOf(claims['ci_config_ref_uri']),
    jobWorkflow: null,
    environment: textOf(claims['environment']),
    event: textOf(claims['pipeline_source']),
    isFork: others.some((other) => other.some((value, index) => value !== null && value !== project[index])),
    run: job === null ? null : `${issuer}/${repository}/-/jobs/${job}`,
  };
}

/** GitHub names refs in full, and says beside it which kind it is: the two agree, or the token is not believed. */
function gitHubRef(ref: string | null, type: unknown): string | null {
  if (ref === null || !ref.startsWith('refs/')) return null;
  const isOther = (prefix: string, kind: string) => ref.startsWith(prefix) && type !== undefined && type !== kind;
  return isOther('refs/heads/', 'branch') || isOther('refs/tags/', 'tag') ? null : ref;
}

/** GitLab's names are short: a branch may be called `refs/heads/main`, and is `refs/heads/refs/heads/main`. */
function gitLabRef(ref: string | null, type: unknown, path: unknown): string | null {
  if (ref === null || (type !== 'branch' && type !== 'tag')) return null;
  const full = `refs/${type === 'branch' ? 'heads' : 'tags'}/${ref}`;
  return path === undefined || path === full ? full : null;
}

/** The web address of the host whose Actions the issuer speaks for: GitHub's, a GitHub Enterprise Server's, Forgejo's or Gitea's. */
function serverOf(issuer: string): string {
  if (/^https:\/\/token\.actions\.githubusercontent\.com(?:\/|$)/.test(issuer)) return 'https://github.com';
  return issuer.replace(/\/(?:_services\/token|api\/actions)\/?$/, '').replace(/\/$/, '');
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= 1024 ? value : null;
}

/** Hosts write the same identifiers as numbers and as text. */
function idOf(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : textOf(value);
  return text !== null && /^[A-Za-z0-9_-]{1,64}$/.test(text) ? text : null;
}

function commitOf(value: unknown): string | null {
  return typeof value === 'string' && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value) ? value : null;
}

/** Both hosts write `"true"`. */
function isTrue(value: unknown): boolean {
  return value === true || value === 'true';
}
