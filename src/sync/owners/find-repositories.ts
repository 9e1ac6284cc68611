import type { OwnerConfig } from '../../config/organization-config.ts';
import type { FoundRepository, Host } from '../../hosts/host.ts';
import { repositoryId, repositoryRef, type Repository } from '../../model/connection.ts';
import { isRegistryError } from '../../model/errors.ts';
import { ownerId, ownerPrefix, ownerRef, skipReason, type Owner, type SkipReason } from '../../model/owner.ts';
import type { Registry } from '../../registry/registry.ts';
import { follow, normalizeFolder, versionsOf } from '../follow.ts';
import { listRepositories } from '../followed.ts';
import { leave } from './leave.ts';

const actor = 'operator:configuration';

/**
 * Asks the host for the repositories of an owner, follows those that fit its filter, and detaches
 * those that are gone. Records what was found. Resolves to the ids of repositories to sync: new
 * ones, and ones that are back. When the host fails, everything stays as it is, and the record says
 * why.
 */
export async function findRepositories(registry: Registry, org: string, owner: OwnerConfig): Promise<string[]> {
  const host = registry.hosts.find(({ name }) => name === owner.host);
  if (host === undefined) return [];
  const { owner: path, isDeep, credential = null } = owner;
  try {
    const { repositories, isComplete } = await host.listRepositories({ path, isDeep, credential });
    const sorted = sort(registry, org, owner, host, repositories);
    const news = await followAll(registry, org, owner, sorted.wanted);
    if (isComplete) await leaveOthers(registry, org, owner, host, sorted);
    const count = repositories.length;
    const more = `${owner.pattern} has more repositories than Stele lists. It looked at ${count}, and detaches none.`;
    await record(registry, org, owner, {
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
    await record(registry, org, owner, { state: 'failed', detail: error.message });
    return [];
  }
}

interface Sorted {
  wanted: FoundRepository[];
  skipped: Map<string, SkipReason>;
}

/** Sorts what an owner has by its filter. What the configuration lists itself is left to it. */
function sort(
  { config }: Registry,
  org: string,
  owner: OwnerConfig,
  host: Host,
  found: readonly FoundRepository[],
): Sorted {
  const listed = new Set(config.organizations[org]!.repositories.map(({ url }) => host.nameOf(url)));
  const prefix = ownerPrefix(owner.owner);
  const sorted: Sorted = { wanted: [], skipped: new Map() };
  for (const repository of found) {
    const { name } = repository;
    // A host may answer with a repository of somebody else.
    if (!name.startsWith(prefix)) continue;
    const reason = listed.has(name) ? 'configured' : skipReason(owner, name.slice(prefix.length), repository);
    if (reason === null) sorted.wanted.push(repository);
    else sorted.skipped.set(name, reason);
  }
  return sorted;
}

async function followAll(
  registry: Registry,
  org: string,
  owner: OwnerConfig,
  wanted: readonly FoundRepository[],
): Promise<string[]> {
  const { defaults } = registry.config.organizations[org]!;
  const own = ownerId(owner.host, owner.pattern);
  const news: string[] = [];
  for (const { url } of wanted) {
    const given = {
      url,
      branch: owner.branch ?? null,
      credential: owner.credential ?? null,
      discover: normalizeFolder(owner),
      visibility: owner.visibility ?? defaults.visibility ?? 'private',
      validation: owner.validation ?? defaults.validation ?? 'strict',
      versions: versionsOf(owner),
      owner: own,
      gone: null,
    };
    const id = repositoryId(url, given.branch);
    const known = (await registry.refs.read<Repository>(repositoryRef(org, id)))?.value;
    // Two patterns may match the same repository. The first that found it keeps it.
    if (known?.owner !== undefined && known.owner !== own && isConfigured(registry, org, known.owner)) continue;
    await follow(registry, org, given);
    if (known === undefined || known.gone || known.discover === null) news.push(id);
  }
  return news;
}

function isConfigured({ config }: Registry, org: string, id: string): boolean {
  return config.organizations[org]!.owners.some(({ host, pattern }) => ownerId(host, pattern) === id);
}

/** Detaches the repositories of the owner that are no longer wanted, and says why. */
async function leaveOthers(
  registry: Registry,
  org: string,
  owner: OwnerConfig,
  host: Host,
  { wanted, skipped }: Sorted,
): Promise<void> {
  const own = ownerId(owner.host, owner.pattern);
  const ids = new Set(wanted.map(({ url }) => repositoryId(url, owner.branch ?? null)));
  const mine = (await listRepositories(registry)).filter((each) => each.org === org && each.owner === own);
  for (const repository of mine) {
    if (ids.has(repositoryId(repository.url, repository.branch))) continue;
    const reason = skipped.get(host.nameOf(repository.url) ?? '') ?? null;
    await leave(registry, repository, `${reasons[reason ?? 'missing']} Published versions stay.`);
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

async function record(registry: Registry, org: string, owner: OwnerConfig, found: Partial<Owner>): Promise<void> {
  const { host, pattern } = owner;
  const fresh = { org, host, pattern, listedAt: null, isComplete: true, followed: 0, skipped: {} };
  await registry.refs.update<Owner>(ownerRef(org, ownerId(host, pattern)), (current) => {
    const base = { ...fresh, ...current?.value };
    const value = { ...base, ...found, lookedAt: registry.now().toISOString() } as Owner;
    return { value, change: { actor, origin: null, action: `look ${value.state}` } };
  });
}
