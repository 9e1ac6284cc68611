import type { TrustedPublisher } from '../config.ts';
import type { Job } from '../model/job.ts';

/**
 * What starts a job that may publish, unless the entry names its `events`: what only those can start who may write to the
 * repository. A pull request, and what follows one (`workflow_run`, `parent_pipeline`), may be anybody's.
 */
const ownEvents = ['push', 'workflow_dispatch', 'schedule', 'release', 'web', 'api', 'trigger'];

/** The first of the configured publishers that the job is; else why it is none of them, for the log. `url` is the audience of those that name none. */
export function findPublisher(
  publishers: readonly TrustedPublisher[],
  job: Job,
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

/** The first thing in which the job is not what the entry trusts; null for none. */
function differenceOf(publisher: TrustedPublisher, job: Job, url: string): string | null {
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

/** Whether both the file that started the run and the file that defines the job are those that the entry names. */
function isWorkflow({ workflow, jobWorkflow }: TrustedPublisher, job: Job): boolean {
  if (workflow !== undefined && job.workflow === null && job.jobWorkflow === null) return false;
  if (jobWorkflow !== undefined && job.jobWorkflow === null) return false;
  const isNamed = (name: string | undefined, claim: string | null) =>
    name === undefined || claim === null || fullNames(name, job).includes(claim);
  return isNamed(workflow, job.workflow) && isNamed(jobWorkflow ?? workflow, job.jobWorkflow);
}

/** How the host writes the name: as it is with a ref of its own; else as a file of the repository at the job's own ref or commit. */
function fullNames(name: string, { kind, issuer, repository, ref, commit }: Job): string[] {
  if (name.includes('@')) return [name];
  const file =
    kind === 'github' ? `${repository}/${name}` : `${issuer.replace(/^https?:\/\//, '')}/${repository}//${name}`;
  return [ref, commit].flatMap((at) => (at === null ? [] : [`${file}@${at}`]));
}
