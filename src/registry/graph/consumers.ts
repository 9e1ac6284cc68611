import { RegistryError } from '../../model/errors.ts';
import { consumerDays, consumerRef, type Consumer, type ReportedContract } from '../../model/graph/consumer.ts';
import type { Author, Registry } from '../registry.ts';

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

/** The consumers of an organization whose report has not expired, by name. */
export async function listConsumers({ refs, now }: Registry, org: string): Promise<Consumer[]> {
  const oldest = new Date(now().getTime() - consumerDays * 86_400_000).toISOString();
  const consumers: Consumer[] = [];
  for await (const name of refs.list(consumerRef(org, ''))) {
    const consumer = (await refs.read<Consumer>(name))?.value;
    if (consumer && consumer.reportedAt > oldest) consumers.push(consumer);
  }
  return consumers.sort((a, b) => (a.name < b.name ? -1 : 1));
}
