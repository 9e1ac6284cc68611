import type { Delivery, Hint, Host } from './host.ts';
import { nameOn } from './name.ts';
import { askEither, foundOn, repositoriesIn } from './owner-pages.ts';
import { idMember, pullIn, readEvent, readPayload, repositoryIn, textAt, valueAt } from './payload.ts';
import type { HostSettings } from './host-settings.ts';
import { isHmacOf } from './signature.ts';
import { createTokenHost } from './token-host.ts';

/** Actions after which a pull request must be checked. */
const opening = ['opened', 'reopened', 'synchronized', 'edited'];

/**
 * Gogs: signed hooks. Its API has neither statuses of commits nor lists of pull requests
 * (https://github.com/gogs/docs-api), so nothing is reported to it.
 */
export function createGogs(settings: HostSettings): Host {
  const { url } = settings;
  const host = createTokenHost(settings, {
    kind: 'gogs',
    product: 'Gogs',
    authorize: ({ token }) => `token ${token}`,
    isGenuine: ({ headers, body }, secrets) => isHmacOf(headers['x-gogs-signature'], body, secrets),
    readHint,
    nameOf: (repositoryUrl) => nameOn(url, repositoryUrl, false),
    pulls: () => async () => ({ items: [], isLast: true }),
    repositories(ask, owner, signal) {
      const path = encodeURIComponent(owner.path);
      const askPage = askEither(ask, owner, [`/orgs/${path}/repos`, `/users/${path}/repos`], signal);
      return async () => {
        const { json } = await askPage('');
        return { items: repositoriesIn('Gogs', json).map((item) => foundOn(url, item)), isLast: true };
      };
    },
    // Gogs finds none by its id.
    pathOf: ({ name }) => `/repos/${name}`,
    readRepository: (item) => foundOn(url, item),
    report: async () => undefined,
  });
  return {
    ...host,
    async listPulls({ credential }) {
      settings.credential(credential);
      return [];
    },
  };
}

const refOf = (number: number) => `refs/pull/${number}/head`;

/** Parses a delivery of Gogs (https://gogs.io/docs/features/webhook). */
function readHint(delivery: Delivery): Hint {
  const event = readEvent(delivery, 'x-gogs-event');
  const payload = readPayload(delivery.body);
  const name = textAt(payload, 'repository', 'full_name');
  const id = idMember(valueAt(payload, 'repository', 'id'));
  if (['push', 'create', 'delete'].includes(event)) return { kind: 'push', repository: repositoryIn(name), ...id };
  const action = textAt(payload, 'action') ?? '';
  const isOpen = opening.includes(action);
  if (event !== 'pull_request' || !(isOpen || action === 'closed')) return { kind: 'nothing', event };
  return {
    kind: 'pull',
    repository: repositoryIn(name),
    ...id,
    pull: pullIn(valueAt(payload, 'number'), valueAt(payload, 'pull_request', 'base_branch'), refOf),
    isOpen,
  };
}
