import type { Principal } from '../../model/access.ts';
import { nameOf, type Resource } from '../../model/resource.ts';
import type { Registry } from '../registry.ts';
import { listUsingConsumers, type UsingConsumer } from './consumers.ts';
import { listDependants, type Dependant } from './dependants.ts';

/** Whoever uses a resource: another resource, or a consumer. */
export type User = Dependant | UsingConsumer;

/**
 * All who use a resource, as far as the principal may read them, and no others are counted: resources, then consumers.
 * A followed repository is not a consumer of what a resource that is published from it takes from its lock.
 */
export async function listUsers(registry: Registry, principal: Principal, target: Resource): Promise<User[]> {
  const dependants = await listDependants(registry, principal, target);
  const told = dependants.flatMap(({ uses, resource }) =>
    uses.how === 'lock' && resource.connection ? [resource.connection.repository] : [],
  );
  return [...dependants, ...(await listUsingConsumers(registry, principal, target, new Set(told)))];
}

/** `@acme/apis/orders`, or the name of a consumer. */
export function userName(user: User): string {
  return 'resource' in user ? nameOf(user.resource) : user.name;
}
