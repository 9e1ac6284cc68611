import type { Principal } from '../../model/access.ts';
import { nameOf, type Resource } from '../../model/resource.ts';
import type { Registry } from '../registry.ts';
import { listUsingConsumers, type UsingConsumer } from './consumers.ts';
import { listDependants, openUsers, type Dependant } from './dependants.ts';

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
