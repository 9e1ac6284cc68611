import { isDeepStrictEqual } from 'node:util';
import { formatCoordinate, parseCoordinate, type Coordinate } from '../model/address.ts';
import { RegistryError } from '../model/errors.ts';
import type { GateSettings } from '../model/gate.ts';
import type { Validation } from '../model/problem.ts';
import type { Visibility } from '../model/access.ts';
import type { Ownership } from '../model/ownership.ts';
import { chooseLatest, findVersion, type Resource } from '../model/resource.ts';
import type { Generation } from '../store/records.ts';
import { findResource, updateRecord, type GuardOf } from './lives.ts';
import { resolveRuleset } from './gate/ruleset-gate.ts';
import type { Author, Registry } from './registry.ts';

/** Changes of a resource's settings. Absent members stay as they are. */
export interface ResourceChange extends GateSettings, Ownership {
  name?: string;
  description?: string;
  visibility?: Visibility;
  /** Coordinate of an existing ruleset; null: the organization's default. */
  ruleset?: string | null;
  validation?: Validation | null;
  /** A label pins `latest`; null lets the rules of design §7 choose. */
  latest?: string | null;
  /** False means `latest: null`. True without `latest` pins the current one, so that clients can send back what they read. */
  latestPinned?: boolean;
}

/**
 * Changes a resource's settings. Throws `refused` if the ruleset does not exist, and `conflict` if
 * `latest` names a version that is missing, yanked or withdrawn. A new visibility takes effect in
 * every process within 1 s.
 */
export async function changeResource(
  registry: Registry,
  coordinate: Coordinate,
  change: ResourceChange,
  author: Author,
  guard: GuardOf<Resource> = () => undefined,
): Promise<Generation<Resource>> {
  await resolveRuleset(registry, coordinate.org, change.ruleset ?? null);
  const count = change.visibility === 'public' ? await assertMayBePublic(registry, coordinate) : null;
  return updateRecord(registry, coordinate, author, guard, (current) => {
    if (count !== null && current.versions.length !== count)
      throw new RegistryError('conflict', 'A version was published meanwhile. Try again.');
    const { latest: _, latestPinned: __, ...plain } = change;
    const next = { ...withPin(current, change), ...plain };
    const actions = Object.keys(plain).flatMap((key) =>
      isSame(next, current, key as keyof typeof plain) ? [] : [describe(key as keyof typeof plain, next)],
    );
    if (next.latest !== current.latest || next.latestPinned !== current.latestPinned)
      actions.push(next.latestPinned ? `pin ${next.latest}` : 'unpin latest');
    return actions.length === 0 ? null : { next, action: actions.join(', ') };
  });
}

/**
 * Throws `conflict` if a version of a private resource includes a version that nobody may read as a
 * stranger: of a private or deleted resource, or withdrawn. Returns how many were looked at.
 */
async function assertMayBePublic(registry: Registry, coordinate: Coordinate): Promise<number | null> {
  const resource = await findResource(registry, coordinate);
  if (resource === null || resource.visibility === 'public') return null;
  const targets = new Map<string, Resource | null>();
  for (const { label, status, dependencies = [] } of resource.versions)
    for (const { coordinate: name, version, how } of status.state === 'withdrawn' ? [] : dependencies) {
      if (how !== 'url') continue;
      if (!targets.has(name)) targets.set(name, await findResource(registry, parseCoordinate(name)!.coordinate));
      const target = targets.get(name) ?? null;
      const included = target?.visibility === 'public' ? findVersion(target, version) : null;
      if (included && included.status.state !== 'withdrawn') continue;
      const what = `${formatCoordinate(coordinate)}@${label} includes ${name}@${version}, which is not public.`;
      throw new RegistryError('conflict', `${what} Make that public first, or withdraw the version.`);
    }
  return resource.versions.length;
}

/** Old records have no member where a new one has none to say. */
function isSame(
  next: Resource,
  current: Resource,
  key: Exclude<keyof ResourceChange, 'latest' | 'latestPinned'>,
): boolean {
  const none = key === 'topics' || key === 'links' || key === 'fileMatch' ? [] : null;
  return isDeepStrictEqual(next[key] ?? none, current[key] ?? none);
}

/** What a change says of `latest`: a label, null (the rules choose), or undefined (nothing). */
function pinOf(current: Resource, { latest, latestPinned }: ResourceChange): string | null | undefined {
  if (latestPinned === false) return null;
  return latestPinned === true && latest === undefined ? current.latest : latest;
}

/** The resource once its `latest` is what a change says. Throws `conflict` if that cannot be. Pure. */
export function withPin(current: Resource, change: ResourceChange): Resource {
  const latest = pinOf(current, change);
  if (latest === undefined) return current;
  if (latest === null)
    return { ...current, latest: chooseLatest({ ...current, latestPinned: false }), latestPinned: false };
  const version = findVersion(current, latest);
  if (version === null) throw new RegistryError('conflict', `Version ${latest} does not exist. Publish it first.`);
  const { state } = version.status;
  if (state !== 'active' && state !== 'deprecated') {
    throw new RegistryError('conflict', `Version ${version.label} is ${state} and cannot be the latest.`);
  }
  return { ...current, latest: version.label, latestPinned: true };
}

function describe(key: string, next: Resource): string {
  if (key === 'visibility') return `make ${next.visibility}`;
  return `change ${key}`;
}
