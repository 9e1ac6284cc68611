import type { Principal } from '../../model/access.ts';
import { parseCoordinate } from '../../model/address.ts';
import {
  type Dependency,
  consumerDays,
  consumerRef,
  type Consumer,
  type ReportedContract,
} from '../../model/dependency.ts';
import { compareSemanticVersions, readerOf } from '../../model/label.ts';
import { isOffered, nameOf, selectVersion, type Resource, type Version } from '../../model/resource.ts';
import type { Projection } from '../../store/log/state.ts';
import { listOrganizations } from '../maintenance/organizations.ts';
import { findReadable, mayReadOrganization } from '../readable.ts';
import type { Registry, Author } from '../registry.ts';
import { repositoryName, type Repository } from '../../model/connection.ts';
import { quotaExceeded } from '../../model/errors.ts';

/** A resource whose latest version refers to another one. */
interface Dependant {
  resource: Resource;
  version: Version;
  uses: Dependency;
  /** How many newer versions there are than the one that it uses. */
  behind: number;
}

/** Names of the resources of which any version refers to a resource, by the coordinate of that. */
const usersOfAll: Projection<Map<string, Set<string>>> = {
  create: () => new Map(),
  change(view, name, _, after) {
    const [kind, org, type, slug] = name.split('/');
    if (kind !== 'versions') return;
    for (const { coordinate } of (after as Version).dependencies ?? [])
      view.getOrInsertComputed(coordinate, () => new Set()).add(`@${org}/${type}/${slug}`);
  },
};

/** Looks up which resources may use one, by its coordinate, in all organizations. */
export async function openUsers(
  registry: Pick<Registry, 'config' | 'refs' | 'answers'>,
): Promise<(coordinate: string) => readonly string[]> {
  const views: ReadonlyMap<string, ReadonlySet<string>>[] = [];
  for (const org of await listOrganizations(registry)) views.push(await registry.refs.projected(org, usersOfAll));
  return (coordinate) => views.flatMap((view) => [...(view.get(coordinate) ?? [])].sort());
}

/**
 * The resources of all organizations whose latest version refers to this one, by name: those that the
 * principal may read, and no others are counted. `usersOf`: for who asks often.
 */
export async function listDependants(
  registry: Pick<Registry, 'config' | 'refs' | 'log' | 'answers'>,
  principal: Principal,
  target: Resource,
  usersOf?: (coordinate: string) => readonly string[],
): Promise<Dependant[]> {
  const isTarget = isReferenceTo(target);
  const dependants: Dependant[] = [];
  for (const user of (usersOf ?? (await openUsers(registry)))(nameOf(target))) {
    const resource = (await findReadable(registry, principal, parseCoordinate(user)!.coordinate))?.value;
    const version = resource && selectVersion(resource, { kind: 'latest' })?.version;
    for (const uses of version?.dependencies?.filter(isTarget) ?? [])
      dependants.push({ resource: resource!, version: version!, uses, behind: newerThan(target, uses.version) });
  }
  return dependants;
}

/** Whether a dependency is a version of this resource. A lock may name a contract of another registry. */
function isReferenceTo(target: Resource): (dependency: Dependency) => boolean {
  const name = nameOf(target);
  const manifests = new Set(target.versions.map(({ manifest }) => manifest));
  return ({ coordinate, how, digest }) => coordinate === name && (how !== 'lock' || manifests.has(digest));
}

/** How many versions that readers are sent to are newer than this one. */
function newerThan({ versions }: Resource, label: string): number {
  const read = readerOf(versions);
  const current = read(label);
  const at = versions.findIndex((version) => version.label === label);
  return versions.filter((version, index) => {
    const other = read(version.label);
    const isNewer = current && other ? compareSemanticVersions(other, current) > 0 : index > at;
    return isNewer && isOffered(version);
  }).length;
}

const maxConsumers = 1000;

/**
 * Records what a consumer of an organization uses now, in place of its last report. Throws
 * `quota_exceeded` for one consumer too many.
 */
