import { unreachable } from '../model/errors.ts';
import { type Answer, type Ask, type Send, readPages, inTime, type HostSettings } from './ask.ts';
import type { FoundRepository, HostOwner, HostRepository, Host, Pull } from './host.ts';
import { asPull, itemsIn, nameOn, idIn, textAt, valueAt } from './payload.ts';
import { createInOrder } from '../scheduling/turns.ts';

const maxRepositories = 2000;
/** Gitea has at least 20 on a page. */
const maxPages = 100;

const maxPulls = 200;
const maxPullPages = 10;

/** The most pages of comments that are searched for Stele's own. */
const maxCommentPages = 10;

/** The owner in the form that clients of hosts take: `acme/*`. */
function asRepository({ path, credential }: HostOwner): HostRepository {
  return { name: `${path}/*`, credential };
}

/**
 * The items in an answer. Rejects with `unreachable` when it is not a list: a page for people
 * must not look like an owner without repositories.
 */
function listIn(host: string, list: unknown, what: string): readonly unknown[] {
  if (Array.isArray(list)) return list;
  throw unreachable(`${host} answered with something that is not a list of ${what}.`);
}

/** Whether what the request was about is not there, or no longer. */
export function isGone(status: number): boolean {
  return status === 404;
}

/** The comments of a pull request in a list of the API, oldest first as the host gives them; at most ten pages. */
export async function listComments(
  send: Send,
  pageIn: ApiHost['pageIn'],
  pathAt: (page: number) => string,
): Promise<unknown[]> {
  const pages = await readPages(Infinity, maxCommentPages, async (page) => {
    const { list, next } = pageIn(await send({ method: 'GET', path: pathAt(page) }), page);
    return { items: itemsIn(list), next };
  });
  return pages.items;
}

/**
 * Makes a repository from untrusted values. `name`: as `nameOf` returns it for the URL; null when
 * it is invalid. The URL is made here, never taken from an answer.
 */
export function asFound(
  url: string,
  name: string | null,
  { id, isArchived, isFork, isPrivate }: { id: unknown; isArchived: unknown; isFork: unknown; isPrivate?: unknown },
): FoundRepository | null {
  if (name === null) return null;
  const isStated = typeof isPrivate === 'boolean';
  const found = { id: idIn(id) ?? null, url, name, isArchived: isArchived === true, isFork: isFork === true };
  return { ...found, ...(isStated && { isPrivate }) };
}

/** A repository as GitHub and Gitea describe it. */
export function foundOn(base: string, item: unknown): FoundRepository | null {
  const url = `${base}/${textAt(item, 'full_name')}.git`;
  return asFound(url, nameOn(base, url, false), {
    id: valueAt(item, 'id'),
    isArchived: valueAt(item, 'archived'),
    isFork: valueAt(item, 'fork'),
    isPrivate: valueAt(item, 'private'),
  });
}

/** A pull request as GitHub and Gitea describe it. */
export function pullOn(item: unknown): Pull | null {
  return asPull(valueAt(item, 'number'), valueAt(item, 'base', 'ref'), (number) => `refs/pull/${number}/head`);
}

/**
 * What is special about a host with an API of JSON. `at`: where a page of a list begins, as the host
 * counts. What writes is called for one pull request or check after the other, and only with a
 * credential.
 */
export interface ApiHost extends Pick<Host, 'kind' | 'isGenuine' | 'readHint' | 'nameOf'> {
  /** Its name in messages. */
  product: string;
  ask: Ask;
  /** Where lists begin. Default: 1. */
  first?: number;
  /** The list in an answer, and where its next page begins; null: this is the last. */
  pageIn(answer: Answer, at: number): { list: unknown; next: number | null };
  /** The path of a page of the open pull requests, newest first. */
  pullsAt(repository: HostRepository, at: number): string;
  readPull(item: unknown): Pull | null;
  /** The paths of a page of an owner's repositories, of which the first that is there counts. Empty: no such page. */
  ownedAt(owner: HostOwner, at: number): string[];
  /** The path of a repository's description in the API, by its id or else by its name. */
  pathOf(repository: HostRepository, id: string | null): string;
  /** Reads the description of a repository, which may be anything. */
  readRepository(item: unknown, asked: HostRepository): FoundRepository | null;
  report(send: Send, ...given: [...Parameters<Host['reportCheck']>, AbortSignal]): Promise<unknown>;
  comment?(send: Send, ...given: Parameters<NonNullable<Host['comment']>>): Promise<unknown>;
}

/** Creates a host of what is special about it. */
export function createApiHost(settings: HostSettings, special: ApiHost): Host {
  const { product, kind, isGenuine, readHint, nameOf, comment, first = 1 } = special;
  const inOrder = createInOrder();
  /** Runs a call about a repository, within the time that one may take. */
  const calling = <T>(repository: HostRepository, work: (send: Send, signal: AbortSignal) => Promise<T>): Promise<T> =>
    inTime(product, settings.second, (signal) => work((request) => special.ask(repository, request, signal), signal));

  async function write(
    repository: HostRepository,
    about: string,
    work: (send: Send, signal: AbortSignal) => Promise<unknown>,
  ): Promise<void> {
    const { name, credential } = repository;
    if (settings.credential(credential) === null) return;
    await inOrder(`${name} ${about}`, () => calling(repository, work));
  }

  return {
    kind,
    name: settings.name,
    isGenuine,
    readHint,
    nameOf,
    listPulls: (repository) =>
      calling(repository, async (send) => {
        const ask = async (at: number) => {
          const answer = await send({ method: 'GET', path: special.pullsAt(repository, at) });
          const { list, next } = special.pageIn(answer, at);
          return { items: listIn(product, list, 'pull requests').map(special.readPull), next };
        };
        const { items: pulls, isComplete } = await readPages(maxPulls, maxPullPages, ask, first);
        return { pulls, isComplete };
      }),
    listRepositories: (owner) =>
      calling(asRepository(owner), async (send) => {
        let absent = 0;
        const ask = async (at: number) => {
          const [path, ...others] = special.ownedAt(owner, at).slice(absent);
          if (path === undefined) return { items: [], next: null };
          const isDone = at === first && others.length > 0 ? isGone : undefined;
          const answer = await send({ method: 'GET', path, ...(isDone && { isDone }) });
          if (isDone?.(answer.status)) {
            absent++;
            return { items: [], next: at };
          }
          const { list, next } = special.pageIn(answer, at);
          const items = listIn(product, list, 'repositories').map((item) =>
            special.readRepository(item, asRepository(owner)),
          );
          return { items, next };
        };
        const { items: repositories, isComplete } = await readPages(maxRepositories, maxPages, ask, first);
        return { repositories, isComplete };
      }),
    findRepository: (repository, id) =>
      calling(repository, async (send) => {
        const isDone = (status: number) => status === 404 || status === 410;
        const { status, json } = await send({ method: 'GET', path: special.pathOf(repository, id), isDone });
        return status >= 400 ? null : special.readRepository(json, repository);
      }),
    reportCheck: (repository, check) =>
      write(repository, `${check.commit} ${check.name}`, (send, signal) =>
        special.report(send, repository, check, signal),
      ),
    ...(comment && {
      comment: (repository, text) => write(repository, `#${text.number}`, (send) => comment(send, repository, text)),
    }),
    close: () => settings.stopping.abort(),
    // git uses the credential as it is configured. Throws if it may not be used here.
    async gitCredential({ credential }) {
      settings.credential(credential);
      return null;
    },
  };
}
