import type { Delivery, Hint } from './host.ts';
import { pullIn, readEvent, readPayload, repositoryIn, textAt, valueAt } from './payload.ts';

/** Actions after which a pull request is to be looked at (again). `edited` may change the branch that it is to go into. */
const opening = ['opened', 'reopened', 'synchronize', 'edited', 'ready_for_review'];

/** What a delivery of GitHub hints at (https://docs.github.com/webhooks/webhook-events-and-payloads). */
export function readGitHubHint(delivery: Delivery): Hint {
  const event = readEvent(delivery, 'x-github-event');
  const payload = readPayload(jsonOf(delivery));
  if (event === 'push' || event === 'create' || event === 'delete')
    return { kind: 'push', repository: repositoryIn(textAt(payload, 'repository', 'full_name')) };
  if (event === 'repository') return { kind: 'push', repository: repositoryIn(formerName(payload)) };
  const action = textAt(payload, 'action') ?? '';
  const isOpen = opening.includes(action);
  if (event !== 'pull_request' || !(isOpen || action === 'closed')) return { kind: 'nothing', event };
  return {
    kind: 'pull',
    repository: repositoryIn(textAt(payload, 'repository', 'full_name')),
    pull: pullIn(
      valueAt(payload, 'number'),
      valueAt(payload, 'pull_request', 'base', 'ref'),
      (number) => `refs/pull/${number}/head`,
    ),
    isOpen,
  };
}

/** A hook may be set to send a form, with the payload as its field. */
function jsonOf({ headers, body }: Delivery): Uint8Array {
  if (!/^application\/x-www-form-urlencoded\b/i.test(headers['content-type'] ?? '')) return body;
  return Buffer.from(new URLSearchParams(Buffer.from(body).toString()).get('payload') ?? '');
}

/** The name under which the repository may be followed: that before it was renamed or transferred. */
function formerName(payload: object): string | null {
  const name = textAt(payload, 'repository', 'full_name');
  const [owner, own] = name?.split('/') ?? [];
  const from = ['user', 'organization'].map((kind) => textAt(payload, 'changes', 'owner', 'from', kind, 'login'));
  const formerOwner = from.find((login) => login !== null);
  const formerOwn = textAt(payload, 'changes', 'repository', 'name', 'from');
  return name === null ? null : `${formerOwner ?? owner}/${formerOwn ?? own}`;
}
