import {
  createRemoteJWKSet,
  customFetch,
  decodeJwt,
  errors,
  jwtVerify,
  type FetchImplementation,
  type JWTPayload,
  type JWTVerifyGetKey,
} from 'jose';
import { type RegistryError, unauthenticated, malformed } from '../../model/errors.ts';
import type { Key } from '../../model/key.ts';
import type { Registry } from '../../registry/registry.ts';
import { exchangeToken, findPublisher } from '../../registry/keys/trust.ts';
import { askIssuer, createDiscovery, issuerNotAnswering } from './provider.ts';
import type { CiJob } from '../../model/access.ts';

/**
 * `POST /v1/token`: exchanges a CI job's OpenID Connect token for a key with a lifetime of 15
 * minutes. Throws `malformed` if it is not a token, and `unavailable` while the issuer does not
 * respond. For an invalid token, one for another audience, one used before, or a job without an
 * entry in the configuration, it always throws the same `unauthenticated`; only the log has the
 * reason.
 */
export type TokenExchange = (token: string, origin: string | null) => Promise<{ key: Key; text: string }>;

/**
 * Public-key algorithms only. With a shared secret (`HS256`) or `none`, others than the issuer
 * could sign.
 */
const algorithms = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];
const longest = 16 * 1024;
/**
 * Seconds of difference between clocks, and the greatest age of a token whatever its own `exp` says
 * (GitLab's are valid as long as the job).
 */
const leeway = 60;
const oldest = 3600;

/**
 * Creates the exchange for the configured publishers. Fetches an issuer's keys when its first token
 * arrives.
 */
export function createTokenExchange(registry: Registry, url: string): TokenExchange {
  const publishers = registry.config.trustedPublishing;
  const issuers = new Map(
    [...new Set(publishers.map(({ issuer }) => issuer))].map((issuer) => [issuer, createKeys(issuer, registry)]),
  );

  async function verify(token: string, issuer: string, keys: () => Promise<JWTVerifyGetKey>): Promise<JWTPayload> {
    const { payload } = await jwtVerify(token, await keys(), {
      algorithms,
      issuer,
      clockTolerance: leeway,
      maxTokenAge: oldest,
      currentDate: registry.now(),
      requiredClaims: ['exp', 'iat', 'aud', 'sub', 'jti'],
    });
    return payload;
  }

  function refuse(reason: string, fields: Record<string, unknown>): RegistryError {
    registry.log('warn', 'token refused', { reason, ...fields });
    return unauthenticated('The token was rejected. The log of this registry gives the reason.');
  }

  return async (token, origin) => {
    const issuer = readIssuer(token);
    const keys = issuers.get(issuer);
    if (keys === undefined) throw refuse('issuer not configured', { issuer: String(issuer).slice(0, 200), origin });
    const claims = await verify(token, issuer, keys).catch((error: unknown) => {
      const reason = explainRefusal(error);
      if (reason !== null) throw refuse(reason, { issuer, origin });
      if (!(error instanceof errors.JOSEError)) throw error;
      registry.log('error', 'issuer without keys', { issuer, error: error.message });
      throw issuerNotAnswering(error);
    });
    const job = readJob(claims);
    if (job === null) throw refuse('token names no repository', { issuer, origin });
    const { subject, repository, ref, audiences, event, run } = job;
    const facts = { issuer, subject, repository, ref, event, run, audiences: audiences.join(' '), origin };
    const match = findPublisher(publishers, job, url);
    if ('reason' in match) throw refuse(`no trusted publisher matches: ${match.reason}`, facts);
    const exchanged = await exchangeToken(registry, match.publisher, job, origin);
    if ('reason' in exchanged) throw refuse(exchanged.reason, facts);
    registry.log('info', 'token exchanged', { ...facts, organization: exchanged.key.org, key: exchanged.key.id });
    return exchanged;
  };
}

/** The token's issuer, unverified: it only decides which keys to try. */
function readIssuer(token: string): string {
  try {
    if (token.length <= longest) return decodeJwt(token).iss ?? '';
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error;
  }
  throw malformed('token must be the OpenID Connect token of a CI job.');
}

/** An issuer's public keys, cached for 10 minutes and fetched again for an unknown key id. */
function createKeys(issuer: string, { monotonic, log }: Registry): () => Promise<JWTVerifyGetKey> {
  const discover = createDiscovery({ issuer, client: null, monotonic, log });
  let keySet: { location: string; keys: JWTVerifyGetKey } | null = null;
  return async () => {
    const location = (await discover()).serverMetadata().jwks_uri!;
    if (keySet?.location !== location)
      keySet = { location, keys: createRemoteJWKSet(new URL(location), { [customFetch]: askForKeys }) };
    return keySet.keys;
  };
}

const askForKeys: FetchImplementation = async (location, options) => {
  const response = await askIssuer(location, options);
  if (response.status === 200) return response;
  throw issuerNotAnswering();
};

/** Why a token is invalid, for the log. Null if the token is not the cause. */
function explainRefusal(error: unknown): string | null {
  if (!(error instanceof errors.JOSEError) || issuerFaults.includes(error.code)) return null;
  return `${error.code}: ${error.message}`;
}

/** Errors of jose if keys do not arrive in time or are invalid. */
const issuerFaults = ['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'];

type Claims = Readonly<Record<string, unknown>>;
type HostClaims = Omit<
  CiJob,
  'issuer' | 'subject' | 'audiences' | 'tokenId' | 'expiresAt' | 'repository' | 'repositoryUrl' | 'kind'
>;

/**
 * Reads the claims of a verified token as written by GitHub Actions, Forgejo and Gitea
 * (`repository`) or GitLab (`project_path`). Null unless they have one repository, a subject and an
 * id.
 */
export function readJob(claims: Claims): CiJob | null {
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
