import type { OwnerConfig } from '../../config/organization-config.ts';
import type { FoundRepository, Host } from '../../hosts/host.ts';
import { repositoryId, repositoryRef, type Repository } from '../../model/connection.ts';
import { isRegistryError, onRefusal } from '../../model/errors.ts';
import { ownerId, ownerPrefix, ownerRef, skipReason, type Owner, type SkipReason } from '../../model/owner.ts';
import type { Registry } from '../../registry/registry.ts';
import { configuredHow, follow, listRepositories } from '../follow.ts';
import { adopt, formerOf, noteHost, hostIdOf, idOn } from '../renames/former.ts';
import { connectedResources } from '../../plan/plan.ts';
import { connectedSites } from '../../sites/sync/connect-site.ts';

const actor = 'operator:configuration';
/** Milliseconds to fetch a renamed repository under its new name. */
const patience = 10 * 60_000;

/**
 * Asks the host for the repositories of an owner, follows those that fit its filter, and detaches
 * those that are gone. Records what was found. Resolves to the ids of repositories to sync: new
 * ones, and ones that are back. When the host fails, everything stays as it is, and the record says
 * why.
 */
export async function findRepositories(registry: Registry, org: string, owner: OwnerConfig): Promise<string[]> {
  const host = registry.hosts.find(({ name }) => name === owner.host);
  if (host === undefined) return [];
  const look: Look = { registry, org, owner, host };
  const { owner: path, isDeep, credential = null } = owner;
  try {
    const { repositories, isComplete } = await host.listRepositories({ path, isDeep, credential });
    const sorted = sort(look, repositories);
    const news = await followAll(look, sorted.wanted);
    if (isComplete) await leaveOthers(look, sorted, repositories);
    const count = repositories.length;
    const more = `${owner.pattern} has more repositories than Stele lists. It looked at ${count}, and detaches none.`;
    await record(look, {
      state: 'following',
      detail: isComplete ? null : more,
      listedAt: registry.now().toISOString(),
      isComplete,
      followed: sorted.wanted.length,
      skipped: Object.fromEntries(sorted.skipped),
    });
    if (!isComplete) registry.log('warn', 'owner has too many repositories', { org, host: owner.host, detail: more });
    return news;
  } catch (error) {
    if (!isRegistryError(error)) throw error;
    registry.log('warn', 'owner not listed', { org, host: owner.host, owner: owner.pattern, detail: error.message });
    await record(look, { state: 'failed', detail: error.message });
    return [];
  }
}

/** One look at the repositories of an owner. */
interface Look {
  registry: Registry;
  org: string;
  owner: OwnerConfig;
  host: Host;
}

interface Sorted {
  wanted: FoundRepository[];
  skipped: Map<string, SkipReason>;
}

/** Sorts an owner's repositories by its filter. Those that the configuration lists itself are left out. */
function sort({ registry, org, owner, host }: Look, repositories: readonly FoundRepository[]): Sorted {
  const listed = new Set(registry.config.organizations[org]!.repositories.map(({ url }) => host.nameOf(url)));
  const prefix = ownerPrefix(owner.owner);
  const sorted: Sorted = { wanted: [], skipped: new Map() };
  for (const repository of repositories) {
    const { name } = repository;
    // A host may answer with a repository of somebody else.
    if (!name.startsWith(prefix)) continue;
    const reason = listed.has(name) ? 'configured' : skipReason(owner, name.slice(prefix.length), repository);
    if (reason === null) sorted.wanted.push(repository);
    else sorted.skipped.set(name, reason);
  }
  return sorted;
}

async function followAll({ registry, org, owner, host }: Look, wanted: readonly FoundRepository[]): Promise<string[]> {
  const how = await configuredHow(registry, org, owner);
  const owners = ownerId(owner.host, owner.pattern);
  const followed = await listRepositories(registry);
  const news: string[] = [];
  const isRenamed = ({ url, id }: FoundRepository) => {
    const hostId = hostIdOf(host, { id });
    return hostId !== undefined && formerOf(host, { org, url, branch: how.branch, hostId }, followed);
  };
  // Renamed ones first: another repository may have a former name by now.
  const inOrder = wanted.toSorted((one, other) => Number(Boolean(isRenamed(other))) - Number(Boolean(isRenamed(one))));
  for (const repository of inOrder) {
    const { url } = repository;
    const hostId = hostIdOf(host, repository);
    const given = { url, ...(hostId !== undefined && { hostId }), ...how, owner: owners, gone: null };
    const id = repositoryId(url, how.branch);
    const recorded = (await registry.refs.read<Repository>(repositoryRef(org, id)))?.value;
    // Two patterns may match the same repository. The first that found it keeps it.
    if (recorded?.owner !== undefined && recorded.owner !== owners && isConfigured(registry, org, recorded.owner))
      continue;
    await follow(registry, org, given);
    const former = isRenamed(repository);
    if (former && !(await goOn(registry, former, id))) continue;
    if (hostId !== undefined) await noteHost(registry, { org, url, branch: how.branch }, { ...repository, hostId });
    if (former || recorded === undefined || recorded.gone || recorded.discover === null) news.push(id);
  }
  return news;
}

