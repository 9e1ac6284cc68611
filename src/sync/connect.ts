import type { Config } from '../config.ts';
import { allowedHosts, credentialUses, mayUseCredential } from '../config/credential-config.ts';
import { formatCoordinate, type Coordinate } from '../model/address.ts';
import {
  documentAt,
  repositoryId,
  repositoryRef,
  trustedCommit,
  type Connection,
  type DocumentState,
  type Repository,
} from '../model/connection.ts';
import { RegistryError } from '../model/errors.ts';
import type { Resource } from '../model/resource.ts';
import type { Generation } from '../store/generations.ts';
import { isBranchName } from '../source/branch.ts';
import { parseLocation, type Location } from '../source/location.ts';
import { isPlainPath } from '../source/path.ts';
import { updateResource, type Guard } from '../registry/change-resource.ts';
import type { Author, Registry } from '../registry/registry.ts';
import { findResource } from '../registry/find-resource.ts';
import { sealSecret } from '../registry/seal.ts';

/**
 * Connects a resource to a file in a repository. New content becomes a version at the next sync.
 * Does not contact the remote. Callers are not trusted: the configuration must allow the host or
 * local folder, and the organization must be allowed to use the credential. Rejects with
 * `forbidden` or `malformed` otherwise. Connecting to the same file again accepts a repository that
 * rewrote its history or was missing. `hookSecret` verifies the repository's hooks from now on,
 * together with the previous secret; null removes both.
 */
export async function connectResource(
  registry: Registry,
  coordinate: Coordinate,
  given: Connection,
  author: Author,
  guard: Guard = () => undefined,
  hookSecret?: string | null,
): Promise<Generation<Resource>> {
  const { config } = registry;
  const location = parseLocation(given.repository, {
    allowLocalRepositories: config.sync.allowLocalRepositories,
    hosts: allowedHosts(config),
  });
  if (!isPlainPath(given.path)) {
    const message = `${JSON.stringify(given.path)} is not a valid path. Use one relative to the repository, such as apis/pay.yaml.`;
    throw new RegistryError('malformed', message);
  }
  if (given.branch !== null && !isBranchName(given.branch)) {
    throw new RegistryError('malformed', `${JSON.stringify(given.branch)} is not a valid branch name.`);
  }
  if (given.credential !== null) assertCredential(config, coordinate.org, given.credential, location);
  const connection: Connection = { ...given, repository: location.url };
  await updateResource(registry, coordinate, author, guard, () => null);
  await followFor(registry, coordinate, connection, author, hookSecret);
  return updateResource(registry, coordinate, author, guard, (current) =>
    JSON.stringify(current.connection) === JSON.stringify(connection)
      ? null
      : { next: { ...current, connection }, action: 'connect' },
  );
}

/**
 * Disconnects a resource. Published versions stay. Rejects with `not_found` when it is not
 * connected.
 */
export async function disconnectResource(
  registry: Registry,
  coordinate: Coordinate,
  author: Author,
  guard: Guard = () => undefined,
): Promise<void> {
  await updateResource(registry, coordinate, author, guard, (current) => {
    if (current.connection === null) {
      throw new RegistryError('not_found', `${formatCoordinate(coordinate)} has no connection.`);
    }
    return { next: { ...current, connection: null }, action: 'disconnect' };
  });
}

/**
 * Accepts the repository as it is now, whatever it rewrote, and syncs it again. Rejects with
 * `not_found` without a connection.
 */
export async function relinkResource(registry: Registry, coordinate: Coordinate, author: Author): Promise<void> {
  const connection = (await findResource(registry, coordinate))?.connection;
  if (!connection) throw new RegistryError('not_found', `${formatCoordinate(coordinate)} has no connection.`);
  await followFor(registry, coordinate, connection, author);
}

/** The state of a connection: its repository, and the last sync's result for its file. */
export interface Connected {
  repository: Generation<Repository> | null;
  document: DocumentState | null;
}

/** Reads the state of a resource's connection. */
export async function readConnection(
  registry: Registry,
  resource: Resource & { connection: Connection },
): Promise<Connected> {
  const { repository: url, branch, path } = resource.connection;
  const name = repositoryRef(resource.org, repositoryId(url, branch));
  const repository = await registry.refs.read<Repository>(name);
  const document = repository && documentAt(repository.value, path);
  const coordinate = formatCoordinate(resource);
  if (document?.resource === coordinate) return { repository, document };
  return { repository, document: repository?.value.left?.[coordinate] ?? null };
}

