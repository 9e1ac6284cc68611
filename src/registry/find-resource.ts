import type { Coordinate } from '../model/address.ts';
import { resourceRef, type Resource } from '../model/resource.ts';
import type { Registry } from './registry.ts';

/** A resource's newest state; null if it does not exist or was deleted. Does not check access. */
export async function findResource(registry: Registry, coordinate: Coordinate): Promise<Resource | null> {
  const resource = (await registry.refs.read<Resource>(resourceRef(coordinate)))?.value ?? null;
  return resource === null || resource.deletedAt !== null ? null : resource;
}
