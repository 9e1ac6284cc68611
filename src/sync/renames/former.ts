import type { Principal } from '../../model/access.ts';
import type { Host, FoundRepository } from '../../hosts/host.ts';
import { repositoryId, repositoryRef, trustedCommit, type Repository } from '../../model/connection.ts';
import { isRegistryError, conflict } from '../../model/errors.ts';
import { hostOf, remoteOf } from '../../registry/remote.ts';
import type { Registry, Author } from '../../registry/registry.ts';
import { listRepositories } from '../follow.ts';
import { coordinateOf } from '../../model/resource.ts';
import { siteCoordinate } from '../../sites/model/documentation-site.ts';
import { updateRecord, type Name } from '../../registry/lives.ts';
import { listReadable, listReadableSites } from '../../registry/readable.ts';
import { judgeCommit } from '../guard.ts';
import { withLease } from '../lease.ts';

const maxRenames = 10;

/** The id under which a followed repository goes on, after all its renames. */
export async function currentId(registry: Registry, org: string, id: string): Promise<string> {
  let current = id;
  for (let renames = 0; renames < maxRenames; renames++) {
    const record = (await registry.refs.read<Repository>(repositoryRef(org, current)))?.value;
    if (record?.renamed === undefined) break;
    current = repositoryId(record.renamed, record.branch);
  }
  return current;
}

/**
 * Before the first sync of a repository: if the organization followed it under another name, it
 * goes on from there. Asks the host for its id only where another repository of that host is known
 * by one. If the host does not answer now, a later look (`createRenames`) finds out. Resolves to the
 * record as it is then.
 */
export async function goOnFromFormer(
  registry: Registry,
  repository: Repository,
  signal: AbortSignal,
): Promise<Repository> {
  const { org, url, branch } = repository;
  const on = hostOf(registry, url);
  if (on === null || repository.commit !== null || trustedCommit(repository) !== null || repository.formerId)
    return repository;
  const repositories = (await listRepositories(registry)).filter(
    (each) => each.org === org && each.url !== url && each.hostId?.startsWith(`${on.host.name}:`),
  );
  if (repositories.length === 0) return repository;
  const name = repositoryRef(org, repositoryId(url, branch));
  try {
    const hostId = repository.hostId ?? (await learnId(registry, repository, on));
    const former = hostId && formerOf(on.host, { ...repository, hostId }, repositories);
    if (!former) return repository;
    await adopt(registry, former, repository, signal);
    return (await registry.refs.readFresh<Repository>(name))!.value;
  } catch (error) {
    if (!isRegistryError(error) || signal.aborted) throw error;
    registry.log('warn', 'rename not followed', { org, repository: url, detail: error.message });
    return repository;
  }
}

/** The record of the same repository under a former name, or undefined. */
export function formerOf(
  host: Host,
  { org, url, branch, hostId }: Pick<Repository, 'org' | 'url' | 'branch'> & { hostId: string },
  among: readonly Repository[],
): Repository | undefined {
  // The same name in another spelling is not a rename: by ssh, or without `.git`. Other capitals are.
  const isOther = (each: Repository) =>
    host.nameOf(each.url) !== host.nameOf(url) || each.url.toLowerCase() === url.toLowerCase();
  return among.find(
    (each) => each.org === org && each.branch === branch && each.hostId === hostId && each.url !== url && isOther(each),
  );
}

/** Asks the host for the id of the repository with this name, and records it. */
async function learnId(
  registry: Registry,
  repository: Repository,
  { host, name }: { host: Host; name: string },
): Promise<string | undefined> {
  const listed = await host.findRepository({ name, credential: repository.credential }, null);
  // A former name, which leads to a repository that has another one now.
  const hostId = listed?.name === name ? hostIdOf(host, listed) : undefined;
  if (hostId !== undefined) await noteHost(registry, repository, { ...listed, hostId });
  return hostId;
}

/** Records what the host says of a repository that was not moved: its id, and who sees it there. */
export async function noteHost(
  registry: Registry,
  { org, url, branch }: Pick<Repository, 'org' | 'url' | 'branch'>,
  { hostId, isPrivate }: { hostId: string; isPrivate?: boolean },
): Promise<void> {
  await registry.refs.update<Repository>(repositoryRef(org, repositoryId(url, branch)), (current) => {
    if (current === null || current.value.renamed !== undefined) return null;
    const { movedTo, ...value } = current.value;
    const onHost = isPrivate === undefined ? value.onHost : seenAs(isPrivate, value.onHost);
    if (value.hostId === hostId && value.onHost === onHost && movedTo === undefined) return null;
    const action = onHost === value.onHost ? 'note its id' : `${onHost} on its host`;
    const change = { actor: 'operator:hosts', origin: null, action };
    return { value: { ...value, hostId, ...(onHost && { onHost }) }, change };
  });
}

function seenAs(isPrivate: boolean, before: Repository['onHost']): NonNullable<Repository['onHost']> {
  if (!isPrivate) return 'public';
  return before === undefined || before === 'private' ? 'private' : 'made private';
}

/** `Repository.hostId` of what a host found; undefined where it did not say. */
export function hostIdOf(host: Host, { id }: { id?: string | null }): string | undefined {
  return id === null || id === undefined ? undefined : `${host.name}:${id}`;
}

/** The id of a followed repository as this host takes it; null if it is not known, or of another host. */
export function idOn(host: Host, { hostId }: Pick<Repository, 'hostId'>): string | null {
  const start = `${host.name}:`;
  return hostId?.startsWith(start) ? hostId.slice(start.length) : null;
}

/** Whether both names are of repositories of one owner. */
export function isSameOwner(one: string, other: string): boolean {
  const ownerOf = (name: string) => name.slice(0, name.lastIndexOf('/'));
  return ownerOf(one) === ownerOf(other);
}

