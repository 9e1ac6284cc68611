import type { CheckState } from '../model/check.ts';
import { createAsk } from './ask.ts';
import { commentOnPull } from './comments/gitea-comments.ts';
import { inTime } from './host-fetch.ts';
import type { Delivery, Hint, Host } from './host.ts';
import { createInOrder } from '../scheduling/in-order.ts';
import { nameOn } from './name.ts';
import { askEither, askForOne, foundOn, listOwned, repositoriesIn } from './owner-pages.ts';
import { listPages } from './pull-pages.ts';
import { asPull, idMember, pullIn, readEvent, readPayload, repositoryIn, textAt, valueAt } from './payload.ts';
import { ownGitCredential, type HostSettings } from './host-settings.ts';
import { isHmacOf } from './signature.ts';
import { linkOf, shorten, shortName } from './statuses.ts';

/**
 * https://docs.gitea.com/api/#tag/repository/operation/repoCreateStatus: there is no `neutral` or
 * `cancelled`.
 */
const states: Record<CheckState, string> = {
  running: 'pending',
  success: 'success',
  neutral: 'success',
  failure: 'failure',
  cancelled: 'error',
};

/** Actions after which a pull request must be checked. */
const opening = ['opened', 'reopened', 'synchronized', 'edited'];

/** Gitea and Forgejo (codeberg.org): signed hooks and statuses of commits. */
export function createGitea(settings: HostSettings): Host {
  const { url, second } = settings;
  const ask = createAsk('Gitea', settings, ({ token }) => `token ${token}`);
  const inOrder = createInOrder();
  return {
    kind: 'gitea',
    name: settings.name,
    isGenuine,
    readHint,
    nameOf: (repositoryUrl) => nameOn(url, repositoryUrl, false),
    listPulls: (repository) =>
      inTime('Gitea', second, (signal) =>
        listPages(async (page) => {
          const path = `/repos/${repository.name}/pulls?state=open&limit=50&page=${page}`;
          const { json, headers } = await ask(repository, { method: 'GET', path }, signal);
          const items = (Array.isArray(json) ? json : []).map((item) =>
            asPull(valueAt(item, 'number'), valueAt(item, 'base', 'ref'), refOf),
          );
          // A server may return fewer items per page than requested.
          return { items, isLast: !/\brel="next"/.test(headers.get('link') ?? '') };
        }),
      ),
    listRepositories: (owner) =>
      inTime('Gitea', second, (signal) => {
        const path = encodeURIComponent(owner.path);
        const askPage = askEither(ask, owner, [`/orgs/${path}/repos`, `/users/${path}/repos`], signal);
        return listOwned(async (page) => {
          const { json, headers } = await askPage(`limit=50&page=${page}`);
          const items = repositoriesIn('Gitea', json).map((item) => foundOn(url, item));
          return { items, isLast: !/\brel="next"/.test(headers.get('link') ?? '') };
        });
      }),
    findRepository: (repository, id) =>
      inTime('Gitea', second, (signal) => {
        const path = id === null ? `/repos/${repository.name}` : `/repositories/${encodeURIComponent(id)}`;
        return askForOne(ask, repository, path, (item) => foundOn(url, item), signal);
      }),
    async reportCheck(repository, check) {
      if (settings.credential(repository.credential) === null) return;
      const path = `/repos/${repository.name}/statuses/${check.commit}`;
      const body = {
        state: states[check.state],
        context: shortName(check.name, 255),
        description: shorten(check.title, 255),
        ...linkOf(check, 'target_url'),
      };
      await inOrder(`${repository.name} ${check.commit} ${check.name}`, () =>
        inTime('Gitea', second, (signal) => ask(repository, { method: 'POST', path, body }, signal)),
      );
    },
    async comment(repository, comment) {
      if (settings.credential(repository.credential) === null) return;
      await inOrder(`${repository.name} #${comment.number}`, () =>
        inTime('Gitea', second, (signal) => commentOnPull(ask, repository, comment, signal)),
      );
    },
    gitCredential: ({ credential }) => ownGitCredential(settings, credential),
  };
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