export async function reportConsumer(
  registry: Registry,
  org: string,
  name: string,
  contracts: ReportedContract[],
  { actor, origin }: Author,
): Promise<Consumer> {
  const ref = consumerRef(org, name);
  const isNew = (await registry.refs.read<Consumer>(ref)) === null;
  if (isNew && (await Array.fromAsync(registry.refs.list(consumerRef(org, '')))).length >= maxConsumers)
    throw quotaExceeded(`${org} has ${maxConsumers} consumers. Reports expire after ${consumerDays} days.`);
  const value: Consumer = { name, contracts, reportedAt: registry.now().toISOString() };
  await registry.refs.update<Consumer>(ref, () => ({ value, change: { actor, origin, action: 'report' } }));
  return value;
}

interface UsingConsumer {
  org: string;
  /** That of its repository, where it is a followed one: its URL, or the last segment of a local path. */
  name: string;
  /** When it reported; null: the registry follows its repository. */
  reportedAt: string | null;
  uses: Dependency;
  behind: number;
}

/** The records of followed repositories whose locks named a resource at any time, by the coordinate of that. */
const repositories: Projection<Map<string, Set<string>>> = {
  create: () => new Map(),
  change(view, name, _, after) {
    if (!name.startsWith('repositories/')) return;
    for (const { contract } of (after as Repository).contracts ?? []) view.getOrInsert(contract, new Set()).add(name);
  },
};

/**
 * The consumers of all organizations that pinned these resources, by name: those of organizations that the principal
 * may read as a whole. `isTold`: whether the repository at a URL is not told as a user of a resource.
 */
export async function listUsingConsumers(
  registry: Pick<Registry, 'config' | 'refs' | 'log' | 'answers' | 'now'>,
  principal: Principal,
  targets: readonly Resource[],
  isTold: (used: Resource, repository: string) => boolean,
): Promise<{ used: Resource; user: UsingConsumer }[]> {
  const byName = new Map(targets.map((used) => [nameOf(used), { used, isTarget: isReferenceTo(used) }]));
  const found: { used: Resource; user: UsingConsumer }[] = [];
  const only = targets.length === 1 ? nameOf(targets[0]!) : null;
  for (const org of await listOrganizations(registry)) {
    if (!mayReadOrganization(principal, org)) continue;
    for (const { name, repository, reportedAt, contracts } of await allConsumers(registry, org, only))
      for (const { contract, ...pinned } of contracts) {
        const { used, isTarget } = byName.get(contract) ?? {};
        const uses: Dependency = { coordinate: contract, ...pinned, how: 'lock' };
        if (!used || !isTarget!(uses) || (repository !== null && isTold(used, repository))) continue;
        found.push({ used, user: { org, name, reportedAt, uses, behind: newerThan(used, uses.version) } });
      }
  }
  return found;
}

/** A consumer of an organization, with all that it pinned. */
export interface PinningConsumer extends Pick<UsingConsumer, 'name' | 'reportedAt'> {
  /** The URL of its repository, where the registry follows it. */
  repository: string | null;
  contracts: readonly ReportedContract[];
}

/** The consumers of an organization, by name: all, or those that may have pinned a contract. */
export async function allConsumers(
  registry: Pick<Registry, 'refs' | 'now'>,
  org: string,
  contract: string | null = null,
): Promise<PinningConsumer[]> {
  const view = await registry.refs.projected(org, repositories);
  const names = contract === null ? new Set([...view.values()].flatMap((each) => [...each])) : view.get(contract);
  const consumers: PinningConsumer[] = [];
  for (const ref of [...(names ?? [])].sort()) {
    const repository = (await registry.refs.read<Repository>(ref))?.value;
    if (!repository || !isThere(repository)) continue;
    const { url, contracts = [] } = repository;
    consumers.push({ name: repositoryName(url), repository: url, reportedAt: null, contracts });
  }
  for (const consumer of await listConsumers(registry, org)) consumers.push({ ...consumer, repository: null });
  return consumers;
}

/** Whether a repository is followed and was there at the last sync. */
function isThere({ gone, renamed, movedTo, state }: Repository): boolean {
  return !gone && renamed === undefined && movedTo === undefined && state !== 'detached';
}

