import { cut } from '../model/escape.ts';
import { bearerOrBasic, createAsk, type HostSettings } from './ask.ts';
import type { Delivery, FoundRepository, Hint, Host, HostRepository } from './host.ts';
import {
  branchOf,
  pathOn,
  asPull,
  idMember,
  malformedPayload,
  pullIn,
  readEvent,
  readPayload,
  textAt,
  valueAt,
  behindSha256,
  isHmacOf,
  asRepositoryName,
} from './payload.ts';
import { asFound, createApiHost } from './api-host.ts';
import { statesOf, shortName } from './comments.ts';

/** https://developer.atlassian.com/server/bitbucket/rest/latest/api-group-builds-and-deployments/ */
const states = statesOf({ running: 'INPROGRESS', success: 'SUCCESSFUL', failure: 'FAILED', cancelled: 'CANCELLED' });

/** Events after which a pull request must be checked. */
const opening = ['pr:opened', 'pr:from_ref_updated', 'pr:to_ref_updated', 'pr:modified', 'pr:reopened'];
const closing = ['pr:merged', 'pr:declined', 'pr:deleted'];

/** Bitbucket Data Center and Server: signed hooks and build statuses of commits. */
export function createBitbucketServer(settings: HostSettings): Host {
  const { url } = settings;
  return createApiHost(settings, {
    kind: 'bitbucket-server',
    product: 'Bitbucket',
    ask: createAsk('Bitbucket', settings, bearerOrBasic),
    isGenuine: ({ headers, body }, secrets) => isHmacOf(behindSha256(headers['x-hub-signature']), body, secrets),
    readHint,
    nameOf: (repositoryUrl) => nameOn(url, repositoryUrl),
    first: 0,
    pageIn({ json }, at) {
      const next = valueAt(json, 'nextPageStart');
      const hasNext = valueAt(json, 'isLastPage') === false && Number.isSafeInteger(next) && Number(next) > at;
      return { list: valueAt(json, 'values'), next: hasNext ? Number(next) : null };
    },
    pullsAt: (repository, at) => `${pathOf(repository)}/pull-requests?state=OPEN&order=NEWEST&limit=100&start=${at}`,
    readPull,
    ownedAt: (owner, at) => [`/projects/${encodeURIComponent(owner.path)}/repos?&limit=100&start=${at}`],
    // Bitbucket finds none by its id. It redirects from former names.
    pathOf,
    readRepository: (item) => foundIn(url, item),
    report(send, repository, check) {
      const [project, slug] = repository.name.split('/');
      const body = {
        key: shortName(check.name, 255),
        state: states[check.state],
        name: cut(check.name, 255),
        description: cut(check.title, 255),
        // Bitbucket requires a link.
        url: check.url ?? `${url}/projects/${project}/repos/${slug}/commits/${check.commit}`,
      };
      const path = `${pathOf(repository)}/commits/${check.commit}/builds`;
      return send({ method: 'POST', path, body });
    },
  });
}

function foundIn(base: string, item: unknown): FoundRepository | null {
  const [project, slug] = [textAt(item, 'project', 'key'), textAt(item, 'slug')];
  if (project === null || slug === null) return null;
  const url = `${base}/scm/${project}/${slug}.git`;
  const isFork = (valueAt(item, 'origin') ?? null) !== null;
  const isPublic = valueAt(item, 'public');
  const isPrivate = typeof isPublic === 'boolean' ? !isPublic : undefined;
  const about = { id: valueAt(item, 'id'), isArchived: valueAt(item, 'archived'), isFork, isPrivate };
  return asFound(url, nameOn(base, url), about);
}

function pathOf({ name }: HostRepository): string {
  const [project, slug] = name.split('/');
  return `/projects/${project}/repos/${slug}`;
}

const readPull = (pull: unknown) =>
  asPull(valueAt(pull, 'id'), branchOf(valueAt(pull, 'toRef', 'id')), (number) => `refs/pull-requests/${number}/from`);

/** `project/repository`, where the project of a user is `~user`. */
const grammar = /^~?[a-z0-9_.-]+\/[a-z0-9_.-]+$/;

const asName = (text: string) => asRepositoryName(text, grammar);

/** Only https URLs have `scm/` before the name. */
function nameOn(base: string, url: string): string | null {
  const path = pathOn(base, url);
  if (path === null || (path.isWeb && !/^scm\//i.test(path.path))) return null;
  return asName(path.isWeb ? path.path.slice('scm/'.length) : path.path);
}

/**
 * Parses a delivery of Bitbucket Data Center
 * (https://confluence.atlassian.com/bitbucketserver/event-payload-938025882.html).
 */
function readHint(delivery: Delivery): Hint {
  const event = readEvent(delivery, 'x-event-key');
  const payload = readPayload(delivery.body);
  if (event === 'repo:refs_changed')
    return { kind: 'push', repository: repositoryAt(payload, 'repository'), ...idAt(payload, 'repository') };
  // The repository may be followed under its old name.
  if (event === 'repo:modified') {
    const [repository, now] = [repositoryAt(payload, 'old'), repositoryAt(payload, 'new')];
    return { kind: 'repository', repository, ...idAt(payload, 'new'), ...(now !== repository && { now }) };
  }
  const isOpen = opening.includes(event);
  if (!isOpen && !closing.includes(event)) return { kind: 'nothing', event };
  const pull = valueAt(payload, 'pullRequest');
  return {
    kind: 'pull',
    repository: repositoryAt(pull, 'toRef', 'repository'),
    ...idAt(pull, 'toRef', 'repository'),
    pull: pullIn(readPull(pull)),
    isOpen,
  };
}

function idAt(payload: unknown, ...names: string[]): { id?: string } {
  return idMember(valueAt(payload, ...names, 'id'));
}

function repositoryAt(payload: unknown, ...names: string[]): string {
  const [project, slug] = [textAt(payload, ...names, 'project', 'key'), textAt(payload, ...names, 'slug')];
  const name = asName(`${project}/${slug}`);
  if (project === null || slug === null || name === null) throw malformedPayload('it does not name a repository');
  return name;
}
