import type { Config } from '../config.ts';
import { allowedHosts, credentialUses, mayUseCredential } from '../config/credential-config.ts';
import { formatCoordinate, type Coordinate } from '../model/address.ts';
import {
  documentAt,
  documentOf,
  repositoryId,
  repositoryName,
  repositoryRef,
  trustedCommit,
  unread,
  type Connection,
  type DocumentState,
  type Repository,
} from '../model/connection.ts';
import { malformed, conflict, notFound } from '../model/errors.ts';
import type { Resource } from '../model/resource.ts';
import type { SiteConnection, SiteCoordinate } from '../sites/model/documentation-site.ts';
import type { Generation } from '../store/records.ts';
import { isBranchName, isPlainPath, plainFolder } from '../source/git-names.ts';
import { parseLocation, type Location } from '../source/location.ts';
import { findResource, recordRef, updateRecord, type GuardOf, type Name, type RecordOf } from '../registry/lives.ts';
import type { Author, Registry } from '../registry/registry.ts';
import { sealSecret } from '../registry/seal.ts';

/** Where something comes from: a file of a repository, or a folder for a site. */
export type ConnectionOf<N extends Name> = N extends SiteCoordinate ? SiteConnection : Connection;

/**
 * Connects a resource to a file in a repository, or a site to a folder: new content becomes a version or a
 * deployment at the next sync, and what is published stays until then.
 * Does not contact the remote. Callers are not trusted: the configuration must allow the host or
 * local folder, and the organization must be allowed to use the credential. Rejects with
 * `forbidden` or `malformed` otherwise. Connecting to the same file again accepts a repository that
 * rewrote its history or was missing. `hookSecret` verifies the repository's hooks from now on,
 * together with the previous secret; null removes both.
 */
export async function connectRecord<N extends Name>(
  registry: Registry,
  of: N,
  given: ConnectionOf<N>,
  author: Author,
  guard: GuardOf<RecordOf<N>> | null = null,
  hookSecret?: string | null,
): Promise<Generation<RecordOf<N>>> {
  const { config } = registry;
  const { branch, credential = null } = given;
  const was = (await registry.refs.read<RecordOf<N>>(recordRef(of)))?.value.connection ?? null;
  const known = await knownFolder(registry, of.org, given, was);
  const location = parseLocation(known?.url ?? given.repository, {
    allowLocalRepositories: config.sync.allowLocalRepositories || known?.hasFile === true,
    hosts: allowedHosts(config),
  });
  const place = 'path' in given ? { path: given.path } : { folder: plainFolder(given.folder) };
  const [path, example] = 'path' in given ? [given.path, 'apis/pay.yaml'] : [place.folder!, 'docs'];
  if (!isPlainPath(path) && !(path === '' && of.type === 'sites')) {
    const message = `${JSON.stringify(path)} is not a valid path. Use one relative to the repository, such as ${example}.`;
    throw malformed(message);
  }
  if (branch !== null && !isBranchName(branch)) {
    throw malformed(`${JSON.stringify(branch)} is not a valid branch name.`);
  }
  if (credential !== null) assertCredential(config, of.org, credential, location);
  const wanted = { ...given, ...place, repository: location.url };
  // Else what hides a part of the file would be gone until `stele.yaml` is read again.
  const connection = isSamePlace(was, wanted) && 'view' in was ? { ...wanted, view: was.view } : wanted;
  await updateRecord(registry, of, author, guard, () => null);
  await followFor(registry, of, connection, author, hookSecret);
  return updateRecord(registry, of, author, guard, (current) =>
    JSON.stringify(current.connection) === JSON.stringify(connection)
      ? null
      : { next: { ...current, connection }, action: 'connect' },
  );
}

/**
 * The folder of this machine that a connection names as answers name it, by its last part: that of the connection as it
 * is, else one that the organization follows. Null: it names none. `hasFile`: whether nothing is read that was not: the
 * connection is for the same file, or a sync found it there. Throws `conflict` for a name of several.
 */
