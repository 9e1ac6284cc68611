import { anonymous, type Principal } from '../model/access.ts';
import { formatCoordinate, parseCoordinate, type Coordinate } from '../model/address.ts';
import { closest, conflict, malformed, notFound } from '../model/errors.ts';
import {
  chooseLatest,
  coordinateOf,
  findVersion,
  isOffered,
  type Resource,
  type Status,
  type Version,
} from '../model/resource.ts';
import type { Generation } from '../store/records.ts';
import { updateRecord, type GuardOf } from './lives.ts';
import { purgeVersion } from './purge.ts';
import { findGranted } from './read.ts';
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
  guard: GuardOf<Resource> | null = null,
): Promise<{ generation: Generation<Resource>; version: Version }> {
  const since = registry.now().toISOString();
  const generation = await updateRecord(registry, coordinate, author, guard, (current) => {
    const decided = decide(current, label, status, since);
    return decided && { next: decided, action: `${verbs[status.state]} ${versionOf(current, label).label}` };
  });
  const version = versionOf(generation.value, label);
  // Also if the version was withdrawn before: asking again finishes a purge that a crash
  // interrupted.
  if (version.status.state === 'withdrawn') await purgeVersion(registry, version.manifest);
  return { generation, version };
}

/** The resource and its version as changing a status would leave them. Writes nothing. Throws as `changeStatus`. */
export function foreseeStatus(
  registry: Pick<Registry, 'now'>,
  resource: Resource,
  label: string,
  status: NewStatus,
): { next: Resource; version: Version } {
  const next = decide(resource, label, status, registry.now().toISOString()) ?? resource;
  return { next, version: versionOf(next, label) };
}

/** The resource after the change; null if it changes nothing. */
function decide(current: Resource, label: string, status: NewStatus, since: string): Resource | null {
  const version = versionOf(current, label);
  if (isSame(version.status, status)) return null;
  if (version.status.state === 'withdrawn')
    throw conflict(`Version ${version.label} was withdrawn and cannot be changed.`);
  return withStatus(current, version, status.state === 'active' ? status : { ...status, since });
}

/** The resource once one of its versions has this status: `latest` follows its rules, and a yanked or withdrawn version is not pinned. Pure. */
export function withStatus(resource: Resource, version: Version, status: Status): Resource {
  const changed: Version = { ...version, status };
  const versions = resource.versions.map((each) => (each === version ? changed : each));
  const latestPinned = resource.latestPinned && (isOffered(changed) || resource.latest !== version.label);
  const next = { ...resource, versions, latestPinned };
  return { ...next, latest: chooseLatest(next) };
}

/**
 * Throws `malformed` if a deprecation names a replacement that the asker or, if the version is public,
 * strangers would not find. The replacement that is already recorded is accepted, so that a status can be repeated.
 */
export async function assertReplacement(
  registry: Registry,
  asker: Principal,
  resource: Resource,
  label: string,
  status: NewStatus,
): Promise<void> {
  if (status.state !== 'deprecated' || status.replacement === undefined) return;
  const { replacement } = status;
  const before = findVersion(resource, label)?.status;
  if (before?.state === 'deprecated' && before.replacement === replacement) return;
  const other = parseCoordinate(replacement);
  const reader = resource.visibility === 'public' ? anonymous : asker;
  const fault = other === null ? faultOfLabel(resource, label, replacement) : await faultOf(registry, reader, other);
  if (fault === null) return;
  throw malformed(`The replacement ${replacement} ${fault}`, {
    extra: { errors: [{ pointer: '/status/replacement', detail: fault }] },
  });
}

function faultOfLabel(resource: Resource, label: string, replacement: string): string | null {
  const named = findVersion(resource, replacement);
  if (named?.label === label) return 'is the version itself; name another one';
  if (named?.status.state === 'withdrawn') return 'was withdrawn; name another version';
  if (named !== null) return null;
  const there = resource.versions
    .filter((version) => version.label !== label && version.status.state !== 'withdrawn')
    .map((version) => version.label)
    .toReversed();
  if (there.length === 0) return 'does not exist, and there is no other version; publish it first, or leave this out';
  const some = `${there.slice(0, 5).join(', ')}${there.length > 5 ? ` and ${there.length - 5} more` : ''}`;
  return `does not exist; there is ${some}.${closest(replacement, there)} Publish it first, or leave this out`;
}

async function faultOf(
  registry: Registry,
  reader: Principal,
  { coordinate, selector }: NonNullable<ReturnType<typeof parseCoordinate>>,
): Promise<string | null> {
  const found = await findGranted(registry, reader, coordinate, selector);
  if (found !== null) return null;
  return reader === anonymous
    ? 'does not exist, or is not public as this version is; make it public first, or leave this out'
    : 'does not exist, or you may not read it';
}

const verbs = { active: 'reactivate', deprecated: 'deprecate', yanked: 'yank', withdrawn: 'withdraw' } as const;

function versionOf(resource: Resource, label: string): Version {
  const version = findVersion(resource, label);
  if (version) return version;
  const name = formatCoordinate(coordinateOf(resource), { kind: 'version', version: label });
  throw notFound(`${name} does not exist.`);
}

function isSame(current: Status, status: NewStatus): boolean {
  if (current.state === 'active' || status.state === 'active') return current.state === status.state;
  const { since: _, ...rest } = current;
  const members = (value: object) => JSON.stringify(Object.entries(value).sort());
  return members(rest) === members(status);
}
