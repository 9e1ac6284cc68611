import type { Principal } from '../../model/access.ts';
import { parseCoordinate } from '../../model/address.ts';
import type { Dependency } from '../../model/dependency.ts';
import { compareSemanticVersions, readerOf } from '../../model/label.ts';
import { isOffered, nameOf, selectVersion, type Resource, type Version } from '../../model/resource.ts';
import type { Projection } from '../../store/log/state.ts';
import { listOrganizations } from '../maintenance/organizations.ts';
import { findReadable } from '../readable.ts';
import type { Registry } from '../registry.ts';

/** A resource whose latest version refers to another one. */
export interface Dependant {
  resource: Resource;
  /** Its latest version. */
  version: Version;
  uses: Dependency;
  /** How many newer versions there are than the one that it uses. */
  behind: number;
}

/** Names of the resources of which any version refers to a resource, by the coordinate of that. */
const users: Projection<Map<string, Set<string>>> = {
  create: () => new Map(),
  change(view, name, _, after) {
    const [kind, org, type, slug] = name.split('/');
    if (kind !== 'versions') return;
    for (const { coordinate } of (after as Version).dependencies ?? [])
      view.getOrInsertComputed(coordinate, () => new Set()).add(`@${org}/${type}/${slug}`);
  },
};

/** Looks up which resources may use one, by its coordinate, in all organizations. */
export async function openUsers(
  registry: Pick<Registry, 'config' | 'refs' | 'answers'>,
): Promise<(coordinate: string) => readonly string[]> {
  const views: ReadonlyMap<string, ReadonlySet<string>>[] = [];
  for (const org of await listOrganizations(registry)) views.push(await registry.refs.projected(org, users));
  return (coordinate) => views.flatMap((view) => [...(view.get(coordinate) ?? [])].sort());
}

/**
 * The resources of all organizations whose latest version refers to this one, by name: those that the
 * principal may read, and no others are counted. `usersOf`: for who asks often.
 */
export async function listDependants(
  registry: Pick<Registry, 'config' | 'refs' | 'log' | 'answers'>,
  principal: Principal,
  target: Resource,
  usersOf?: (coordinate: string) => readonly string[],
): Promise<Dependant[]> {
  const isTarget = isReferenceTo(target);
  const dependants: Dependant[] = [];
  for (const user of (usersOf ?? (await openUsers(registry)))(nameOf(target))) {
    const resource = (await findReadable(registry, principal, parseCoordinate(user)!.coordinate))?.value;
    const version = resource && selectVersion(resource, { kind: 'latest' })?.version;
    for (const uses of version?.dependencies?.filter(isTarget) ?? [])
      dependants.push({ resource: resource!, version: version!, uses, behind: newerThan(target, uses.version) });
  }
  return dependants;
}

/** Whether a dependency is a version of this resource. A lock may name a contract of another registry. */
export function isReferenceTo(target: Resource): (dependency: Dependency) => boolean {
  const name = nameOf(target);
  const manifests = new Set(target.versions.map(({ manifest }) => manifest));
  return ({ coordinate, how, digest }) => coordinate === name && (how !== 'lock' || manifests.has(digest));
}

/** How many versions that readers are sent to are newer than this one. */
export function newerThan({ versions }: Resource, label: string): number {
  const read = readerOf(versions);
  const current = read(label);
  const at = versions.findIndex((version) => version.label === label);
  return versions.filter((version, index) => {
    const other = read(version.label);
    const isNewer = current && other ? compareSemanticVersions(other, current) > 0 : index > at;
    return isNewer && isOffered(version);
  }).length;
}