/** The consumers of an organization whose report has not expired, by name. */
export async function listConsumers({ refs, now }: Pick<Registry, 'refs' | 'now'>, org: string): Promise<Consumer[]> {
  const oldest = new Date(now().getTime() - consumerDays * 86_400_000).toISOString();
  const consumers: Consumer[] = [];
  for await (const name of refs.list(consumerRef(org, ''))) {
    const consumer = (await refs.read<Consumer>(name))?.value;
    if (consumer && consumer.reportedAt > oldest) consumers.push(consumer);
  }
  return consumers.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Whoever uses a resource: another resource, or a consumer. */
export type User = Dependant | UsingConsumer;

/** A resource, and one of those who use it. */
export interface Use {
  used: Resource;
  user: User;
}

/**
 * All who use these resources, as far as the principal may read them, and no others are counted: resources, then
 * consumers. A followed repository is not a consumer of what a resource that is published from it takes from its lock.
 */
export async function listUses(registry: Registry, principal: Principal, targets: readonly Resource[]): Promise<Use[]> {
  const usersOf = await openUsers(registry);
  const uses: Use[] = [];
  const told = new Set<string>();
  for (const used of targets)
    for (const user of await listDependants(registry, principal, used, usersOf)) {
      uses.push({ used, user });
      if (user.uses.how === 'lock' && user.resource.connection)
        told.add(`${nameOf(used)} ${user.resource.connection.repository}`);
    }
  const isTold = (used: Resource, repository: string) => told.has(`${nameOf(used)} ${repository}`);
  return [...uses, ...(await listUsingConsumers(registry, principal, targets, isTold))];
}

/** All who use a resource: see `listUses`. */
export async function listUsers(registry: Registry, principal: Principal, target: Resource): Promise<User[]> {
  return (await listUses(registry, principal, [target])).map(({ user }) => user);
}

/** `@acme/apis/orders`, or the name of a consumer. */
export function userName(user: User): string {
  return 'resource' in user ? nameOf(user.resource) : user.name;
}

const maxLookedUp = 60;

/**
 * What a resource uses, who uses it, and who uses these in turn: as far as the principal may read them.
 * `users`: those of the resource itself.
 */
export async function usesAround(
  registry: Registry,
  principal: Principal,
  target: Resource,
  users: readonly Use[],
): Promise<Use[]> {
  const uses = [...(await whatItUses(registry, principal, target)), ...users];
  const seen = new Set([nameOf(target)]);
  for (let next = usersIn(users, seen); next.length > 0 && seen.size <= maxLookedUp;) {
    const found = await listUses(registry, principal, next);
    uses.push(...found);
    next = usersIn(found, seen);
  }
  return uses;
}

/** What an organization's resources use, and who uses them, as far as the principal may read them. */
export async function usesWithin(
  registry: Registry,
  principal: Principal,
  resources: readonly Resource[],
): Promise<Use[]> {
  const names = new Set(resources.map(nameOf));
  const uses: Use[] = [];
  for (const resource of resources)
    for (const use of await whatItUses(registry, principal, resource)) if (!names.has(nameOf(use.used))) uses.push(use);
  return [...uses, ...(await listUses(registry, principal, resources))];
}

async function whatItUses(registry: Registry, principal: Principal, resource: Resource): Promise<Use[]> {
  const version = selectVersion(resource, { kind: 'latest' })?.version;
  const found: Use[] = [];
  for (const uses of version?.dependencies ?? []) {
    const parsed = parseCoordinate(uses.coordinate);
    const used = parsed && (await findReadable(registry, principal, parsed.coordinate))?.value;
    if (!used || !isReferenceTo(used)(uses)) continue;
    found.push({ used, user: { resource, version: version!, uses, behind: newerThan(used, uses.version) } });
  }
  return found;
}

function usersIn(uses: readonly Use[], seen: Set<string>): Resource[] {
  return uses.flatMap(({ user }) => {
    if (!('resource' in user) || seen.has(userName(user))) return [];
    seen.add(userName(user));
    return [user.resource];
  });
}
