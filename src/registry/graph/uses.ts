import type { Principal } from '../../model/access.ts';
import { parseCoordinate } from '../../model/address.ts';
import { nameOf, selectVersion, type Resource } from '../../model/resource.ts';
import { findReadable } from '../readable.ts';
import type { Registry } from '../registry.ts';
import { isReferenceTo, newerThan } from './dependants.ts';
import { listUses, userName, type Use } from './users.ts';

/** The most resources whose users are looked up around one. */
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

/** The resources among users that were not seen yet. */
function usersIn(uses: readonly Use[], seen: Set<string>): Resource[] {
  return uses.flatMap(({ user }) => {
    if (!('resource' in user) || seen.has(userName(user))) return [];
    seen.add(userName(user));
    return [user.resource];
  });
}