/**
 * The URL of a followed repository under the name that it has now: by ssh if it is followed by ssh,
 * and with `.git` if it has that. Null when it cannot be made.
 */
export function renamedUrl(host: Host, url: string, listed: FoundRepository): string | null {
  const name = host.nameOf(url);
  if (/^https?:/i.test(url)) return /\.git\/?$/i.test(url) ? listed.url : listed.url.replace(/\.git$/, '');
  const at = name === null ? -1 : url.toLowerCase().lastIndexOf(name);
  if (at < 0) return null;
  const renamed = url.slice(0, at) + listed.name + url.slice(at + name!.length);
  return host.nameOf(renamed) === listed.name ? renamed : null;
}

/**
 * Lets a followed repository go on where a record of the same repository under a former name ended:
 * its resources and sites are published from the new URL from then on, and the former record only
 * says where it went. The caller has found out that the host means the same repository; this
 * function proves that what was published last is in its history, so that nobody takes over a name.
 * Rejects with `conflict` if it is not, and as the remote does. A repetition goes on where a crash
 * stopped it.
 */
export async function adopt(
  registry: Registry,
  former: Repository,
  successor: Repository,
  signal: AbortSignal,
): Promise<void> {
  const { org } = former;
  const formerId = repositoryId(former.url, former.branch);
  // No sync of the former record may run meanwhile: it would take the moved resources for others'.
  await withLease(registry, { org, name: formerId }, signal, async ({ registry: fenced, signal: held }) => {
    const name = repositoryRef(org, formerId);
    const standing = (await registry.refs.readFresh<Repository>(name))?.value;
    if (standing === undefined || standing.renamed !== undefined) return;
    const { url } = successor;
    await assertSameHistory(registry, standing, successor, held);
    const author: Author = { actor: `sync:${org}`, origin: null };
    await moveConnected(fenced, standing, successor, author);
    await fenced.refs.update<Repository>(repositoryRef(org, repositoryId(url, successor.branch)), (current) => {
      const value = current?.value ?? successor;
      if (value.formerId === formerId) return null;
      const change = { ...author, action: `continue ${former.url}` };
      return { value: continued(standing, value, formerId), change };
    });
    await fenced.refs.update<Repository>(name, () => ({
      value: tombstone(standing, url),
      change: { ...author, action: `renamed to ${url}` },
    }));
    registry.log('info', 'repository renamed', { org, from: former.url, to: url });
  });
}

async function assertSameHistory(
  registry: Registry,
  former: Repository,
  { url, credential }: Repository,
  signal: AbortSignal,
): Promise<void> {
  // Judged as if it had been missing: its history must not even have been rewritten.
  const renamed: Repository = { ...former, url, credential, state: 'detached' };
  const tip = await registry.source.tip(await remoteOf(registry, renamed), signal);
  if (!tip.found) throw conflict(tip.detail);
  const verdict = await judgeCommit(registry, renamed, tip.commit, signal);
  if (verdict.isAccepted) return;
  const trusted = trustedCommit(former);
  throw conflict(
    `The git host says that ${former.url} was renamed to ${url}, but ${trusted}, which was published last, is not known to be in the history there. Nothing is taken over. If it is the same repository, connect its resources to the new URL.`,
  );
}

/** The record of the successor with what the former one knew. How it is followed is the successor's. */
function continued(former: Repository, successor: Repository, formerId: string): Repository {
  const hookSecrets = [...(successor.hookSecrets ?? []), ...(former.hookSecrets ?? [])];
  const tags = { ...former.tags, ...successor.tags };
  const both = { formerId, hookSecrets, tags };
  const trusted = trustedCommit(successor);
  // It was synced under its new name, where resources of the former one were conflicts. Everything is read again.
  if (trusted !== null) return { ...successor, ...both, commit: null, trusted };
  const { commit, documents, sites, diverged, syncedAt } = former;
  const isReadAlike = former.discover === successor.discover && former.versions === successor.versions;
  return {
    ...successor,
    ...both,
    commit: isReadAlike ? commit : null,
    trusted: trustedCommit(former),
    syncedAt,
    documents,
    ...(sites && { sites }),
    ...(diverged && { diverged }),
  };
}

function tombstone({ org, branch, visibility, validation, state, url, ...rest }: Repository, to: string): Repository {
  const gone = `The repository was renamed on its host. It is followed as ${to}.`;
  const nothing = { commit: null, trusted: null, syncedAt: rest.syncedAt, documents: {}, tags: {} };
  const { hostId } = rest;
  const how = { credential: null, discover: null, visibility, validation, state, detail: gone, gone, renamed: to };
  return { org, url, branch, ...how, ...nothing, ...(hostId !== undefined && { hostId }) };
}

async function moveConnected(registry: Registry, former: Repository, to: Repository, author: Author): Promise<void> {
  const { org, url, branch } = former;
  const everybody: Principal = { kind: 'operator', id: 'sync' };
  const resources = (await listReadable(registry, everybody, { org })).map(coordinateOf);
  const sites = (await listReadableSites(registry, everybody, org)).map(({ value }) => siteCoordinate(value));
  const action = `follow the renamed repository to ${to.url}`;
  for (const of of [...resources, ...sites])
    await updateRecord<Name>(registry, of, author, null, (current) => {
      const { connection } = current;
      if (connection?.repository !== url || connection.branch !== branch) return null;
      const credential = 'found' in connection && connection.found ? { credential: to.credential } : {};
      const next = { ...current, connection: { ...connection, repository: to.url, ...credential } };
      return { next: next as typeof current, action };
    });
}
