import type { Coordinate } from '../model/address.ts';
import { formatCoordinate } from '../model/address.ts';
import { RegistryError } from '../model/errors.ts';
import { chooseLatest, findVersion, type Resource, type Status, type Version } from '../model/resource.ts';
import type { Generation } from '../store/generations.ts';
import { updateResource, type Guard } from './change-resource.ts';
import { purgeVersion } from './purge.ts';
import type { Author, Registry } from './registry.ts';

/** A requested status. Stele adds the time since when it applies. */
export type NewStatus =
  | { state: 'active' }
  | { state: 'deprecated'; reason: string; replacement?: string; sunset?: string }
  | { state: 'yanked' | 'withdrawn'; reason: string };

/**
 * Changes a version's status (design §7). `withdrawn` is final: the bytes that no other version
 * needs are deleted, and the label is never used again. `latest` follows its rules; yanking or
 * withdrawing a pinned version unpins it. Throws `not_found` if the version does not exist.
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
  // Also if the version was withdrawn before: asking again finishes a purge that a crash
  // interrupted.
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
