import { createInOrder } from '../scheduling/turns.ts';
import { createAsk, type Ask } from './ask.ts';
import { inTime } from './host-fetch.ts';
import type { FoundRepository, Host, HostOwner, HostRepository, Pull } from './host.ts';
import type { ApiCredential, HostSettings } from './host-settings.ts';
import { askForOne, listOwned } from './owner-pages.ts';
import { listPages, type Page } from './read-pages.ts';

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
