import { isAllowed, type Principal } from '../model/access.ts';
import type { Coordinate, ResourceType } from '../model/address.ts';
import { resourceRef, type Resource } from '../model/resource.ts';
import type { Generation } from '../store/refs.ts';
import { readAmong } from './read-among.ts';
import type { Registry } from './registry.ts';

/** A resource's newest generation, if it is there and the principal may read it. Null tells nothing about which of the two it is not. */
export async function findReadable(
  registry: Registry,
  principal: Principal,
  coordinate: Coordinate,
): Promise<Generation<Resource> | null> {
  const generation = await registry.refs.read<Resource>(resourceRef(coordinate));
  if (generation === null || generation.value.deletedAt !== null) return null;
  const resource = generation.value;
  return isAllowed(principal, 'read', { org: resource.org, resource }) ? generation : null;
}

/** The resources of one type that the principal may read, in the order of the store, one by one; those after the slug `after`. */
export async function* readableResources(
  registry: Registry,
  principal: Principal,
  org: string,
  type: ResourceType,
  after: string | null,
): AsyncGenerator<Generation<Resource>> {
  const start = after === null ? undefined : resourceRef({ org, type, slug: after });
  for await (const name of registry.refs.list(`resources/${org}/${type}/`, start)) {
    const generation = await readAmong<Resource>(registry, name);
    const resource = generation?.value;
    if (resource && resource.deletedAt === null && isAllowed(principal, 'read', { org, resource })) yield generation;
  }
}
