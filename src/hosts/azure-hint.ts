import { azureNameOn } from './azure-name.ts';
import type { Delivery, Hint } from './host.ts';
import { idMember, isBranch, malformedPayload, pullIn, readPayload, textAt, valueAt } from './payload.ts';

/**
 * Parses a delivery of Azure DevOps
 * (https://learn.microsoft.com/azure/devops/service-hooks/events#code).
 */
export function readAzureHint(delivery: Delivery, base: string): Hint {
  const payload = readPayload(delivery.body);
  const event = textAt(payload, 'eventType')?.slice(0, 100) ?? null;
  if (event === null) throw malformedPayload('it has no eventType');
  const isPull = /^git\.pullrequest\.(?:created|updated|merged)$/.test(event);
  const isRepository = /^git\.repo\.(?:created|renamed|deleted|statuschanged)$/.test(event);
  if (!isPull && !isRepository && event !== 'git.push') return { kind: 'nothing', event };
  const about = valueAt(payload, 'resource');
  const repository = repositoryAt(about, base);
  const id = idMember(valueAt(about, 'repository', 'id'));
  if (!isPull) return { kind: isRepository ? 'repository' : 'push', repository, ...id };
  const target = branchOf(valueAt(about, 'targetRefName'));
  const pull = pullIn(valueAt(about, 'pullRequestId'), target, () => refOf(about));
  return { kind: 'pull', repository, ...id, pull, isOpen: valueAt(about, 'status') === 'active' };
}

function repositoryAt(resource: unknown, base: string): string {
  const remote = textAt(resource, 'repository', 'remoteUrl');
  const name = remote === null ? null : azureNameOn(base, remote);
  if (name !== null) return name;
  throw malformedPayload(
    remote === null
      ? 'it does not name a repository; set "Resource details to send" of the service hook to All'
      : `its repository is not at ${base}`,
  );
}

/** The branch that a full ref names, or undefined. */
export function branchOf(ref: unknown): unknown {
  return typeof ref === 'string' && ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : undefined;
}

/** The branch that a pull request comes from. Azure DevOps has no ref in the target for a fork's. */
export function refOf(pull: unknown): string | null {
  const branch = branchOf(valueAt(pull, 'sourceRefName'));
  const isFork = (valueAt(pull, 'forkSource') ?? null) !== null;
  return !isFork && isBranch(branch) ? `refs/heads/${branch}` : null;
}
