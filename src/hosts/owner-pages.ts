import { RegistryError } from '../model/errors.ts';
import type { Answer, Ask } from './ask.ts';
import type { FoundRepositories, FoundRepository, HostOwner, HostRepository } from './host.ts';
import { nameOn } from './name.ts';
import { readPages, type Page } from './read-pages.ts';
import { idIn, textAt, valueAt } from './payload.ts';

/** The most repositories of one owner that are listed. */
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
export async function askForOne(
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
