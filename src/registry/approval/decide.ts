import { formatPrincipal, isAllowed, type Principal } from '../../model/access.ts';
import { formatCoordinate } from '../../model/address.ts';
import {
  approvalDays,
  approvalsRef,
  compareAuthors,
  nobody,
  operatorDecides,
  parseApprovalsRef,
  stateOf,
  validApprovals,
  type Approvals,
  type Decision,
  type Held,
  type HeldState,
} from '../../model/approval.ts';
import { notFound, forbidden, conflict } from '../../model/errors.ts';
import { personRef, type Person } from '../../model/key.ts';
import type { Resource } from '../../model/resource.ts';
import { findResource } from '../lives.ts';
import { listMembers, rightsOf } from '../keys/people.ts';
import type { Author, Registry } from '../registry.ts';

/** What is held of a resource, and how it stands. */
export interface HeldHere {
  resource: Resource;
  held: Held;
  state: HeldState;
  /** Those about its changes, oldest first. */
  decisions: Decision[];
  /** ISO 8601, UTC. */
  expiresAt: string;
}

/** What an organization holds that the principal may publish, newest first. Nobody else learns of it. */
export async function listHeld(registry: Registry, principal: Principal, org: string): Promise<HeldHere[]> {
  const listed: HeldHere[] = [];
  for await (const name of registry.refs.list(`approvals/${org}/`)) {
    const resource = await findResource(registry, parseApprovalsRef(name)!);
    if (resource === null || !isAllowed(principal, 'publish', { org, resource })) continue;
    const stored = await registry.refs.read<Approvals>(name);
    const { held, decisions } = validApprovals(stored!.value, registry.now().getTime());
    listed.push(...held.map((each) => heldHere(resource, each, decisions)));
  }
  return listed.sort((one, other) => (one.held.id > other.held.id ? -1 : 1));
}

function heldHere(resource: Resource, held: Held, all: readonly Decision[]): HeldHere {
  const { fingerprints, at } = held;
  return {
    resource,
    held,
    state: stateOf(all, fingerprints),
    decisions: all.filter((each) => each.fingerprints.some((one) => fingerprints.includes(one))),
    expiresAt: new Date(Date.parse(at) + approvalDays * 86_400_000).toISOString(),
  };
}

/** What is held under an id. Null: nothing that the principal may publish. */
export async function findHeld(
  registry: Registry,
  principal: Principal,
  org: string,
  id: string,
): Promise<HeldHere | null> {
  return (await listHeld(registry, principal, org)).find(({ held }) => held.id === id) ?? null;
}

/** Why somebody may not decide about what is held. Null: they may. */
export async function whyNotDecide(
  registry: Registry,
  principal: Principal,
  { resource, held }: Pick<HeldHere, 'resource' | 'held'>,
): Promise<string | null> {
  if (!isAllowed(principal, 'approve', { org: resource.org, resource })) return 'This needs the scope approve.';
  if (principal.kind !== 'user' && principal.kind !== 'operator')
    return 'Only a person can decide: sign in, or use a personal key. The key of an organization belongs to nobody.';
  if (principal.kind === 'operator') return null;
  const person = (await registry.refs.read<Person>(personRef(formatPrincipal(principal))))?.value;
  if (person === undefined) return 'Sign in again: the registry does not know your name, and cannot tell who wrote it.';
  const compared = compareAuthors(held.authors, person, await listMembers(registry, resource.org));
  if (compared === 'another') return null;
  if (compared === 'author') return 'You wrote it. Somebody else has to decide.';
  if (compared.unknown === nobody)
    return `Its authors are unknown: no commit changed its files, or their authors cannot be read. ${operatorDecides}`;
  return `${compared.unknown} is an author, and may be you: nobody with this name or address signed in here in the last 180 days. The author must sign in once, or the operator decides.`;
}

const maxApprovers = 10;

/** The people who may decide about what is held, as of their last sign-in. */
export async function approversOf(
  registry: Registry,
  { resource, held }: Pick<HeldHere, 'resource' | 'held'>,
): Promise<string[]> {
  const { org } = resource;
  const members = await listMembers(registry, org);
  const others = members.filter((each) => compareAuthors(held.authors, each, members) === 'another');
  const names: string[] = [];
  for (const { actor, groups, name } of others) {
    if (names.length === maxApprovers) break;
    const organizations = await rightsOf(registry, { actor, groups });
    const principal: Principal = { kind: 'user', id: actor.slice('user:'.length), organizations };
    if (isAllowed(principal, 'approve', { org, resource })) names.push(name);
  }
  return names;
}

/**
 * Approves or rejects the changes of what is held. The decision holds for later commits with the same changes; the last
 * one counts. Throws `not_found` as `findHeld`, and `forbidden` with the reason for who may not decide.
 */
export async function decide(
  registry: Registry,
  principal: Principal,
  org: string,
  id: string,
  { verdict, reason }: Pick<Decision, 'verdict' | 'reason'>,
  author: Author,
): Promise<HeldHere> {
  const found = await findHeld(registry, principal, org, id);
  if (found === null) throw notFound('No held version has this id. It was published, held anew, or has expired.');
  const why = await whyNotDecide(registry, principal, found);
  if (why !== null) throw forbidden(why);
  const { resource, held } = found;
  const person = (await registry.refs.read<Person>(personRef(author.actor)))?.value;
  const name = person?.name ?? (principal.kind === 'operator' ? 'The operator' : author.actor);
  const decision: Decision = {
    verdict,
    by: author.actor,
    name,
    reason,
    at: registry.now().toISOString(),
    fingerprints: held.fingerprints,
  };
  const action = `${verdict === 'approved' ? 'approve' : 'reject'} ${held.label}: ${reason}`;
  const stored = await registry.refs.update<Approvals>(approvalsRef(resource), (current) => {
    const valid = validApprovals(current!.value, registry.now().getTime());
    if (!valid.held.some((each) => each.id === id))
      throw conflict('It was published, or held anew. Look at the list again.');
    return { value: { ...valid, decisions: [...valid.decisions, decision] }, change: { ...author, action } };
  });
  registry.log('info', verdict, { resource: formatCoordinate(resource), version: held.label });
  return heldHere(resource, held, stored!.value.decisions);
}
