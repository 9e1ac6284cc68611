import { setTimeout as wait } from 'node:timers/promises';
import type { OwnerConfig } from '../../config/organization-config.ts';
import type { Host, FoundRepository } from '../../hosts/host.ts';
import { type Trigger, repositoryId, repositoryRef, type Repository } from '../../model/connection.ts';
import { ownerId, ownerPrefix, ownerRef, type Owner, skipReason, type SkipReason } from '../../model/owner.ts';
import type { Registry } from '../../registry/registry.ts';
import { listRepositories, configuredHow, follow } from '../follow.ts';
import { isRegistryError, onRefusal } from '../../model/errors.ts';
import { adopt, formerOf, noteHost, hostIdOf, idOn } from '../renames/former.ts';
import { connectedResources } from '../../plan/plan.ts';
import { connectedSites } from '../../sites/sync/sync-sites.ts';

/** Milliseconds between two looks at an owner, and after one that failed. */
const day = 24 * 60 * 60_000;
const hour = 60 * 60_000;
/** The least milliseconds between two looks because of hooks. */
const pause = 60_000;

/** See `createOwners`. */
export type Owners = ReturnType<typeof createOwners>;

/**
 * Follows the repositories of owners: at the start, daily, and when a hook tells of something new. `request`: the sync of a
 * repository.
 */
export function createOwners(
  registry: Registry,
  request: (org: string, id: string, trigger: Trigger) => Promise<unknown>,
) {
  const stop = new AbortController();
  const running = new Map<string, Promise<string[]>>();
  const planned = new Map<string, Promise<void>>();
  const lookedAt = new Map<string, number>();

  /** One look at a time for each owner. A second caller shares it. */
  function look(org: string, owner: OwnerConfig): Promise<string[]> {
    return running.getOrInsertComputed(keyOf(org, owner), (key) => {
      lookedAt.set(key, registry.monotonic());
      return findRepositories(registry, org, owner).finally(() => running.delete(key));
    });
  }

  async function lookAndSync(org: string, owner: OwnerConfig, trigger: Trigger): Promise<void> {
    for (const id of await look(org, owner)) await request(org, id, trigger);
  }

  function fail(error: unknown): void {
    if (!stop.signal.aborted) registry.log('error', 'owners', { error: String(error) });
  }

  async function lookLater(org: string, owner: OwnerConfig, key: string): Promise<void> {
    const since = registry.monotonic() - (lookedAt.get(key) ?? -Infinity);
    await wait(Math.max(0, pause - since), undefined, { signal: stop.signal, ref: false });
    planned.delete(key);
    // A look that runs may have begun before the hook.
    await running.get(key);
    await lookAndSync(org, owner, 'hook');
  }

  return {
    /** Looks at all owners, and requests a sync of each new repository. Resolves to what `ask` does. */
    async lookAll<T>(ask: (org: string, id: string) => Promise<T>): Promise<T[]> {
      await leaveUnconfigured(registry);
      const looks = ownersIn(registry).map(async ({ org, owner }) => {
        const news = await look(org, owner);
        return Promise.all(news.map((id) => ask(org, id)));
      });
      return (await Promise.all(looks)).flat();
    },
    /** Looks at the owners whose last look is a day ago, or failed an hour ago. */
    async lookDue(): Promise<void> {
      const now = registry.now().getTime();
      for (const { org, owner } of ownersIn(registry)) {
        const recorded = (await registry.refs.read<Owner>(refOf(org, owner)))?.value;
        const age = recorded === undefined ? Infinity : now - Date.parse(recorded.lookedAt);
        if (age >= (recorded?.state === 'failed' ? hour : day)) await lookAndSync(org, owner, 'timer').catch(fail);
      }
    },
    /**
     * Looks soon at the owners that a repository with this name belongs to, at most once a minute.
     * Does nothing for repositories that the last look left out, unless the hook `isAbout` the
     * repository itself.
     */
    async hint(host: Host, name: string, isAbout: boolean): Promise<void> {
      for (const { org, owner } of ownersIn(registry)) {
        const key = keyOf(org, owner);
        if (owner.host !== host.name || !covers(owner, name) || planned.has(key)) continue;
        const recorded = (await registry.refs.read<Owner>(refOf(org, owner)))?.value;
        const isLeftOut = recorded !== undefined && Object.hasOwn(recorded.skipped, name);
        if ((isLeftOut && !isAbout) || planned.has(key)) continue;
        planned.set(key, lookLater(org, owner, key).catch(fail));
      }
    },
    /** Whether a repository with this name is of an owner that the organization follows. */
    covers: (host: Host, organization: string, name: string): boolean =>
      ownersIn(registry).some(
        ({ org, owner }) => org === organization && owner.host === host.name && covers(owner, name),
      ),
    async close(): Promise<void> {
      stop.abort();
      await Promise.allSettled([...running.values(), ...planned.values()]);
    },
  };
}

/** The owners of all organizations. */
export function ownersIn({ config }: Pick<Registry, 'config'>): { org: string; owner: OwnerConfig }[] {
  return Object.entries(config.organizations).flatMap(([org, { owners }]) => owners.map((owner) => ({ org, owner })));
}

function keyOf(org: string, { host, pattern }: OwnerConfig): string {
  return `${org}/${ownerId(host, pattern)}`;
}

function refOf(org: string, { host, pattern }: OwnerConfig): string {
  return ownerRef(org, ownerId(host, pattern));
}

function covers({ owner }: OwnerConfig, name: string): boolean {
  return name.startsWith(ownerPrefix(owner));
}

/** Detaches the repositories of owners that the configuration no longer has. */
async function leaveUnconfigured(registry: Registry): Promise<void> {
  const configured = new Set(ownersIn(registry).map(({ org, owner }) => keyOf(org, owner)));
  for (const repository of await listRepositories(registry)) {
    const { org, owner, gone } = repository;
    if (owner === undefined || configured.has(`${org}/${owner}`) || gone) continue;
    await leave(
      registry,
      repository,
      'The configuration no longer has the owner of the repository. Published versions stay.',
    );
  }
}

const actor = 'operator:configuration';
/** Milliseconds to fetch a renamed repository under its new name. */
const patience = 10 * 60_000;

/**
 * Asks the host for the repositories of an owner, follows those that fit its filter, and detaches
 * those that are gone. Records what was found. Resolves to the ids of repositories to sync: new
 * ones, and ones that are back. When the host fails, everything stays as it is, and the record says
 * why.
 */
async function findRepositories(registry: Registry, org: string, owner: OwnerConfig): Promise<string[]> {
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
