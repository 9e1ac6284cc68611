import type { CheckState } from '../model/check.ts';
import { isRegistryError } from '../model/errors.ts';
import { commentOnPull, writeReport } from './comments/bitbucket-comments.ts';
import type { Delivery, FoundRepository, Hint, Host } from './host.ts';
import { nameOn } from './name.ts';
import { asFound, asRepository, repositoriesIn, itemsIn } from './owner-pages.ts';
import {
  asPull,
  idMember,
  isBranch,
  nowMember,
  pullIn,
  readEvent,
  readPayload,
  repositoryIn,
  textAt,
  valueAt,
} from './payload.ts';
import { bearerOrBasic, type HostSettings } from './host-settings.ts';
import { behindSha256, isHmacOf } from './signature.ts';
import { shorten, shortName } from './statuses.ts';
import { createTokenHost } from './token-host.ts';

/**
 * https://developer.atlassian.com/cloud/bitbucket/rest/api-group-commit-statuses/: there is no
 * `neutral`.
 */
const states: Record<CheckState, string> = {
  running: 'INPROGRESS',
  waiting: 'INPROGRESS',
  success: 'SUCCESSFUL',
  neutral: 'SUCCESSFUL',
  failure: 'FAILED',
  cancelled: 'STOPPED',
};

/** Bitbucket Cloud: signed hooks and build statuses of commits. */
export function createBitbucket(settings: HostSettings): Host {
  const { url } = settings;
  return createTokenHost(settings, {
    kind: 'bitbucket',
    product: 'Bitbucket',
    authorize: bearerOrBasic,
    isGenuine: ({ headers, body }, secrets) => isHmacOf(behindSha256(headers['x-hub-signature']), body, secrets),
    readHint,
    nameOf: (repositoryUrl) => nameOn(url, repositoryUrl, false),
    pulls: (ask, repository, signal) => async (page) => {
      const query = `state=OPEN&sort=-created_on&pagelen=50&page=${page}`;
      const path = `/repositories/${repository.name}/pullrequests?${query}`;
      const { json } = await ask(repository, { method: 'GET', path }, signal);
      const items = itemsIn(valueAt(json, 'values')).map((item) =>
        asPull(valueAt(item, 'id'), valueAt(item, 'destination', 'branch', 'name'), () => refOf(item)),
      );
      return { items, isLast: valueAt(json, 'next') === undefined };
    },
    repositories: (ask, owner, signal) => async (page) => {
      const path = `/repositories/${encodeURIComponent(owner.path)}?sort=created_on&pagelen=100&page=${page}`;
      const { json } = await ask(asRepository(owner), { method: 'GET', path }, signal);
      const items = repositoriesIn('Bitbucket', valueAt(json, 'values')).map((item) => foundIn(url, item));
      return { items, isLast: valueAt(json, 'next') === undefined };
    },
    // A uuid needs no workspace, whose place must not be empty.
    pathOf: ({ name }, id) => `/repositories/${id === null ? name : `%7B%7D/${encodeURIComponent(id)}`}`,
    readRepository: (item) => foundIn(url, item),
    async report(ask, repository, check, signal) {
      // A credential that may not write reports still writes statuses.
      await writeReport(ask, repository, check, signal).catch((error: unknown) => {
        if (!isRegistryError(error, 'unreachable')) throw error;
      });
      const body = {
        key: shortName(check.name, 40),
        state: states[check.state],
        name: shorten(check.name, 255),
        description: shorten(check.title, 255),
        // Bitbucket requires a link.
        url: check.url ?? `${url}/${repository.name}/commits/${check.commit}`,
      };
      const path = `/repositories/${repository.name}/commit/${check.commit}/statuses/build`;
      await ask(repository, { method: 'POST', path, body }, signal);
    },
    comment: commentOnPull,
  });
}

/** Bitbucket archives nothing. */
function foundIn(url: string, item: unknown): FoundRepository | null {
  const clone = `${url}/${textAt(item, 'full_name')}.git`;
  const isFork = (valueAt(item, 'parent') ?? null) !== null;
  const about = { id: valueAt(item, 'uuid'), isArchived: false, isFork, isPrivate: valueAt(item, 'is_private') };
  return asFound(clone, nameOn(url, clone, false), about);
}

/**
 * The ref of a pull request's head. Bitbucket has refs only for branches of the same repository,
 * not for forks.
 */
function refOf(pull: unknown): string | null {
  const [from, to] = ['source', 'destination'].map((side) =>
    textAt(pull, side, 'repository', 'full_name')?.toLowerCase(),
  );
  const branch = valueAt(pull, 'source', 'branch', 'name');
  return from !== undefined && from === to && isBranch(branch) ? `refs/heads/${branch}` : null;
}

/**
 * Parses a delivery of Bitbucket
 * (https://support.atlassian.com/bitbucket-cloud/docs/event-payloads/).
 */
function readHint(delivery: Delivery): Hint {
  const event = readEvent(delivery, 'x-event-key');
  const payload = readPayload(delivery.body);
  const name = textAt(payload, 'repository', 'full_name');
  const id = idMember(valueAt(payload, 'repository', 'uuid'));
  if (event === 'repo:push') return { kind: 'push', repository: repositoryIn(name), ...id };
  if (event === 'repo:created' || event === 'repo:deleted')
    return { kind: 'repository', repository: repositoryIn(name), ...id };
  // The repository may be followed under its old name.
  if (event === 'repo:updated' || event === 'repo:transfer') {
    const repository = repositoryIn(textAt(payload, 'changes', 'full_name', 'old') ?? name);
    return { kind: 'repository', repository, ...id, ...nowMember(repository, name) };
  }
  const isOpen = event === 'pullrequest:created' || event === 'pullrequest:updated';
  if (!isOpen && event !== 'pullrequest:fulfilled' && event !== 'pullrequest:rejected')
    return { kind: 'nothing', event };
  const pull = valueAt(payload, 'pullrequest');
  return {
    kind: 'pull',
    repository: repositoryIn(name),
    ...id,
    pull: pullIn(valueAt(pull, 'id'), valueAt(pull, 'destination', 'branch', 'name'), () => refOf(pull)),
    isOpen,
  };
}
