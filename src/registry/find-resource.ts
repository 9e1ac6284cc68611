import { organizationIn } from '../config.ts';
import { formatCoordinate, resourceTypes, type Coordinate, type ResourceType } from '../model/address.ts';
import { RegistryError } from '../model/errors.ts';
import type { Validation } from '../model/problem.ts';
import type { Principal, Visibility } from '../model/access.ts';
import { resourceRef, type Resource } from '../model/resource.ts';
import { isListed } from './list-readable.ts';
import { readAmong } from './read-among.ts';
import type { Author, Registry } from './registry.ts';

/** What a resource is made with. */
export interface NewResource {
  name: string;
  description?: string;
  /** Default: the organization's, else private. */
  visibility?: Visibility;
  ruleset?: string | null;
  validation?: Validation | null;
}

/** A resource without versions. Writes nothing. */
export function newResource(
  registry: Pick<Registry, 'config' | 'now'>,
  coordinate: Coordinate,
  given: NewResource,
): Resource {
  const { org, type, slug } = coordinate;
  return {
    org,
    type,
    slug,
    name: given.name,
    description: given.description ?? '',
    visibility: given.visibility ?? organizationIn(registry.config, org)?.defaults.visibility ?? 'private',
    ruleset: given.ruleset ?? null,
    connection: null,
    latest: null,
    latestPinned: false,
    validation: given.validation ?? null,
    versions: [],
    createdAt: registry.now().toISOString(),
    deletedAt: null,
  };
}

/**
 * Makes a resource; `conflict` when its slug is taken, also by a deleted one. Repeated by the same operation (`Author.operation`), it finds
 * what it made before.
 */
export async function createResource(
  registry: Registry,
  coordinate: Coordinate,
  given: NewResource,
  author: Author,
): Promise<{ resource: Resource; generation: number }> {
  const made = await registry.refs.update<Resource>(resourceRef(coordinate), (current) => {
    if (current !== null) {
      const isOurs = current.operation !== undefined && current.operation === author.operation;
      if (isOurs && current.value.deletedAt === null) return null;
      const why = current.value.deletedAt === null ? 'exists already' : 'was deleted; its name is never used again';
      throw new RegistryError('conflict', `${formatCoordinate(coordinate)} ${why}.`);
    }
    return { value: newResource(registry, coordinate, given), change: { ...author, action: 'create' } };
  });
  return { resource: made!.value, generation: made!.generation };
}

/** A resource's newest state, or null when there is none or it was deleted. No access check: for the verbs alone. */
export async function findResource(registry: Registry, coordinate: Coordinate): Promise<Resource | null> {
  const resource = (await registry.refs.read<Resource>(resourceRef(coordinate)))?.value ?? null;
  return resource === null || resource.deletedAt !== null ? null : resource;
}

/** The resources of an organization (of one type, when it is named) that are listed for the principal, in order of type and slug. */
export async function listResources(
  registry: Registry,
  principal: Principal,
  org: string,
  type: ResourceType | null = null,
): Promise<Resource[]> {
  const found: Resource[] = [];
  for (const each of type === null ? resourceTypes : [type]) {
    for await (const name of registry.refs.list(`resources/${org}/${each}/`)) {
      const resource = (await readAmong<Resource>(registry, name))?.value;
      if (resource && resource.deletedAt === null && isListed(principal, resource)) found.push(resource);
    }
  }
  return found.sort(
    (a, b) => resourceTypes.indexOf(a.type) - resourceTypes.indexOf(b.type) || (a.slug < b.slug ? -1 : 1),
  );
}
