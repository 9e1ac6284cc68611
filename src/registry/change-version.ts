import type { Coordinate } from '../model/address.ts';
import { formatCoordinate } from '../model/address.ts';
import { RegistryError } from '../model/errors.ts';
import { chooseLatest, findVersion, type Resource, type Status, type Version } from '../model/resource.ts';
import type { Generation } from '../store/generations.ts';
import { updateResource, type Guard } from './change-resource.ts';
import { purgeVersion } from './purge.ts';
import type { Author, Registry } from './registry.ts';

/** A status as it is asked for; since when is ours to say. */
export type NewStatus =
  | { state: 'active' }
  | { state: 'deprecated'; reason: string; replacement?: string; sunset?: string }
  | { state: 'yanked' | 'withdrawn'; reason: string };

/**
 * Gives a version another status (design §7). `withdrawn` is final: its bytes that nothing else holds are deleted, and its label is never used
 * again. `latest` follows by the rules; a pinned one that is yanked or withdrawn is unpinned. `not_found` for no such version.
 */
export async function changeStatus(
  registry: Registry,
  coordinate: Coordinate,
  label: string,
  status: NewStatus,
  author: Author,
  guard: Guard = () => undefined,
): Promise<{ generation: Generation<Resource>; version: Version }> {
  const since = registry.now().toISOString();
  const generation = await updateResource(registry, coordinate, author, guard, (current) => {
    const version = versionOf(current, coordinate, label);
    if (isSame(version.status, status)) return null;
    if (version.status.state === 'withdrawn') {
      throw new RegistryError('conflict', `Version ${version.label} was withdrawn and cannot be changed.`);
    }
    const changed: Version = { ...version, status: status.state === 'active' ? status : { ...status, since } };
    const versions = current.versions.map((each) => (each === version ? changed : each));
    const next = { ...current, versions };
    const isOffered = status.state === 'active' || status.state === 'deprecated';
    if (!isOffered && current.latest === version.label) next.latestPinned = false;
    next.latest = chooseLatest(next);
    return { next, action: `${verbs[status.state]} ${version.label}` };
  });
  const version = versionOf(generation.value, coordinate, label);
  // Also where the status was there before: a purge that a crash cut short is finished by asking again.
  if (version.status.state === 'withdrawn') await purgeVersion(registry, version.manifest);
  return { generation, version };
}

const verbs = { active: 'reactivate', deprecated: 'deprecate', yanked: 'yank', withdrawn: 'withdraw' } as const;

function versionOf(resource: Resource, coordinate: Coordinate, label: string): Version {
  const version = findVersion(resource, label);
  if (version) return version;
  throw new RegistryError(
    'not_found',
    `${formatCoordinate(coordinate, { kind: 'version', version: label })} does not exist.`,
  );
}

function isSame(current: Status, status: NewStatus): boolean {
  if (current.state === 'active' || status.state === 'active') return current.state === status.state;
  const { since: _, ...rest } = current;
  const members = (value: object) => JSON.stringify(Object.entries(value).sort());
  return members(rest) === members(status);
}
