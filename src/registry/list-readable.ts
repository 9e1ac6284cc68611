import { isAllowed, type Principal } from '../model/access.ts';
import { isPublished, type Resource } from '../model/resource.ts';
import { readAmong } from './read-among.ts';
import type { Registry } from './registry.ts';

/** Every resource that is listed for the principal, in order of organization, type and slug. */
export async function listReadable(
  registry: Pick<Registry, 'refs' | 'log'>,
  principal: Principal,
): Promise<Resource[]> {
  const found: Resource[] = [];
  for await (const name of registry.refs.list('resources/')) {
    const resource = (await readAmong<Resource>(registry, name))?.value;
    if (!resource || resource.deletedAt !== null) continue;
    if (isListed(principal, resource)) found.push(resource);
  }
  return found;
}

/**
 * Whether lists show the resource to the principal: one that it may read, and to nobody in particular one without a readable version, which has only a
 * page that says so.
 */
export function isListed(principal: Principal, resource: Resource): boolean {
  if (!isAllowed(principal, 'read', { org: resource.org, resource })) return false;
  return principal.kind !== 'anonymous' || isPublished(resource);
}
