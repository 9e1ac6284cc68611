import type { Config } from '../config.ts';
import { allowedHosts } from '../config/credential-config.ts';
import { organizationIn, type RepositoryConfig } from '../config/organization-config.ts';
import {
  repositoryId,
  repositoryRef,
  trustedCommit,
  type Repository,
  assertNoCredential,
} from '../model/connection.ts';
import { malformed, notFound, conflict } from '../model/errors.ts';
import { defaultsOf } from '../registry/gate/policy.ts';
import type { Author, Registry } from '../registry/registry.ts';
import { isBranchName, plainFolder } from '../source/git-names.ts';
import { parseLocation } from '../source/location.ts';
import { assertCredential } from './connect.ts';

/** How a repository that the configuration lists, or those of an owner, are followed, as records have it. */
export async function configuredHow(
  registry: Registry,
  org: string,
  { branch, credential, path = '', visibility, validation, versions }: Omit<RepositoryConfig, 'url'>,
): Promise<Pick<Repository, 'branch' | 'credential' | 'discover' | 'visibility' | 'validation' | 'versions'>> {
  const defaults = await defaultsOf(registry, org);
  return {
    branch: branch ?? null,
    credential: credential ?? null,
    discover: plainFolder(path),
    visibility: visibility ?? defaults.visibility ?? 'private',
    validation: validation ?? defaults.validation ?? 'strict',
    versions: fromTags(versions),
  };
}

/** Records leave out that versions come from the branch. */
function fromTags(versions: RepositoryConfig['versions']): Repository['versions'] {
  return versions === 'tags' ? 'tags' : undefined;
}

/**
 * Follows a repository and branch, or changes how. Keeps what was synced from it. One that was renamed
 * is followed under its new name, unless a host says that another repository has the former one now
 * (`hostId`), or the configuration lists the new name as well. Resolves to its id.
 */
export async function follow(
  registry: Registry,
  org: string,
  given: Pick<
    Repository,
    | 'url'
    | 'branch'
    | 'credential'
    | 'discover'
    | 'visibility'
    | 'validation'
    | 'versions'
    | 'configured'
    | 'owner'
    | 'gone'
    | 'hostId'
  >,
  author: Author = { actor: 'operator:configuration', origin: null },
): Promise<string> {
  assertNoCredential(given.url);
  const id = repositoryId(given.url, given.branch);
  const recorded = (await registry.refs.read<Repository>(repositoryRef(org, id)))?.value;
  if (
    recorded?.renamed !== undefined &&
    given.hostId === undefined &&
    !(organizationIn(registry.config, org)?.repositories ?? []).some((each) => each.url === recorded.renamed)
  )
    return follow(registry, org, { ...given, url: recorded.renamed }, author);
  await registry.refs.update<Repository>(repositoryRef(org, id), (newest) => {
    const current = newest?.value.renamed === undefined ? newest : null;
    const fresh = { org, state: 'new', detail: null, commit: null, syncedAt: null, documents: {}, tags: {} } as const;
    const value: Repository = { ...fresh, ...current?.value, ...given };
    // Somebody had stopped following it, or it was one of an owner's.
    if (given.configured) {
      delete value.gone;
      delete value.owner;
    } else {
      delete value.configured;
      if (given.gone === undefined && current && isUnfollowed(current.value)) delete value.gone;
    }
    // Then the commit has to be read again.
    const isOther = current && (current.value.discover !== given.discover || current.value.versions !== given.versions);
    if (current && isOther)
      Object.assign(value, { commit: null, trusted: trustedCommit(current.value) } satisfies Partial<Repository>);
    if (current && given.hostId !== undefined && isReplaced(current.value, given.hostId)) {
      const detail = 'Another repository has its name on the host now.';
      Object.assign(value, { state: 'detached', detail, held: null } satisfies Partial<Repository>);
    }
    if (current && JSON.stringify(value) === JSON.stringify(current.value)) return null;
    return { value, change: { ...author, action: 'follow' } };
  });
  return id;
}

/** Whether the host says that another repository has the name of one that was synced. */
function isReplaced(repository: Repository, hostId: string): boolean {
  return repository.hostId !== undefined && repository.hostId !== hostId && trustedCommit(repository) !== null;
}

