import { listOut } from '../model/states.ts';
import { isDeepStrictEqual } from 'node:util';
import { formatCoordinate, parseCoordinate, resourceIn, type Coordinate } from '../model/address.ts';
import { conflict } from '../model/errors.ts';
import { type GateSettings, gateSettingsOf, parseOrganizationRef, type OrganizationSettings } from '../model/gate.ts';
import type { Validation } from '../model/problem.ts';
import { anonymous, type Visibility, type Principal } from '../model/access.ts';
import { type Ownership, ownershipOf, wholeOwnership } from '../model/ownership.ts';
import { chooseLatest, findVersion, type Resource, resourceRef, type Version, nameOf } from '../model/resource.ts';
import type { Generation } from '../store/records.ts';
import { findResource, updateRecord, type GuardOf, isRestorable } from './lives.ts';
import { resolveRuleset } from './gate/ruleset-gate.ts';
import { findGranted } from './read.ts';
import type { Author, Registry } from './registry.ts';
import { defaultVisibility, configuredDefaults } from './gate/policy.ts';
import { withRoom } from './maintenance/quotas.ts';
import type { Connection } from '../model/connection.ts';
import { mayRead, mayReadOrganization } from './readable.ts';

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
      throw conflict('A version was published meanwhile. Try again.');
    const { latest: _, latestPinned: __, ...plain } = change;
    const next = { ...withPin(current, change), ...plain };
    const actions = Object.keys(plain).flatMap((key) =>
      isSame(next, current, key as keyof typeof plain)
        ? []
        : [key === 'visibility' ? `make ${next.visibility}` : `change ${key}`],
    );
    if (next.latest !== current.latest || next.latestPinned !== current.latestPinned)
      actions.push(next.latestPinned ? `pin ${next.latest}` : 'unpin latest');
    return actions.length === 0 ? null : { next, action: actions.join(', ') };
  });
}

/**
 * Throws `conflict` if a version of a private resource includes a version that nobody may read as a
 * stranger (of a private or deleted resource, or withdrawn), or names one as its replacement. Returns how many were looked at.
 */
async function assertMayBePublic(registry: Registry, coordinate: Coordinate): Promise<number | null> {
  const resource = await findResource(registry, coordinate);
  if (resource === null || resource.visibility === 'public') return null;
  const targets = new Map<string, Resource | null>();
  for (const { label, status } of resource.versions) {
    const named = status.state === 'deprecated' ? parseCoordinate(status.replacement ?? '') : null;
    if (named === null || formatCoordinate(named.coordinate) === formatCoordinate(coordinate)) continue;
    if ((await findGranted(registry, anonymous, named.coordinate, named.selector)) !== null) continue;
    const what = `${formatCoordinate(coordinate)}@${label} names a replacement that is not public.`;
    throw conflict(`${what} Make that public first, or deprecate the version without it.`);
  }
  for (const { label, status, dependencies = [] } of resource.versions)
    for (const { coordinate: name, version, how } of status.state === 'withdrawn' ? [] : dependencies) {
      if (how !== 'url') continue;
      if (!targets.has(name)) targets.set(name, await findResource(registry, parseCoordinate(name)!.coordinate));
      const target = targets.get(name) ?? null;
      const included = target?.visibility === 'public' ? findVersion(target, version) : null;
      if (included && included.status.state !== 'withdrawn') continue;
      const what = `${formatCoordinate(coordinate)}@${label} includes ${name}@${version}, which is not public.`;
      throw conflict(`${what} Make that public first, or withdraw the version.`);
    }
  return resource.versions.length;
}

/** Old records have no member where a new one has none to say. */
function isSame(next: Resource, current: Resource, key: Exclude<keyof ResourceChange, 'latest' | 'latestPinned'>) {
  const valueIn = (resource: Resource) => ({ ...resource, ...wholeOwnership(resource) })[key] ?? null;
  return isDeepStrictEqual(valueIn(next), valueIn(current));
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
  if (version === null) throw conflict(`Version ${latest} does not exist. Publish it first.`);
  const { state } = version.status;
  if (state !== 'active' && state !== 'deprecated') {
    throw conflict(`Version ${version.label} is ${state} and cannot be the latest.`);
  }
  return { ...current, latest: version.label, latestPinned: true };
}

/** Settings of a new resource. Default of `visibility`: the organization's where it is published or created, else private. */
export interface NewResource
  extends GateSettings, Ownership, Pick<ResourceChange, 'description' | 'visibility' | 'ruleset' | 'validation'> {
  name: string;
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
        throw conflict(`${formatCoordinate(coordinate)} ${why}.`);
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

/**
 * Throws `conflict` if the resource is not connected to this repository. Otherwise anyone who may
 * push to one repository could replace what another one publishes.
 */
export function assertConnectable(resource: Resource, { repository }: Pick<Connection, 'repository'>): void {
  if (resource.connection?.repository === repository) return;
  const state =
    resource.connection === null ? 'is not connected to a repository' : 'is connected to another repository';
  throw conflict(`${nameOf(resource)} exists and ${state}. Connect it to this one, or choose another slug.`);
}

const maxNames = 20;

/**
 * Throws `conflict` if the coordinate is a ruleset in use: by a resource of any organization, at
 * any version, or as an organization's default. The message names what the principal may read and
 * counts the rest.
 */
export async function assertUnattached(
  registry: Registry,
  principal: Principal,
  coordinate: Coordinate,
): Promise<void> {
  if (coordinate.type !== 'rulesets') return;
  const name = formatCoordinate(coordinate);
  const isIt = (ruleset: string | null | undefined) => resourceIn(ruleset ?? '') === name;
  const uses: { name: string; isReadable: boolean }[] = [];
  const noteDefault = (org: string): void =>
    void uses.push({ name: `the default of ${org}`, isReadable: mayReadOrganization(principal, org) });
  for (const [org, { defaults }] of Object.entries(registry.config.organizations))
    if (isIt(defaults.ruleset)) noteDefault(org);
  for await (const ref of registry.refs.list('organizations/')) {
    const org = parseOrganizationRef(ref)!;
    const set = (await registry.refs.read<OrganizationSettings>(ref))?.value;
    if (configuredDefaults(registry, org).ruleset === undefined && isIt(set?.ruleset)) noteDefault(org);
  }
  for (const { value } of await registry.refs.all<Resource>('resources/'))
    if (value.deletedAt === null && isIt(value.ruleset))
      uses.push({ name: nameOf(value), isReadable: mayRead(principal, value) });
  if (uses.length === 0) return;
  const readable = uses.flatMap(({ name: use, isReadable }) => (isReadable ? [use] : []));
  const attached = readable.slice(0, maxNames);
  const others = uses.length - attached.length;
  const counted = others === 0 ? [] : [`${others} other${others === 1 ? '' : 's'}`];
  throw conflict(
    `${name} is attached to ${listOut([...attached, ...counted])}. Detach it first, or delete it with ?force: then nothing can be published there until another ruleset is attached.`,
    { extra: { attached, others } },
  );
}
