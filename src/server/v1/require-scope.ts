import { grantsIn, isAllowed, partOf, type Scope, type Visibility } from '../../model/access.ts';
import { parseCoordinate, type Coordinate } from '../../model/address.ts';
import { type RegistryError, conflict, forbidden } from '../../model/errors.ts';
import type { Resource } from '../../model/resource.ts';
import type { GuardOf, Name } from '../../registry/lives.ts';
import { siteCoordinate } from '../../sites/model/documentation-site.ts';
import { whyNotMoveLatest } from '../../registry/gate/compatibility.ts';
import { findReadable } from '../../registry/readable.ts';
import { guardOf, type Call, type CallAbout, type PublishCall, type ResourceCall } from './call.ts';
import { absent, orAbsent } from '../error-answers.ts';

function nameIn({ org, type, path }: Call): Name {
  return type === null
    ? siteCoordinate({ org, slug: path['site']! })
    : { org, type, slug: path['api'] ?? path['schema'] ?? path['ruleset']! };
}

/**
 * The call about the resource or site in its path. Throws `not_found` if it does not exist or the
 * key may not read it.
 */
export async function findForCall(call: Call, find = findReadable<Name>): Promise<CallAbout<Name>> {
  const coordinate = nameIn(call);
  const found = orAbsent(await find(call.registry, call.principal, coordinate));
  return { ...call, coordinate, found };
}

/** As `findForCall` and `requireScope`, but for a resource that is not there, if the asker may make it. */
export async function findToPublish(call: Call): Promise<PublishCall> {
  const coordinate = nameIn(call) as Coordinate;
  const found = await findReadable(call.registry, call.principal, coordinate);
  const { visibility } = found?.value ?? {};
  if (!may(call, 'publish', { ...coordinate, ...(visibility && { visibility }) })) {
    if (found === null) throw absent();
    throw lacksScopeFor('publish', coordinate);
  }
  return { ...call, coordinate, found };
}

function may(
  { principal, org }: Call,
  scope: Scope,
  { type, slug, visibility }: Name & { visibility?: Visibility },
): boolean {
  return isAllowed(principal, scope, { org, resource: { type, slug, ...(visibility && { visibility }) } });
}

/** Throws `forbidden` unless the asker has the scope for the resource or site. */
export function requireScope(call: CallAbout<Name>, scope: Scope): void {
  const { coordinate, found } = call;
  if (!may(call, scope, { ...coordinate, visibility: found.value.visibility })) throw lacksScopeFor(scope, coordinate);
}

/** Throws `forbidden` unless the asker may create this resource or site. */
export function requireScopeToMake(call: Call, scope: Scope, name: Name): void {
  if (!may(call, scope, name)) throw lacksScopeFor(scope, name);
}

/**
 * Checks a change of what `latest` means. Throws `forbidden` if the gate would not let pass what readers of `latest` get
 * then, and the asker is no administrator. `foresee`: the resource after the change. Returns the guard of the change, which
 * throws `conflict` if it would move `latest` otherwise by now.
 */
export async function requireToMove(
  call: ResourceCall,
  foresee: (current: Resource) => Resource,
): Promise<GuardOf<Resource>> {
  const { registry, principal, org, found } = call;
  const guard = guardOf(call);
  if (isAllowed(principal, 'admin', { org, resource: found.value })) return guard;
  guard(found);
  const next = foresee(found.value);
  const why = await whyNotMoveLatest(registry, found.value, next);
  if (why !== null) throw forbidden(why);
  return (current) => {
    guard(current);
    const { latest } = foresee(current.value);
    const isJudged =
      current.value.latest === latest || (current.value.latest === found.value.latest && latest === next.latest);
    if (!isJudged) throw conflict('The latest version changed meanwhile. Try again.');
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
  throw forbidden(message);
}

/** Throws `forbidden` unless the asker has the scope for its whole organization. */
export function requireOrganizationScope({ principal, org }: Call, scope: Scope): void {
  if (isAllowed(principal, scope, { org })) return;
  const isPart = grantsIn(principal, org).some(({ resources }) => resources !== null);
  throw lacksScope(scope, isPart ? ' for the whole organization, not for some of its resources' : '');
}

/**
 * Throws `forbidden` unless the asker has the scope for its organization, or for the part in its
 * `resources`.
 */
export function requireScopeForPart({ principal, org }: Call, scope: Scope): void {
  if (partOf(principal, org, scope)?.length === 0) throw lacksScope(scope, '');
}

function lacksScopeFor(scope: Scope, { type }: Pick<Name, 'type'>): RegistryError {
  if (scope !== 'publish' || type !== 'rulesets') return lacksScope(scope);
  const needed = 'the scope admin, or with publish and this ruleset in its resources';
  const message = `A ruleset controls what others can publish. To change it, use a key with ${needed}.`;
  return forbidden(message);
}

function lacksScope(scope: Scope, where = ' for this'): RegistryError {
  return forbidden(`This needs a key with the scope ${scope}${where}.`);
}
