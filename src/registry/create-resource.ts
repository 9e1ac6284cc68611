import type { Visibility } from '../model/access.ts';
import { formatCoordinate, type Coordinate } from '../model/address.ts';
import { RegistryError } from '../model/errors.ts';
import { gateSettingsOf, type GateSettings } from '../model/gate.ts';
import type { Validation } from '../model/problem.ts';
import { ownershipOf, type Ownership } from '../model/ownership.ts';
import { resourceRef, type Resource, type Version } from '../model/resource.ts';
import { isRestorable } from './lives.ts';
import { defaultVisibility } from './gate/policy.ts';
import { withRoom } from './maintenance/quotas.ts';
import type { Author, Registry } from './registry.ts';

/** Settings of a new resource. */
export interface NewResource extends GateSettings, Ownership {
  name: string;
  description?: string;
  /** Default: the organization's where it is published or created, else private. */
  visibility?: Visibility;
  ruleset?: string | null;
  validation?: Validation | null;
}

/** A resource without versions. Writes nothing. */
export function newResource(registry: Pick<Registry, 'now'>, coordinate: Coordinate, given: NewResource): Resource {
  const { org, type, slug } = coordinate;
  return {
    org,
    type,
    slug,
    name: given.name,
    description: given.description ?? '',
    ...ownershipOf(given),
    visibility: given.visibility ?? 'private',
    ruleset: given.ruleset ?? null,
    connection: null,
    latest: null,
    latestPinned: false,
    validation: given.validation ?? null,
    ...gateSettingsOf(given),
    versions: [],
    createdAt: registry.now().toISOString(),
    deletedAt: null,
  };
}

/**
 * Creates a resource. Throws `conflict` if the slug is taken, also by a deleted resource. Repeating
 * the same operation (`Author.operation`) returns what the first call created.
 */
export async function createResource(
  registry: Registry,
  coordinate: Coordinate,
  given: NewResource,
  author: Author,
): Promise<{ resource: Resource; generation: number }> {
  const visibility = given.visibility ?? (await defaultVisibility(registry, coordinate.org));
  const created = await withRoom(registry, coordinate.org, (take) =>
    registry.refs.update<Resource>(resourceRef(coordinate), (current) => {
      if (current !== null) {
        const isOurs = current.operation !== undefined && current.operation === author.operation;
        if (isOurs && current.value.deletedAt === null) return null;
        const why =
          current.value.deletedAt === null
            ? 'already exists'
            : isRestorable(current.value, registry.now())
              ? 'was deleted; its name is never used again, but undelete brings it back'
              : 'was deleted; its name is never used again';
        throw new RegistryError('conflict', `${formatCoordinate(coordinate)} ${why}.`);
      }
      take({ resources: 1 });
      const value = newResource(registry, coordinate, { ...given, visibility });
      return { value, change: { ...author, action: 'create' } };
    }),
  );
  return { resource: created!.value, generation: created!.generation };
}

/** The resource with what its new version says of itself, if that is the latest. */
export function withSummary(resource: Resource, { label }: Pick<Version, 'label'>, summary: string): Resource {
  if (resource.latest !== label || summary === (resource.summary ?? '')) return resource;
  return { ...resource, summary };
}

/** The resource, named by the title of its first document if it was created with its slug as name. */
export function withTitle(resource: Resource, title: string | null): Resource {
  const name = title?.trim().slice(0, 200) ?? '';
  const isUnnamed = resource.versions.length === 0 && resource.name === resource.slug;
  return isUnnamed && name !== '' ? { ...resource, name } : resource;
}
