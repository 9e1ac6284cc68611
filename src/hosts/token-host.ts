import { RegistryError } from '../model/errors.ts';
import {
  type Answer,
  type Ask,
  readPages,
  type Page,
  createAsk,
  inTime,
  type ApiCredential,
  type HostSettings,
  listPages,
} from './ask.ts';
import type { FoundRepositories, FoundRepository, HostOwner, HostRepository, Host, Pull } from './host.ts';
import { nameOn, idIn, textAt, valueAt } from './payload.ts';
import { createInOrder } from '../scheduling/turns.ts';

const maxRepositories = 2000;
/** Gitea has at least 20 on a page. */
const maxPages = 100;

/** The repositories of all pages, at most 2,000. Pages count from 1. */
export async function listOwned(ask: (page: number) => Promise<Page<FoundRepository>>): Promise<FoundRepositories> {
  const { items, isComplete } = await readPages(maxRepositories, maxPages, ask);
  return { repositories: items, isComplete };
}

/** The owner in the form that clients of hosts take: `acme/*`. */
export function asRepository({ path, credential }: HostOwner): HostRepository {
  return { name: `${path}/*`, credential };
}

/** The items of a list in an answer, which may be anything. */
export function itemsIn(list: unknown): readonly unknown[] {
  return Array.isArray(list) ? list : [];
}

/**
 * The repositories in an answer. Rejects with `unreachable` when it is not a list: a page for people
 * must not look like an owner without repositories.
 */
export function repositoriesIn(host: string, list: unknown): readonly unknown[] {
  if (Array.isArray(list)) return list;
  throw new RegistryError('unreachable', `${host} answered with something that is not a list of repositories.`);
}

/** Asks for the list at the first path, and if that does not exist, for the one at the second. */
export function askEither(ask: Ask, owner: HostOwner, paths: readonly [string, string], signal: AbortSignal) {
  let ownerName: string | null = null;
  return async (query: string): Promise<Answer> => {
    const request = (path: string, isDone?: (status: number) => boolean) =>
      ask(asRepository(owner), { method: 'GET', path: `${path}?${query}`, ...(isDone && { isDone }) }, signal);
    if (ownerName !== null) return request(ownerName);
    const first = await request(paths[0], (status) => status === 404);
    ownerName = first.status === 404 ? paths[1] : paths[0];
    return first.status === 404 ? request(ownerName) : first;
  };
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

/**
 * Asks for one repository. Null where the host has none that the credential can see.
 */
async function askForOne(
  ask: Ask,
  repository: HostRepository,
  path: string,
  read: (item: unknown) => FoundRepository | null,
  signal: AbortSignal,
): Promise<FoundRepository | null> {
  const isDone = (status: number) => status === 404 || status === 410;
  const { status, json } = await ask(repository, { method: 'GET', path, isDone }, signal);
  return status >= 400 ? null : read(json);
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

/**
 * What is special about a host whose API takes a token with each request. Pages count from 1. What
 * writes is called for one pull request or check after the other, and only with a credential.
 */
export interface TokenHost extends Pick<Host, 'kind' | 'isGenuine' | 'readHint' | 'nameOf'> {
  /** Its name in messages. */
  product: string;
  /** The value of `Authorization`. */
  authorize(credential: ApiCredential & { kind: 'token' }): string;
  pulls(ask: Ask, repository: HostRepository, signal: AbortSignal): (page: number) => Promise<Page<Pull>>;
  repositories(ask: Ask, owner: HostOwner, signal: AbortSignal): (page: number) => Promise<Page<FoundRepository>>;
  /** The path of a repository's description in the API, by its id or else by its name. */
  pathOf(repository: HostRepository, id: string | null): string;
  /** Reads the description of a repository, which may be anything. */
  readRepository(item: unknown, asked: HostRepository): FoundRepository | null;
  report(ask: Ask, ...given: [...Parameters<Host['reportCheck']>, AbortSignal]): Promise<unknown>;
  comment?(ask: Ask, ...given: [...Parameters<NonNullable<Host['comment']>>, AbortSignal]): Promise<unknown>;
}

/** Creates a host of what is special about it. */
export function createTokenHost(settings: HostSettings, special: TokenHost): Host {
  const { product, kind, isGenuine, readHint, nameOf, comment } = special;
  const ask = createAsk(product, settings, special.authorize);
  const inOrder = createInOrder();
  const timed = <T>(work: (signal: AbortSignal) => Promise<T>) => inTime(product, settings.second, work);

  async function write(
    { name, credential }: HostRepository,
    about: string,
    work: (signal: AbortSignal) => Promise<unknown>,
  ): Promise<void> {
    if (settings.credential(credential) !== null) await inOrder(`${name} ${about}`, () => timed(work));
  }

  return {
    kind,
    name: settings.name,
    isGenuine,
    readHint,
    nameOf,
    listPulls: (repository) => timed((signal) => listPages(special.pulls(ask, repository, signal))),
    listRepositories: (owner) => timed((signal) => listOwned(special.repositories(ask, owner, signal))),
    findRepository: (repository, id) =>
      timed((signal) => {
        const read = (item: unknown) => special.readRepository(item, repository);
        return askForOne(ask, repository, special.pathOf(repository, id), read, signal);
      }),
    reportCheck: (repository, check) =>
      write(repository, `${check.commit} ${check.name}`, (signal) => special.report(ask, repository, check, signal)),
    ...(comment && {
      comment: (repository, text) =>
        write(repository, `#${text.number}`, (signal) => comment(ask, repository, text, signal)),
    }),
    // git uses the credential as it is configured. Throws if it may not be used here.
    async gitCredential({ credential }) {
      settings.credential(credential);
      return null;
    },
  };
}
