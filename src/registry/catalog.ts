import { anonymous, isAllowed } from '../model/access.ts';
import type { Resource } from '../model/resource.ts';
import { readAmong } from './read-among.ts';
import type { Registry } from './registry.ts';

/** Every API that anybody may read and that has a version, in order of organization and slug. */
export async function listPublicApis(registry: Pick<Registry, 'refs' | 'log'>): Promise<Resource[]> {
  const found: Resource[] = [];
  for await (const name of registry.refs.list('resources/')) {
    if (name.split('/')[2] !== 'apis') continue;
    const resource = (await readAmong<Resource>(registry, name))?.value;
    if (!resource || resource.deletedAt !== null || resource.latest === null) continue;
    if (isAllowed(anonymous, 'read', { org: resource.org, resource })) found.push(resource);
  }
  return found;
}
