import type { Principal } from '../../model/access.ts';
import { repositoryName, type Repository } from '../../model/connection.ts';
import { RegistryError } from '../../model/errors.ts';
import {
  consumerDays,
  consumerRef,
  type Consumer,
  type ReportedContract,
  type Dependency,
} from '../../model/dependency.ts';
import { nameOf, type Resource } from '../../model/resource.ts';
import type { Projection } from '../../store/log/state.ts';
import { listOrganizations } from '../maintenance/organizations.ts';
import { mayReadOrganization } from '../readable.ts';
import type { Author, Registry } from '../registry.ts';
import { isReferenceTo, newerThan } from './dependants.ts';

/** The most consumers of an organization. */
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
    throw new RegistryError(
      'quota_exceeded',
      `${org} has ${maxConsumers} consumers. Reports expire after ${consumerDays} days.`,
    );
  const value: Consumer = { name, contracts, reportedAt: registry.now().toISOString() };
  await registry.refs.update<Consumer>(ref, () => ({ value, change: { actor, origin, action: 'report' } }));
  return value;
}

/** A consumer of an organization that uses a resource. */
export interface UsingConsumer {
  org: string;
  /** That of its repository, where it is a followed one: its URL, or the last segment of a local path. */
  name: string;
  /** When it reported; null: the registry follows its repository. */
  reportedAt: string | null;
  uses: Dependency;
  /** How many newer versions there are than the one that it pinned. */
  behind: number;
}

/** The records of followed repositories whose locks named a resource at any time, by the coordinate of that. */
const repositories: Projection<Map<string, Set<string>>> = {
  create: () => new Map(),
  change(view, name, _, after) {
    if (!name.startsWith('repositories/')) return;
    for (const { contract } of (after as Repository).contracts ?? [])
      view.set(contract, (view.get(contract) ?? new Set()).add(name));
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
