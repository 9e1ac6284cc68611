import type { TrustedPublisher } from '../../config/login-config.ts';
import { digestOf, hexOf } from '../../model/digest.ts';
import { formatJob, originOf, type CiJob } from '../../model/access.ts';
import type { Key } from '../../model/key.ts';
import { createKey } from './keys.ts';
import type { Author, Registry } from '../registry.ts';

/** Value of the record that prevents exchanging a token twice. Not needed once the token has expired. */
export interface UsedToken extends Pick<CiJob, 'issuer' | 'subject' | 'repository' | 'ref' | 'expiresAt'> {
  organization: string;
}

/** The ids of a repository and its owner when an organization first accepted one of its tokens. */
export type KnownRepository = Pick<CiJob, 'issuer' | 'repository' | 'repositoryId' | 'ownerId'>;

const keyMinutes = 15;

/** A key with its text, which is shown only once; or the reason for the log. */
export type Exchanged = { key: Key; text: string } | { reason: 'token used before' | 'another repository or owner' };

/**
 * Creates the key of a publisher's entry for a job with a verified token. A token can be exchanged
 * once, also concurrently. If the entry does not name the ids of repository and owner, those of the
 * first use are recorded and required from then on: somebody who takes over an abandoned name gets
 * no key.
 */
export async function exchangeToken(
  registry: Registry,
  publisher: TrustedPublisher,
  job: CiJob,
  origin: string | null,
): Promise<Exchanged> {
  const { issuer, subject, repository, ref } = job;
  const { organization: org, scopes, resources = null } = publisher;
  const from = originOf(job);
  const author = { actor: `job:${formatJob(from)}`, origin };
  if (!(await isKnown(registry, publisher, job, author))) return { reason: 'another repository or owner' };
  let used = false;
  await registry.refs.update<UsedToken>(tokenRef(job), (current) => {
    used = current !== null;
    if (used) return null;
    const value: UsedToken = { issuer, subject, repository, ref, organization: org, expiresAt: job.expiresAt };
    return { value, change: { ...author, action: 'exchange token' } };
  });
  if (used) return { reason: 'token used before' };
  const expiresAt = new Date(registry.expiryTime().getTime() + keyMinutes * 60_000).toISOString();
  const name = ref === null ? repository : `${repository} ${ref}`;
  return createKey(registry, { org, name, scopes, resources, expiresAt, job: from }, author);
}

/** Whether the job's ids are the recorded ones. Records them on first use. */
async function isKnown(registry: Registry, publisher: TrustedPublisher, job: CiJob, author: Author): Promise<boolean> {
  const { issuer, repository } = job;
  const name = `publishers/${publisher.organization}/${hexOf(digestOf(JSON.stringify([issuer, repository])))}`;
  let isSame = true;
  await registry.refs.update<KnownRepository>(name, (current) => {
    const trusted = current?.value ?? { issuer, repository, repositoryId: null, ownerId: null };
    const next = { ...trusted };
    isSame = true;
    for (const id of ['repositoryId', 'ownerId'] as const) {
      if (publisher[id] !== undefined || trusted[id] === null) next[id] = job[id];
      else if (trusted[id] !== job[id]) isSame = false;
    }
    if (!isSame || (current !== null && JSON.stringify(next) === JSON.stringify(trusted))) return null;
    return { value: next, change: { ...author, action: `know ${repository}` } };
  });
  return isSame;
}

function tokenRef({ issuer, tokenId }: CiJob): string {
  return `tokens/${hexOf(digestOf(JSON.stringify([issuer, tokenId])))}`;
}

/**
 * Default for `events`: events that only people who may write to the repository can cause. Pull
 * requests and what follows them (`workflow_run`, `parent_pipeline`) can come from anybody.
 */
const ownEvents = ['push', 'workflow_dispatch', 'schedule', 'release', 'web', 'api', 'trigger'];

/**
 * The first publisher that matches the job, or the reason for the log why none does. `url` is the
 * audience if an entry names none.
 */
export function findPublisher(
  publishers: readonly TrustedPublisher[],
  job: CiJob,
  url: string,
): { publisher: TrustedPublisher } | { reason: string } {
  const reasons: string[] = [];
  for (const publisher of publishers) {
    if (publisher.issuer !== job.issuer || publisher.repository !== job.repository) continue;
    const reason = differenceOf(publisher, job, url);
    if (reason === null) return { publisher };
    reasons.push(reason);
  }
  return { reason: reasons.length === 0 ? 'repository' : reasons.join('; ') };
}

/** The first difference between the job and the entry; null if they match. */
function differenceOf(publisher: TrustedPublisher, job: CiJob, url: string): string | null {
  const { audience = url, repositoryId, ownerId, ref, refType, environment } = publisher;
  const { refProtected = ref === undefined, events = ownEvents, forks = false } = publisher;
  if (!job.audiences.includes(audience)) return 'audience';
  if (repositoryId !== undefined && repositoryId !== job.repositoryId) return 'repository id';
  if (ownerId !== undefined && ownerId !== job.ownerId) return 'owner id';
  if (ref !== undefined && ref !== job.ref) return 'ref';
  if (refType !== undefined && !job.ref?.startsWith(refType === 'branch' ? 'refs/heads/' : 'refs/tags/'))
    return 'ref type';
  if (refProtected && !job.isRefProtected) return 'ref not protected';
  if (environment !== undefined && environment !== job.environment) return 'environment';
  if (job.event === null || !events.includes(job.event)) return `event ${job.event ?? 'not named'}`;
  if (job.isFork && !forks) return 'fork';
  return isWorkflow(publisher, job) ? null : 'workflow';
}

/** Whether both the file that started the run and the file that defines the job match the entry. */
function isWorkflow({ workflow, jobWorkflow }: TrustedPublisher, job: CiJob): boolean {
  if (workflow !== undefined && job.workflow === null && job.jobWorkflow === null) return false;
  if (jobWorkflow !== undefined && job.jobWorkflow === null) return false;
  const isNamed = (name: string | undefined, claim: string | null) =>
    name === undefined || claim === null || fullNames(name, job).includes(claim);
  return isNamed(workflow, job.workflow) && isNamed(jobWorkflow ?? workflow, job.jobWorkflow);
}

/**
 * The forms in which the host may write the name. A name with a ref is used as it is. Otherwise it
 * is a file of the repository at the job's ref or commit.
 */
function fullNames(name: string, { kind, issuer, repository, ref, commit }: CiJob): string[] {
  if (name.includes('@')) return [name];
  const file =
    kind === 'github' ? `${repository}/${name}` : `${issuer.replace(/^https?:\/\//, '')}/${repository}//${name}`;
  return [ref, commit].flatMap((at) => (at === null ? [] : [`${file}@${at}`]));
}
