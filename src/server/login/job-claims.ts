import type { Job } from '../../model/keys/job.ts';

type Claims = Readonly<Record<string, unknown>>;
type HostClaims = Omit<
  Job,
  'issuer' | 'subject' | 'audiences' | 'tokenId' | 'expiresAt' | 'repository' | 'repositoryUrl' | 'kind'
>;

/**
 * Reads the claims of a verified token as written by GitHub Actions, Forgejo and Gitea
 * (`repository`) or GitLab (`project_path`). Null unless they have one repository, a subject and an
 * id.
 */
export function readJob(claims: Claims): Job | null {
  const { aud, exp } = claims;
  const [issuer, subject, tokenId] = [claimText(claims['iss']), claimText(claims['sub']), claimText(claims['jti'])];
  const kind = claims['repository'] === undefined ? 'gitlab' : 'github';
  // No host sends both.
  if (kind === 'github' && claims['project_path'] !== undefined) return null;
  const repository = claimText(claims[kind === 'github' ? 'repository' : 'project_path']);
  if (issuer === null || subject === null || tokenId === null || repository === null) return null;
  const audiences = (Array.isArray(aud) ? aud : [aud]).filter((text) => typeof text === 'string');
  const read = kind === 'github' ? readGitHub(claims, issuer, repository) : readGitLab(claims, issuer, repository);
  const expiresAt = new Date(Number(exp) * 1000).toISOString();
  const repositoryUrl = `${kind === 'github' ? serverOf(issuer) : issuer}/${repository}`;
  return { issuer, subject, audiences, tokenId, kind, repository, repositoryUrl, ...read, expiresAt };
}

/** https://docs.github.com/en/actions/reference/security/oidc */
function readGitHub(claims: Claims, issuer: string, repository: string): HostClaims {
  const [run, attempt] = [idOf(claims['run_id']), idOf(claims['run_attempt'])];
  const page = `${serverOf(issuer)}/${repository}/actions/runs/${run}`;
  return {
    repositoryId: idOf(claims['repository_id']),
    ownerId: idOf(claims['repository_owner_id']),
    ref: gitHubRef(claimText(claims['ref']), claims['ref_type']),
    isRefProtected: isTrue(claims['ref_protected']),
    commit: commitOf(claims['sha']),
    workflow: claimText(claims['workflow_ref']),
    jobWorkflow: claimText(claims['job_workflow_ref']),
    environment: claimText(claims['environment']),
    event: claimText(claims['event_name']),
    isFork: false,
    startedBy: claimText(claims['actor']),
    run: run === null ? null : attempt === null ? page : `${page}/attempts/${attempt}`,
  };
}

/** https://docs.gitlab.com/ci/secrets/id_token_authentication */
function readGitLab(claims: Claims, issuer: string, repository: string): HostClaims {
  const job = idOf(claims['job_id']);
  const project = [idOf(claims['project_id']), repository];
  // `project_…` names the fork in a merge request's pipeline, `job_project_…` where it runs.
  const others = [
    [idOf(claims['job_project_id']), claimText(claims['job_project_path'])],
    [idOf(claims['source_project_id']), claimText(claims['source_project_path'])],
  ];
  return {
    repositoryId: project[0]!,
    ownerId: idOf(claims['namespace_id']),
    ref: gitLabRef(claimText(claims['ref']), claims['ref_type'], claims['ref_path']),
    isRefProtected: isTrue(claims['ref_protected']),
    commit: commitOf(claims['sha']),
    workflow: claimText(claims['ci_config_ref_uri']),
    jobWorkflow: null,
    environment: claimText(claims['environment']),
    event: claimText(claims['pipeline_source']),
    isFork: others.some((other) => other.some((value, index) => value !== null && value !== project[index])),
    startedBy: claimText(claims['user_login']),
    run: job === null ? null : `${issuer}/${repository}/-/jobs/${job}`,
  };
}

/**
 * GitHub's refs are complete, with their type in another claim. If the two disagree, the ref is
 * ignored.
 */
function gitHubRef(ref: string | null, type: unknown): string | null {
  if (ref === null || !ref.startsWith('refs/')) return null;
  const isOther = (prefix: string, kind: string) => ref.startsWith(prefix) && type !== undefined && type !== kind;
  return isOther('refs/heads/', 'branch') || isOther('refs/tags/', 'tag') ? null : ref;
}

/**
 * GitLab's refs are short names. A branch may be named `refs/heads/main`; its full name is then
 * `refs/heads/refs/heads/main`.
 */
function gitLabRef(ref: string | null, type: unknown, path: unknown): string | null {
  if (ref === null || (type !== 'branch' && type !== 'tag')) return null;
  const full = `refs/${type === 'branch' ? 'heads' : 'tags'}/${ref}`;
  return path === undefined || path === full ? full : null;
}

/** Web address of the host of this issuer: GitHub, a GitHub Enterprise Server, Forgejo or Gitea. */
function serverOf(issuer: string): string {
  if (/^https:\/\/token\.actions\.githubusercontent\.com(?:\/|$)/.test(issuer)) return 'https://github.com';
  return issuer.replace(/\/(?:_services\/token|api\/actions)\/?$/, '').replace(/\/$/, '');
}

function claimText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' && value.length <= 1024 ? value : null;
}

/** Hosts write ids as numbers or as strings. */
function idOf(value: unknown): string | null {
  const text = typeof value === 'number' ? String(value) : claimText(value);
  return text !== null && /^[A-Za-z0-9_-]{1,64}$/.test(text) ? text : null;
}

function commitOf(value: unknown): string | null {
  return typeof value === 'string' && /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value) ? value : null;
}

/** Both hosts write `"true"`. */
function isTrue(value: unknown): boolean {
  return value === true || value === 'true';
}
