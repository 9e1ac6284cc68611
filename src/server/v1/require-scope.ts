import { grantsIn, isAllowed, partOf, type Scope } from '../../model/access.ts';
import { parseCoordinate, type Coordinate, type ResourceType } from '../../model/address.ts';
import { RegistryError } from '../../model/errors.ts';
import type { Resource } from '../../model/resource.ts';
import type { ResourceGuard } from '../../registry/change-resource.ts';
import { whyNotMoveLatest } from '../../registry/gate/latest-gate.ts';
import { findReadable } from '../../registry/readable.ts';
import { guardOf } from './conditional.ts';
import { nothingHere } from '../nothing-here.ts';
import type { Call, PublishCall, ResourceCall } from './call.ts';

/** The slug in the path; undefined if the path has none. */
function slugOf({ path }: Pick<Call, 'path'>): string | undefined {
  return path['api'] ?? path['schema'] ?? path['ruleset'];
}

/**
 * The call about the resource in its path. Throws `not_found` if the resource does not exist or the
 * key may not read it.
 */
export async function findForCall(call: Call): Promise<ResourceCall> {
  const coordinate: Coordinate = { org: call.org, type: call.type!, slug: slugOf(call)! };
  const resource = await findReadable(call.registry, call.principal, coordinate);
  if (resource === null) throw new RegistryError('not_found', nothingHere);
  return { ...call, type: coordinate.type, coordinate, found: resource };
}

/** As `findForCall` and `requireScope`, but for a resource that is not there, if the asker may make it. */
export async function findToPublish(call: Call): Promise<PublishCall> {
  const { principal, org, type } = call;
  const coordinate: Coordinate = { org, type: type!, slug: slugOf(call)! };
  const resource = await findReadable(call.registry, principal, coordinate);
  const isAllowedTo = isAllowed(principal, 'publish', { org, resource: resource?.value ?? coordinate });
  if (!isAllowedTo && resource === null) throw new RegistryError('not_found', nothingHere);
  if (!isAllowedTo) throw lacksScopeFor('publish', coordinate);
  return { ...call, type: coordinate.type, coordinate, found: resource };
}

/** Throws `forbidden` unless the asker has the scope for the resource. */
export function requireScope({ principal, org, found }: ResourceCall, scope: Scope): void {
  if (!isAllowed(principal, scope, { org, resource: found.value })) throw lacksScopeFor(scope, found.value);
}

/** Throws `forbidden` unless the asker may create this resource. */
export function requireScopeToMake({ principal, org }: Call, scope: Scope, { type, slug }: Coordinate): void {
  if (!isAllowed(principal, scope, { org, resource: { type, slug } })) throw lacksScopeFor(scope, { type });
}

/**
 * Checks a change of what `latest` means. Throws `forbidden` if the gate would not let pass what readers of `latest` get
 * then, and the asker is no administrator. `foresee`: the resource after the change. Returns the guard of the change, which
 * throws `conflict` if it would move `latest` otherwise by now.
 */
export async function requireToMove(
  call: ResourceCall,
  foresee: (current: Resource) => Resource,
): Promise<ResourceGuard> {
  const { registry, principal, org, found } = call;
  const guard = guardOf(call);
  if (isAllowed(principal, 'admin', { org, resource: found.value })) return guard;
  guard(found);
  const next = foresee(found.value);
  const why = await whyNotMoveLatest(registry, found.value, next);
  if (why !== null) throw new RegistryError('forbidden', why);
  return (current) => {
    guard(current);
    const { latest } = foresee(current.value);
    const isJudged =
      current.value.latest === latest || (current.value.latest === found.value.latest && latest === next.latest);
    if (!isJudged) throw new RegistryError('conflict', 'The latest version changed meanwhile. Try again.');
  };
}

/**
 * Throws `forbidden` if the asker has `resources` that do not cover the ruleset. Such a key must not
 * attach a weaker ruleset than the present one. The error does not reveal whether the ruleset
 * exists.
 */
export function requireAttachable({ principal, org: own }: Call, ruleset: string | null | undefined): void {
  if (!ruleset || isAllowed(principal, 'admin', { org: own })) return;
  const { org, type, slug } = parseCoordinate(ruleset)?.coordinate ?? {};
  if (org && type && slug && isAllowed(principal, 'admin', { org, resource: { type, slug } })) return;
  const message = `This key is limited to some resources and cannot attach ${ruleset}. Use a key that covers the ruleset.`;
  throw new RegistryError('forbidden', message);
}

/** Throws `forbidden` unless the asker has the scope for its whole organization. */
export function requireOrganizationScope({ principal, org }: Call, scope: Scope): void {
  if (isAllowed(principal, scope, { org })) return;
  const isPart = grantsIn(principal, org).some(({ resources }) => resources !== null);
  throw lacksScope(scope, isPart ? ' for the whole organization' : '');
}

/**
 * Throws `forbidden` unless the asker has the scope for its organization, or for the part in its
 * `resources`.
 */
export function requireScopeForPart({ principal, org }: Call, scope: Scope): void {
  if (partOf(principal, org, scope)?.length === 0) throw lacksScope(scope, '');
}

function lacksScopeFor(scope: Scope, { type }: { type: ResourceType }): RegistryError {
  if (scope !== 'publish' || type !== 'rulesets') return lacksScope(scope);
  const needed = 'the scope admin, or with publish and this ruleset in its resources';
  const message = `A ruleset controls what others can publish. To change it, use a key with ${needed}.`;
  return new RegistryError('forbidden', message);
}

function lacksScope(scope: Scope, where = ' for this'): RegistryError {
  return new RegistryError('forbidden', `This needs a key with the scope ${scope}${where}.`);
}
