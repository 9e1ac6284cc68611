import type { Delivery, Hint } from './host.ts';
import {
  commitIn,
  idMember,
  isBranch,
  malformedPayload,
  nowMember,
  pullIn,
  readEvent,
  readPayload,
  repositoryIn,
  textAt,
  valueAt,
} from './payload.ts';

/** Actions after which a pull request must be checked. `edited` may change its base branch. */
const opening = ['opened', 'reopened', 'synchronize', 'edited', 'ready_for_review'];

/** Parses a delivery of GitHub (https://docs.github.com/webhooks/webhook-events-and-payloads). */
export function readGitHubHint(delivery: Delivery): Hint {
  const event = readEvent(delivery, 'x-github-event');
  const payload = readPayload(jsonOf(delivery));
  const id = idMember(valueAt(payload, 'repository', 'id'));
  const name = textAt(payload, 'repository', 'full_name');
  if (event === 'push' || event === 'create' || event === 'delete')
    return { kind: 'push', repository: repositoryIn(name), ...id };
  if (event === 'repository') {
    const repository = repositoryIn(formerName(payload));
    return { kind: 'repository', repository, ...id, ...nowMember(repository, name) };
  }
  if (event === 'installation_repositories') return installed(event, payload);
  const action = textAt(payload, 'action') ?? '';
  if (event === 'merge_group') return readGroup(payload, action);
  if ((event === 'check_run' || event === 'check_suite') && action === 'rerequested') {
    const commit = commitIn(textAt(payload, event, 'head_sha'));
    return { kind: 'again', repository: repositoryIn(name), commit };
  }
  const isOpen = opening.includes(action);
  if (event !== 'pull_request' || !(isOpen || action === 'closed')) return { kind: 'nothing', event };
  return {
    kind: 'pull',
    repository: repositoryIn(name),
    ...id,
    pull: pullIn(
      valueAt(payload, 'number'),
      valueAt(payload, 'pull_request', 'base', 'ref'),
      (number) => `refs/pull/${number}/head`,
    ),
    isOpen,
  };
}

/** Repositories were added to an app or removed. One of them stands for all of their owner's. */
function installed(event: string, payload: object): Hint {
  const lists = [valueAt(payload, 'repositories_added'), valueAt(payload, 'repositories_removed')];
  const [first] = lists.flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []));
  if (first === undefined) return { kind: 'nothing', event };
  return { kind: 'repository', repository: repositoryIn(textAt(first, 'full_name')) };
}

/** A merge queue's group: a branch of the repository's own, with the changes merged already. */
function readGroup(payload: object, action: string): Hint {
  const [ref, base] = ['head_ref', 'base_ref'].map((name) => textAt(payload, 'merge_group', name));
  const target = base?.replace(/^refs\/heads\//, '');
  const isBoth = ref?.startsWith('refs/heads/') && isBranch(ref.slice('refs/heads/'.length)) && isBranch(target);
  if (!isBoth) throw malformedPayload('it does not describe a merge group');
  const repository = repositoryIn(textAt(payload, 'repository', 'full_name'));
  return { kind: 'pull', repository, pull: { number: null, base: target!, ref: ref! }, isOpen: action !== 'destroyed' };
}

/** The JSON payload. A hook may send it as a form field. */
function jsonOf({ headers, body }: Delivery): Uint8Array {
  if (!/^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')) return body;
  return Buffer.from(new URLSearchParams(Buffer.from(body).toString()).get('payload') ?? '');
}

/** The name before a rename or transfer, because the repository may be followed under it. */
function formerName(payload: object): string | null {
  const name = textAt(payload, 'repository', 'full_name');
  const [owner, own] = name?.split('/') ?? [];
  const from = ['user', 'organization'].map((kind) => textAt(payload, 'changes', 'owner', 'from', kind, 'login'));
  const formerOwner = from.find((login) => login !== null);
  const formerOwn = textAt(payload, 'changes', 'repository', 'name', 'from');
  return name === null ? null : `${formerOwner ?? owner}/${formerOwn ?? own}`;
}