/** Follows the repository of a file, and makes the next sync read it even when the commit has not changed. */
function followFor(
  registry: Registry,
  coordinate: Coordinate,
  connection: Connection,
  author: Author,
  hookSecret?: string | null,
): Promise<void> {
  const name = formatCoordinate(coordinate);
  return followByHand(registry, coordinate.org, connection, author, {
    reason: name,
    hookSecret,
    isKnown(repository) {
      const recorded = documentAt(repository, connection.path);
      return recorded?.resource === name && recorded.label !== null;
    },
    isDetached: (repository) => documentAt(repository, connection.path)?.outcome === 'detached',
  });
}

/** What somebody connects to a repository. */
export interface FollowedFor {
  /** Recorded as why it is followed. */
  reason: string;
  hookSecret?: string | null | undefined;
  /** Whether the last sync published it. Otherwise the next one reads everything again. */
  isKnown(repository: Repository): boolean;
  /** Whether the last sync missed it. */
  isDetached?(repository: Repository): boolean;
}

/**
 * Follows a repository for what somebody connects to it, and accepts it as it is now. The next sync
 * reads it even when the commit has not changed.
 */
export async function followByHand(
  registry: Registry,
  org: string,
  {
    repository: url,
    branch,
    credential = null,
  }: { repository: string; branch: string | null; credential?: string | null },
  author: Author,
  { reason, hookSecret, isKnown, isDetached = () => false }: FollowedFor,
): Promise<void> {
  const sealed = hookSecret && sealSecret(registry, hookSecret);
  await registry.refs.update<Repository>(repositoryRef(org, repositoryId(url, branch)), (newest) => {
    const current = newest?.value.renamed === undefined ? newest : null;
    const change = { ...author, action: `follow for ${reason}` };
    if (current === null) {
      const fresh = {
        discover: null,
        visibility: 'private',
        validation: 'strict',
        state: 'new',
        detail: null,
      } as const;
      const hookSecrets = sealed ? [sealed] : [];
      const rest = { commit: null, syncedAt: null, documents: {}, tags: {}, hookSecrets };
      return { value: { org, url, branch, credential, ...fresh, ...rest }, change };
    }
    const value = { ...current.value };
    // Connecting a repository by hand follows it alone, without the owner's other ones.
    if (value.gone) {
      delete value.owner;
      Object.assign(value, { gone: null, discover: null } satisfies Partial<Repository>);
    }
    delete value.movedTo;
    // The configuration decides about the repositories that it lists.
    if (value.discover === null) value.credential = credential;
    if (!isKnown(value)) value.commit = null;
    const isStopped = value.state === 'detached' || Boolean(value.diverged) || Boolean(value.held);
    if (isStopped || isDetached(value)) {
      const since = registry.now().toISOString();
      Object.assign(value, { state: 'new', detail: null, since, commit: null } satisfies Partial<Repository>);
    }
    // Reading everything again must not make the guard forget what it compares with.
    if (value.commit === null) value.trusted = trustedCommit(current.value);
    if (isStopped)
      Object.assign(value, { diverged: null, trusted: null, held: null, retry: null } satisfies Partial<Repository>);
    if (hookSecret !== undefined) value.hookSecrets = sealed ? [sealed, ...(value.hookSecrets ?? []).slice(0, 1)] : [];
    return JSON.stringify(value) === JSON.stringify(current.value) ? null : { value, change };
  });
}

/**
 * Checks that the organization may use the credential, and only for the hosts of the configured
 * repositories that name it. Otherwise anyone could have it sent to a host of their choice.
 */
export function assertCredential(config: Config, org: string, name: string, location: Location): void {
  const uses = credentialUses(config).filter(({ credential: used }) => used === name);
  const credential = Object.hasOwn(config.credentials, name) ? config.credentials[name]! : null;
  const reach = { allowLocalRepositories: true, hosts: allowedHosts(config) };
  const isUsedHere = ({ org: user, url }: { org: string; url: string }): boolean => {
    const configured = parseLocation(url, reach);
    if (configured.kind === 'local' || location.kind === 'local') return false;
    const isOurs = credential?.organizations !== undefined || user === org;
    return isOurs && configured.host === location.host && configured.port === location.port;
  };
  if (mayUseCredential(config, org, name) && (uses.length === 0 || uses.some(isUsedHere))) return;
  throw new RegistryError(
    'malformed',
    `The configuration has no credential ${JSON.stringify(name)} for this organization and host.`,
  );
}