async function knownFolder(
  { refs }: Pick<Registry, 'refs'>,
  org: string,
  given: Connection | SiteConnection,
  was: Connection | SiteConnection | null,
): Promise<{ url: string; hasFile: boolean } | null> {
  const { repository: name, branch } = given;
  const isNamed = (url: string) => url.startsWith('/') && repositoryName(url) === name;
  const followed = (await refs.all<Repository>(`repositories/${org}/`)).map(({ value }) => value);
  const known = was !== null && isNamed(was.repository) ? [was.repository] : followed.map(({ url }) => url);
  const [url, another] = new Set(known.filter(isNamed));
  if (another !== undefined) throw conflict(`${org} follows several folders called ${name}. Write its whole path.`);
  if (url === undefined) return null;
  const isSame = isSamePlace(was, { ...given, repository: url });
  const isFound = (each: Repository) => 'path' in given && documentAt(each, given.path) !== null;
  // What the operator follows no more is followed again by nobody else.
  const isFollowed = (each: Repository) => each.url === url && each.branch === branch && !each.gone;
  return { url, hasFile: followed.some((each) => isFollowed(each) && (isSame || isFound(each))) };
}

function isSamePlace<C extends Connection | SiteConnection>(was: C | null, now: C): was is C {
  const places = [was, now].map((each) => each && ('path' in each ? each.path : plainFolder(each.folder)));
  return was?.repository === now.repository && was.branch === now.branch && places[0] === places[1];
}

/** Disconnects a resource or site. What is published stays. Rejects with `not_found` when it is not connected. */
export async function disconnectRecord<N extends Name>(
  registry: Registry,
  of: N,
  author: Author,
  guard: GuardOf<RecordOf<N>> | null = null,
): Promise<void> {
  await updateRecord(registry, of, author, guard, (current) => {
    if (current.connection === null) throw notFound(`${formatCoordinate(of)} has no connection.`);
    return { next: { ...current, connection: null }, action: 'disconnect' };
  });
}

/** Accepts the repository, whatever it rewrote, and syncs it again. Rejects with `not_found` without a connection. */
export async function relinkResource(registry: Registry, coordinate: Coordinate, author: Author): Promise<void> {
  const connection = (await findResource(registry, coordinate))?.connection;
  if (!connection) throw notFound(`${formatCoordinate(coordinate)} has no connection.`);
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
  return { repository, document: repository && documentOf(repository.value, formatCoordinate(resource), path) };
}

/**
 * Follows the repository of what somebody connects to it, and accepts it as it is now. The next sync
 * reads it even when the commit has not changed, and all of it unless its last sync published the file.
 */
async function followFor(
  registry: Registry,
  of: Name,
  connection: Connection | SiteConnection,
  author: Author,
  hookSecret?: string | null,
): Promise<void> {
  const [name, { org }] = [formatCoordinate(of), of];
  const { repository: url, branch, credential = null } = connection;
  const recorded = (repository: Repository) =>
    'path' in connection ? documentAt(repository, connection.path, name) : null;
  const sealed = hookSecret && sealSecret(registry, hookSecret);
  await registry.refs.update<Repository>(repositoryRef(org, repositoryId(url, branch)), (newest) => {
    const current = newest?.value.renamed === undefined ? newest : null;
    const change = { ...author, action: `follow for ${name}` };
    if (current === null) {
      const hookSecrets = sealed ? [sealed] : [];
      return { value: { ...unread, org, url, branch, credential, discover: null, hookSecrets }, change };
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
    const document = recorded(value);
    if (document?.resource !== name || document.label === null) value.commit = null;
    const isStopped = value.state === 'detached' || Boolean(value.diverged) || Boolean(value.held);
    if (isStopped || recorded(value)?.outcome === 'detached') {
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
  throw malformed(`The configuration has no credential ${JSON.stringify(name)} for this organization and host.`);
}