/** Goes on with a renamed repository. Resolves to whether that was possible now. */
async function goOn(registry: Registry, former: Repository, id: string): Promise<boolean> {
  const { org, url } = former;
  const successor = (await registry.refs.readFresh<Repository>(repositoryRef(org, id)))!.value;
  const refused = onRefusal(null, ({ code, message: detail }) => {
    registry.log('warn', 'rename not followed', { org, repository: url, detail });
    return code === 'conflict';
  });
  return adopt(registry, former, successor, AbortSignal.timeout(patience)).then(() => true, refused);
}

function isConfigured({ config }: Registry, org: string, id: string): boolean {
  return config.organizations[org]!.owners.some(({ host, pattern }) => ownerId(host, pattern) === id);
}

/** Detaches the repositories of the owner that are no longer wanted, and says why. */
async function leaveOthers(
  { registry, org, owner, host }: Look,
  { wanted, skipped }: Sorted,
  listed: readonly FoundRepository[],
): Promise<void> {
  const owners = ownerId(owner.host, owner.pattern);
  const ids = new Set(wanted.map(({ url }) => repositoryId(url, owner.branch ?? null)));
  const mine = (await listRepositories(registry)).filter((each) => each.org === org && each.owner === owners);
  for (const repository of mine) {
    if (ids.has(repositoryId(repository.url, repository.branch))) continue;
    const name = host.nameOf(repository.url) ?? '';
    const now = listed.find((match) => repository.hostId !== undefined && hostIdOf(host, match) === repository.hostId);
    const reason = skipped.get(now?.name ?? name) ?? null;
    const why = reason === null ? await whereIs(registry, host, repository, name) : reasons[reason];
    await leave(registry, repository, `${why} Published versions stay.`);
  }
}

const reasons: Record<SkipReason | 'missing', string> = {
  archived: 'The repository was archived on its host.',
  fork: 'The repository is a fork, and the configuration follows none.',
  excluded: 'The configuration excludes the repository (only, except).',
  configured: 'The configuration lists the repository itself.',
  missing:
    'Its owner on the git host no longer has the repository: it was deleted, renamed or moved, or the credential cannot see it.',
};

/** Why a repository left its owner's list: asks the host where it is now. */
async function whereIs(registry: Registry, host: Host, repository: Repository, name: string): Promise<string> {
  const id = idOn(host, repository);
  const { credential } = repository;
  const listed = await host.findRepository({ name, credential }, id).catch(onRefusal(null, () => null));
  if (listed === null || listed.name === name || (id !== null && listed.id !== id)) return reasons.missing;
  const hostId = hostIdOf(host, listed);
  // The next look goes on with it, if it is one of the owner's.
  if (id === null && hostId !== undefined) await noteHost(registry, repository, { hostId });
  return `The repository is ${listed.name} on its host now. It was published from under its former name; connect its resources to ${listed.url} to go on with them there.`;
}

async function record({ registry, org, owner }: Look, result: Partial<Owner>): Promise<void> {
  const { host, pattern } = owner;
  const fresh = { org, host, pattern, listedAt: null, isComplete: true, followed: 0, skipped: {} };
  await registry.refs.update<Owner>(ownerRef(org, ownerId(host, pattern)), (current) => {
    const base = { ...fresh, ...current?.value };
    const value = { ...base, ...result, lookedAt: registry.now().toISOString() } as Owner;
    return { value, change: { actor, origin: null, action: `look ${value.state}` } };
  });
}

/**
 * Stops following a repository that the configuration followed, and records why. One that somebody
 * connected a document or a site to by hand is synced on for that connection alone.
 */
export async function leave(registry: Registry, repository: Repository, why: string): Promise<void> {
  const { org, url, branch } = repository;
  const connected = await connectedResources(registry, repository);
  const isConnected =
    connected.some(({ connection }) => !connection.found) || (await connectedSites(registry, repository)).length > 0;
  await registry.refs.update<Repository>(repositoryRef(org, repositoryId(url, branch)), (current) => {
    const { owner, configured, ...value } = current!.value;
    const change = { actor: 'operator:configuration', origin: null, action: 'leave' };
    if (isConnected) return { value: { ...value, discover: null, gone: null }, change };
    if (value.gone === why) return null;
    const since = value.state === 'detached' ? value.since : registry.now().toISOString();
    const left = { ...value, state: 'detached' as const, detail: why, gone: why };
    return {
      value: { ...left, ...(owner && { owner }), ...(configured && { configured }), ...(since && { since }) },
      change,
    };
  });
  if (!repository.gone) registry.log('warn', 'repository detached', { org, repository: url, detail: why });
}
