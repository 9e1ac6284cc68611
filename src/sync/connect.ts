import { allowedHosts, mayUseCredential, type Config } from '../config.ts';
import { formatCoordinate, type Coordinate } from '../model/address.ts';
import {
  documentAt,
  repositoryId,
  repositoryRef,
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
 * Connects a resource to a file of a repository: from the next sync on, its new contents become versions. Somebody else than the operator
 * asks, so the address must be of a host that the configuration allows, a local folder only where it allows those, and a credential one
 * that the organization may use: `forbidden` or `malformed` otherwise. Contacts nobody. Connecting again, to the same, is how a repository that
 * rewrote its history or was gone is accepted as it is now. `hookSecret` is what hooks of the repository are signed with from now on (beside the one
 * before); null: none.
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
  if (!isPlainPath(given.path)) throw new RegistryError('malformed', 'The path is no plain path of a file in a tree.');
  if (given.branch !== null && !isBranchName(given.branch)) {
    throw new RegistryError('malformed', `${JSON.stringify(given.branch)} cannot be the name of a branch.`);
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

/** Ends a resource's connection. What is published stays. `not_found` where there is none. */
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

/** Accepts a resource's repository as it is now, whatever it rewrote, and has it looked at again. `not_found` where there is no connection. */
export async function relinkResource(registry: Registry, coordinate: Coordinate, author: Author): Promise<void> {
  const connection = (await findResource(registry, coordinate))?.connection;
  if (!connection) throw new RegistryError('not_found', `${formatCoordinate(coordinate)} has no connection.`);
  await followFor(registry, coordinate, connection, author);
}

/** What is known of a connection: its repository, and what the last sync made of its file. */
export interface Connected {
  repository: Generation<Repository> | null;
  document: DocumentState | null;
}

/** The state of a resource's connection. */
export async function readConnection(
  registry: Registry,
  resource: Resource & { connection: Connection },
): Promise<Connected> {
  const { repository: url, branch, path } = resource.connection;
  const name = repositoryRef(resource.org, repositoryId(url, branch));
  const repository = await registry.refs.read<Repository>(name);
  const document = repository && documentAt(repository.value, path);
  return { repository, document: document?.resource === formatCoordinate(resource) ? document : null };
}

/** Makes sure that the repository is looked at, and at this file also where its commit is known already. */
async function followFor(
  registry: Registry,
  coordinate: Coordinate,
  { repository: url, branch, path, credential }: Connection,
  author: Author,
  hookSecret?: string | null,
): Promise<void> {
  const sealed = hookSecret && sealSecret(registry, hookSecret);
  const { org } = coordinate;
  await registry.refs.update<Repository>(repositoryRef(org, repositoryId(url, branch)), (current) => {
    const change = { ...author, action: `follow for ${formatCoordinate(coordinate)}` };
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
    // What the configuration says about a repository of its own stays.
    if (value.discover === null) value.credential = credential;
    const known = documentAt(value, path);
    if (known?.resource !== formatCoordinate(coordinate) || known.label === null) value.commit = null;
    if (value.state === 'detached' || value.diverged || known?.outcome === 'detached') {
      const since = registry.now().toISOString();
      Object.assign(value, {
        state: 'new',
        detail: null,
        since,
        diverged: null,
        commit: null,
      } satisfies Partial<Repository>);
    }
    if (hookSecret !== undefined) value.hookSecrets = sealed ? [sealed, ...(value.hookSecrets ?? []).slice(0, 1)] : [];
    return JSON.stringify(value) === JSON.stringify(current.value) ? null : { value, change };
  });
}

/**
 * A credential is for the organizations that may use it, and, where configured repositories name it, for their hosts:
 * nobody else may have it sent anywhere.
 */
function assertCredential(config: Config, org: string, name: string, location: Location): void {
  const uses = Object.entries(config.organizations).flatMap(([user, { repositories }]) =>
    repositories.flatMap(({ url, credential }) => (credential === name ? [{ user, url }] : [])),
  );
  const credential = Object.hasOwn(config.credentials, name) ? config.credentials[name]! : null;
  const reach = { allowLocalRepositories: true, hosts: allowedHosts(config) };
  const isMeant = ({ user, url }: { user: string; url: string }): boolean => {
    const configured = parseLocation(url, reach);
    if (configured.kind === 'local' || location.kind === 'local') return false;
    const isOurs = credential?.organizations !== undefined || user === org;
    return isOurs && configured.host === location.host && configured.port === location.port;
  };
  if (mayUseCredential(config, org, name) && (uses.length === 0 || uses.some(isMeant))) return;
  throw new RegistryError(
    'malformed',
    `The configuration has no credential ${JSON.stringify(name)} for this organization and host.`,
  );
}
