import { isDeepStrictEqual } from 'node:util';
import { formatCoordinate, parseCoordinate, type Coordinate } from '../model/address.ts';
import { RegistryError } from '../model/errors.ts';
import type { GateSettings } from '../model/gate.ts';
import type { Validation } from '../model/problem.ts';
import type { Visibility } from '../model/access.ts';
import type { Ownership } from '../model/catalogue/ownership.ts';
import { chooseLatest, findVersion, resourceRef, type Resource } from '../model/resource.ts';
import type { Generation } from '../store/generations.ts';
import { findResource } from './find-resource.ts';
import { resolveRuleset } from './gate/ruleset-gate.ts';
import { withRoom } from './maintenance/quotas.ts';
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
 * Sees the newest generation before it is replaced, and throws to keep it. `If-Match` is checked
 * this way.
 */
export type Guard = (current: Pick<Generation<unknown>, 'generation'>) => void;

/** The same for a resource. */
export type ResourceGuard = (current: Generation<Resource>) => void;

/**
 * Returns the next state of a record and the action to note, or null to change nothing. Throws to stop
 * the change. It may run more than once, so it must have no effects.
 */
type Decide<T> = (current: T) => { next: T; action: string } | null;

/**
 * Appends one generation to the record of something that can be deleted. Throws `not_found`, with this
 * message, if it does not exist or was deleted.
 */
export async function updateLive<T extends { deletedAt: string | null }>(
  { refs }: Pick<Registry, 'refs'>,
  { name, absent }: { name: string; absent: string },
  author: Author,
  guard: (current: Generation<T>) => void,
  decide: Decide<T>,
): Promise<Generation<T>> {
  const updated = await refs.update<T>(name, (current) => {
    if (current === null || current.value.deletedAt !== null) throw new RegistryError('not_found', absent);
    guard(current);
    const decision = decide(current.value);
    return decision && { value: decision.next, change: { ...author, action: decision.action } };
  });
  return updated!;
}

/**
 * Appends one generation to a resource's record. Throws `not_found` if the resource does not exist or
 * was deleted.
 */
export async function updateResource(
  registry: Registry,
  coordinate: Coordinate,
  author: Author,
  guard: ResourceGuard,
  decide: Decide<Resource>,
): Promise<Generation<Resource>> {
  const record = { name: resourceRef(coordinate), absent: `${formatCoordinate(coordinate)} does not exist.` };
  return updateLive<Resource>(registry, record, author, guard, decide);
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
  guard: ResourceGuard = () => undefined,
): Promise<Generation<Resource>> {
  await resolveRuleset(registry, coordinate.org, change.ruleset ?? null);
  const count = change.visibility === 'public' ? await assertMayBePublic(registry, coordinate) : null;
  return updateResource(registry, coordinate, author, guard, (current) => {
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

/** Days for which a deleted resource can be brought back. */
export const graceDays = 30;

/** Whether a deleted resource can still be brought back. */
export function isRestorable({ deletedAt }: Pick<Resource, 'deletedAt'>, now: Date): boolean {
  return deletedAt !== null && now.getTime() - Date.parse(deletedAt) < graceDays * 86_400_000;
}

/** Throws `conflict` if what has this name is not deleted, or was deleted too long ago. */
export function assertRestorable(name: string, value: Pick<Resource, 'deletedAt'>, now: Date): void {
  if (isRestorable(value, now)) return;
  const why = value.deletedAt === null ? 'is not deleted' : `was deleted more than ${graceDays} days ago`;
  throw new RegistryError('conflict', `${name} ${why}.`);
}

/**
 * Brings a deleted resource back with all its versions, without a connection. Throws `not_found` if
 * it never existed, and `conflict` if it is not deleted or was deleted more than 30 days ago.
 */
export async function restoreResource(
  registry: Registry,
  coordinate: Coordinate,
  author: Author,
): Promise<Generation<Resource>> {
  const restored = await withRoom(registry, coordinate.org, (take) =>
    registry.refs.update<Resource>(resourceRef(coordinate), (current) => {
      if (current === null) throw new RegistryError('not_found', `${formatCoordinate(coordinate)} does not exist.`);
      // The same request again.
      if (author.operation !== undefined && current.operation === author.operation) return null;
      assertRestorable(formatCoordinate(coordinate), current.value, registry.now());
      take({ resources: 1 });
      return { value: { ...current.value, deletedAt: null }, change: { ...author, action: 'undelete' } };
    }),
  );
  return restored!;
}

/**
 * Deletes a resource. Its name is taken from then on; within 30 days, `restoreResource` brings it
 * back.
 */
export async function deleteResource(
  registry: Registry,
  coordinate: Coordinate,
  author: Author,
  guard: Guard = () => undefined,
): Promise<void> {
  await updateResource(registry, coordinate, author, guard, (current) => ({
    next: { ...current, connection: null, deletedAt: registry.now().toISOString() },
    action: 'delete',
  }));
}
