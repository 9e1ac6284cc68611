import type { TrustedPublisher } from '../config.ts';
import { digestOf, hexOf } from '../model/digest.ts';
import type { Key } from '../model/key.ts';
import { createKey } from './keys.ts';
import type { Registry } from './registry.ts';

/** What a CI job's verified token says about the job. */
export interface Job {
  issuer: string;
  subject: string;
  audiences: readonly string[];
  /** The token's own identifier: what it is used up by. */
  tokenId: string;
  repository: string;
  /** Full, such as `refs/heads/main`; null for a job that has none. */
  ref: string | null;
  /** ISO 8601. */
  expiresAt: string;
}

/** A token that was exchanged: the value of the ref that keeps it from being exchanged again. */
export interface UsedToken {
  issuer: string;
  subject: string;
  repository: string;
  ref: string | null;
  organization: string;
  /** When the token itself ends: afterwards nothing needs this any more. */
  expiresAt: string;
}

/** Minutes that a key lives which a job's token was exchanged for. */
const keyMinutes = 15;

/**
 * What the claims of a verified token say, in the words of GitHub Actions, Forgejo and Gitea (`repository`, `ref`) or of GitLab
 * (`project_path`, `ref` and `ref_type`). Null when they do not name a repository, a subject and an identifier.
 */
export function readJob(claims: Readonly<Record<string, unknown>>): Job | null {
  const { iss, sub, aud, jti, exp, repository, project_path: project, ref, ref_type: refType } = claims;
  const name = typeof repository === 'string' ? repository : project;
  const texts = [iss, sub, jti, name];
  if (!texts.every((text) => typeof text === 'string' && text !== '' && text.length <= 1024)) return null;
  const [issuer, subject, tokenId, repositoryName] = texts as [string, string, string, string];
  const audiences = (Array.isArray(aud) ? aud : [aud]).filter((text) => typeof text === 'string');
  return {
    issuer,
    subject,
    audiences,
    tokenId,
    repository: repositoryName,
    ref: typeof ref === 'string' ? completeRef(ref, refType) : null,
    expiresAt: new Date(Number(exp) * 1000).toISOString(),
  };
}

/** GitLab names branches and tags without `refs/`, and says apart which of them it is. A ref that cannot be told stays as it is. */
function completeRef(ref: string, type: unknown): string {
  if (ref.startsWith('refs/')) return ref;
  if (type === 'branch') return `refs/heads/${ref}`;
  return type === 'tag' ? `refs/tags/${ref}` : ref;
}

/** The first of the configured publishers that the job is, or null. `url` is the audience of those that name none. */
export function findPublisher(publishers: readonly TrustedPublisher[], job: Job, url: string): TrustedPublisher | null {
  return (
    publishers.find(
      ({ issuer, audience = url, repository, ref }) =>
        issuer === job.issuer &&
        job.audiences.includes(audience) &&
        repository === job.repository &&
        (ref === undefined || ref === job.ref),
    ) ?? null
  );
}

/**
 * Makes the key that the publisher's entry describes, for a job whose token was verified; its text is told once. Null when the token was exchanged before: of
 * several at once one gets a key.
 */
export async function exchangeToken(
  registry: Registry,
  publisher: TrustedPublisher,
  job: Job,
  origin: string | null,
): Promise<{ key: Key; text: string } | null> {
  const { issuer, subject, repository, ref } = job;
  const author = { actor: `job:${issuer}#${subject}`, origin };
  let used = false;
  await registry.refs.update<UsedToken>(tokenRef(job), (current) => {
    used = current !== null;
    if (used) return null;
    const { organization } = publisher;
    const value: UsedToken = { issuer, subject, repository, ref, organization, expiresAt: job.expiresAt };
    return { value, change: { ...author, action: 'exchange token' } };
  });
  if (used) return null;
  const expiresAt = new Date(registry.now().getTime() + keyMinutes * 60_000).toISOString();
  const name = ref === null ? repository : `${repository} ${ref}`;
  const { organization: org, scopes, resources = null } = publisher;
  return createKey(registry, { org, name, scopes, resources, expiresAt }, author);
}

function tokenRef({ issuer, tokenId }: Job): string {
  return `tokens/${hexOf(digestOf(JSON.stringify([issuer, tokenId])))}`;
}
