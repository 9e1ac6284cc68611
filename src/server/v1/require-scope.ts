import { isAllowed, type Scope } from '../../model/access.ts';
import type { Coordinate } from '../../model/address.ts';
import { RegistryError } from '../../model/errors.ts';
import { findReadable } from '../../registry/readable.ts';
import { nothingHere } from '../nothing-here.ts';
import type { Call, ResourceCall } from './call.ts';

/** The slug that the path names, of whatever type; undefined where it names none. */
function slugOf({ path }: Pick<Call, 'path'>): string | undefined {
  return path['api'] ?? path['schema'] ?? path['ruleset'];
}

/** The call about the resource that its path names. `not_found` when it is absent or the key may not read it. */
export async function findForCall(call: Call): Promise<ResourceCall> {
  const coordinate: Coordinate = { org: call.principal.org, type: call.type!, slug: slugOf(call)! };
  const found = await findReadable(call.registry, call.principal, coordinate);
  if (found === null) throw new RegistryError('not_found', nothingHere);
  return { ...call, type: coordinate.type, coordinate, found };
}

/** Refuses with `forbidden` unless the key has the scope for the resource. */
export function requireScope({ principal, found }: ResourceCall, scope: Scope): void {
  if (!isAllowed(principal, scope, { org: principal.org, resource: found.value })) throw lacksScope(scope);
}

/** Refuses with `forbidden` unless the key may make this resource. */
export function requireScopeToMake({ principal }: Call, scope: Scope, { type, slug }: Coordinate): void {
  if (!isAllowed(principal, scope, { org: principal.org, resource: { type, slug } })) throw lacksScope(scope);
}

/** Refuses with `forbidden` unless the key has the scope for its whole organization. */
export function requireOrganizationScope({ principal }: Call, scope: Scope): void {
  if (isAllowed(principal, scope, { org: principal.org })) return;
  throw lacksScope(scope, principal.resources === null ? '' : ' for the whole organization');
}

/** Refuses with `forbidden` unless the key has the scope for its organization, or for the part of it that it is narrowed to. */
export function requireScopeForPart({ principal }: Call, scope: Scope): void {
  if (!isAllowed({ ...principal, resources: null }, scope, { org: principal.org })) throw lacksScope(scope, '');
}

function lacksScope(scope: Scope, where = ' for this'): RegistryError {
  return new RegistryError('forbidden', `This needs a key with the scope ${scope}${where}.`);
}
