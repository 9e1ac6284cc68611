import type { CheckState } from '../model/check.ts';
import { commentOnPull } from './comments/gitea-comments.ts';
import type { Delivery, Hint, Host } from './host.ts';
import { nameOn } from './name.ts';
import { askEither, foundOn, repositoriesIn, itemsIn } from './owner-pages.ts';
import { asPull, idMember, pullIn, readEvent, readPayload, repositoryIn, textAt, valueAt } from './payload.ts';
import type { HostSettings } from './host-settings.ts';
import { isHmacOf } from './signature.ts';
import { linkOf, shorten, shortName } from './statuses.ts';
import { createTokenHost } from './token-host.ts';

/**
 * https://docs.gitea.com/api/#tag/repository/operation/repoCreateStatus: there is no `neutral` or
 * `cancelled`.
 */
const states: Record<CheckState, string> = {
  running: 'pending',
  waiting: 'pending',
  success: 'success',
  neutral: 'success',
  failure: 'failure',
  cancelled: 'error',
};

/** Actions after which a pull request must be checked. */
const opening = ['opened', 'reopened', 'synchronized', 'edited'];

/** Gitea and Forgejo (codeberg.org): signed hooks and statuses of commits. */
export function createGitea(settings: HostSettings): Host {
  const { url } = settings;
  return createTokenHost(settings, {
    kind: 'gitea',
    product: 'Gitea',
    authorize: ({ token }) => `token ${token}`,
    isGenuine,
    readHint,
    nameOf: (repositoryUrl) => nameOn(url, repositoryUrl, false),
    pulls: (ask, repository, signal) => async (page) => {
      const path = `/repos/${repository.name}/pulls?state=open&limit=50&page=${page}`;
      const { json, headers } = await ask(repository, { method: 'GET', path }, signal);
      const items = itemsIn(json).map((item) => asPull(valueAt(item, 'number'), valueAt(item, 'base', 'ref'), refOf));
      // A server may return fewer items per page than requested.
      return { items, isLast: !/\brel="next"/.test(headers.get('link') ?? '') };
    },
    repositories(ask, owner, signal) {
      const path = encodeURIComponent(owner.path);
      const askPage = askEither(ask, owner, [`/orgs/${path}/repos`, `/users/${path}/repos`], signal);
      return async (page) => {
        const { json, headers } = await askPage(`limit=50&page=${page}`);
        const items = repositoriesIn('Gitea', json).map((item) => foundOn(url, item));
        return { items, isLast: !/\brel="next"/.test(headers.get('link') ?? '') };
      };
    },
    pathOf: ({ name }, id) => (id === null ? `/repos/${name}` : `/repositories/${encodeURIComponent(id)}`),
    readRepository: (item) => foundOn(url, item),
    report(ask, repository, check, signal) {
      const body = {
        state: states[check.state],
        context: shortName(check.name, 255),
        description: shorten(check.title, 255),
        ...linkOf(check, 'target_url'),
      };
      const path = `/repos/${repository.name}/statuses/${check.commit}`;
      return ask(repository, { method: 'POST', path, body }, signal);
    },
    comment: commentOnPull,
  });
}

const refOf = (number: number) => `refs/pull/${number}/head`;

/** Forgejo sends its signature in both headers. Each one present must be valid. */
async function isGenuine({ headers, body }: Delivery, secrets: readonly string[]): Promise<boolean> {
  const given = [headers['x-gitea-signature'], headers['x-forgejo-signature']].filter((value) => value !== undefined);
  const matches = await Promise.all(given.map((signature) => isHmacOf(signature, body, secrets)));
  return matches.length > 0 && !matches.includes(false);
}

/** Parses a delivery of Gitea or Forgejo (https://docs.gitea.com/usage/webhooks). */
function readHint(delivery: Delivery): Hint {
  const event = readEvent(delivery, 'x-gitea-event', 'x-forgejo-event');
  const payload = readPayload(delivery.body);
  const name = textAt(payload, 'repository', 'full_name');
  const id = idMember(valueAt(payload, 'repository', 'id'));
  if (['push', 'create', 'delete'].includes(event)) return { kind: 'push', repository: repositoryIn(name), ...id };
  if (event === 'repository') return { kind: 'repository', repository: repositoryIn(name), ...id };
  const action = textAt(payload, 'action') ?? '';
  const isOpen = opening.includes(action);
  const isPull = event === 'pull_request' || event === 'pull_request_sync';
  if (!isPull || !(isOpen || action === 'closed')) return { kind: 'nothing', event };
  const about = (...names: string[]) => valueAt(payload, 'pull_request', ...names);
  return {
    kind: 'pull',
    repository: repositoryIn(name),
    ...id,
    pull: pullIn(about('number'), about('base', 'ref'), refOf),
    isOpen,
  };
}