/** A repository to follow, as somebody who is not trusted asks for it. */
export interface GivenRepository extends Pick<Repository, 'branch' | 'visibility' | 'validation' | 'credential'> {
  repository: string;
  /** Look only into this folder. */
  path: string | null;
  /** What its versions are made from. Default: the branch. */
  versions?: 'branch' | 'tags';
}

/**
 * Follows a repository for an organization. Does not contact it. The configuration must allow the
 * host, and the organization must be allowed to use the credential; a repository that the
 * configuration lists is its to change. Rejects with `forbidden`, `malformed` or `conflict`
 * otherwise. Resolves to its id.
 */
export async function followGiven(
  registry: Registry,
  org: string,
  { repository, branch, path, credential, visibility, validation, ...given }: GivenRepository,
  author: Author,
): Promise<string> {
  const { config } = registry;
  const { allowLocalRepositories } = config.sync;
  const location = parseLocation(repository, { allowLocalRepositories, hosts: allowedHosts(config) });
  if (branch !== null && !isBranchName(branch)) {
    throw malformed(`${JSON.stringify(branch)} is not a valid branch name.`);
  }
  if (credential !== null) assertCredential(config, org, credential, location);
  const { url } = location;
  assertNotConfigured(config, org, { url, branch });
  const discover = plainFolder(path ?? '');
  const how = { discover, visibility, validation, versions: fromTags(given.versions), gone: null };
  return follow(registry, org, { url, branch, credential, ...how }, author);
}

/**
 * Stops following a repository: it is not synced any more, and its secrets for hooks are forgotten.
 * What it published stays, with detached connections; following it again continues there. Rejects
 * with `not_found` if it is not followed, and with `conflict` if the configuration follows it or its
 * owner.
 */
export async function unfollow(registry: Registry, org: string, id: string, author: Author): Promise<void> {
  await registry.refs.update<Repository>(repositoryRef(org, id), (current) => {
    if (current === null || isUnfollowed(current.value)) throw notFound('This repository is not followed.');
    const { value } = current;
    assertNotConfigured(registry.config, org, value);
    if (value.owner !== undefined) {
      const message = "The configuration follows this repository's owner. Exclude the repository there.";
      throw conflict(message);
    }
    const gone = 'The repository is not followed any more. Published versions stay.';
    const left = { ...value, configured: undefined, discover: null, gone, since: registry.now().toISOString() };
    return { value: { ...left, hookSecrets: [] }, change: { ...author, action: 'unfollow' } };
  });
}

/** Whether somebody stopped following the repository. Its record stays, for who follows it again. */
export function isUnfollowed({ gone, owner, configured }: Pick<Repository, 'gone' | 'owner' | 'configured'>): boolean {
  return Boolean(gone) && owner === undefined && !configured;
}

/** Whether the configuration listed the repository when it was followed, and lists it no more. */
export function hasLeftConfiguration(config: Config, repository: Repository): boolean {
  const { org, configured, owner, gone, discover } = repository;
  // Older programs recorded no `gone` for repositories that only the configuration followed.
  const wasListed = configured ?? (owner === undefined && discover !== null && gone === undefined);
  return wasListed && !gone && !isConfigured(config, org, repository);
}

/** Whether the configuration lists the repository, under its name or the one that it had before a rename. */
function isConfigured(
  config: Config,
  org: string,
  { url, branch, formerId }: Pick<Repository, 'url' | 'branch' | 'formerId'>,
): boolean {
  const listed = organizationIn(config, org)?.repositories ?? [];
  const isIt = (listedUrl: string) => listedUrl === url || repositoryId(listedUrl, branch) === formerId;
  return listed.some((each) => isIt(each.url) && (each.branch ?? null) === branch);
}

function assertNotConfigured(
  config: Config,
  org: string,
  repository: Pick<Repository, 'url' | 'branch' | 'formerId'>,
): void {
  if (isConfigured(config, org, repository))
    throw conflict('The configuration follows this repository. Change it there.');
}

/** Every followed repository, of all organizations. Records that a rename left behind are not among them. */
export async function listRepositories({ refs }: Pick<Registry, 'refs'>): Promise<Repository[]> {
  return (await refs.all<Repository>('repositories/')).flatMap(({ value }) => (value.renamed ? [] : [value]));
}
