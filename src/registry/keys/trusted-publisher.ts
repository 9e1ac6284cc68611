import type { TrustedPublisher } from '../../config/login-config.ts';
import type { CiJob } from '../../model/access.ts';

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
