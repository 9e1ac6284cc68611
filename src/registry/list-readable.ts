import { isAllowed, type Principal } from '../model/access.ts';
import type { Resource } from '../model/resource.ts';
import { readAmong } from './read-among.ts';
import type { Registry } from './registry.ts';

/** Every resource that the principal may read, in order of organization, type and slug. */
export async function listReadable(
  registry: Pick<Registry, 'refs' | 'log'>,
  principal: Principal,
): Promise<Resource[]> {
  const found: Resource[] = [];
  for await (const name of registry.refs.list('resources/')) {
    const resource = (await readAmong<Resource>(registry, name))?.value;
    if (!resource || resource.deletedAt !== null) continue;
    if (isAllowed(principal, 'read', { org: resource.org, resource })) found.push(resource);
  }
  return found;
}
