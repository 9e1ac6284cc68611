import { providersOf, type ProviderConfig } from '../../config/login-config.ts';
import { type Grant, everybody, rightsRef, type GivenRights, type OrganizationRights } from '../../model/access.ts';
import { tableOf } from '../../model/json.ts';
import { personId, personRef, type Person } from '../../model/key.ts';
import type { Projection } from '../../store/log/state.ts';
import type { Registry } from '../registry.ts';

type Policy = Pick<Registry, 'config' | 'refs'>;

/** Rights that somebody has, and where they come from. */
export interface RightsHere extends Omit<GivenRights, 'id'> {
  /** Null: they come from the configuration, so that they are changed only there. */
  id: string | null;
  org: string;
}

/** What administrators gave, by whom it is given to. */
const givenRights: Projection<Map<string, RightsHere[]>> = {
  create: () => new Map(),
  change(view, name, before, after) {
    const prefix = rightsRef('');
    if (!name.startsWith(prefix)) return;
    const org = name.slice(prefix.length);
    for (const given of (before as OrganizationRights | undefined)?.rights ?? []) {
      // Whoever has several rights here comes up several times.
      const left = (view.get(holderKey(given)) ?? []).filter((each) => each.org !== org);
      if (left.length > 0) view.set(holderKey(given), left);
      else view.delete(holderKey(given));
    }
    for (const given of (after as OrganizationRights).rights)
      view.getOrInsert(holderKey(given), []).push({ ...given, org });
  },
};

function holderKey({ issuer, group, subject }: Pick<GivenRights, 'issuer' | 'group' | 'subject'>): string {
  return JSON.stringify([issuer, group, subject]);
}

/** The identity provider of a person. Null: it is not configured (any more). */
export function providerOf({ config }: Pick<Registry, 'config'>, actor: string): ProviderConfig | null {
  return providersOf(config.login).find(({ issuer }) => actor.startsWith(`user:${issuer}#`)) ?? null;
}

/**
 * What a person may do now, by organization: by what the configuration gives their groups, which is the floor,
 * and by what administrators gave their groups and themselves. The one place that computes it.
 */
export async function rightsOf(
  policy: Policy,
  { actor, groups }: Pick<Person, 'actor' | 'groups'>,
): Promise<Record<string, readonly Grant[]>> {
  const provider = providerOf(policy, actor);
  if (provider === null) return {};
  const { issuer } = provider;
  const subject = actor.slice(`user:${issuer}#`.length);
  const all = [everybody, ...groups.filter((group) => group !== everybody)];
  const holders = [...all.map((group) => ({ issuer, group, subject: null })), { issuer, group: null, subject }];
  const given = await policy.refs.projected(null, givenRights);
  const granted = new Map<string, Grant[]>();
  for (const { org, scopes, resources } of [
    ...all.flatMap((group) => configuredFor(provider, group)),
    ...holders.flatMap((holder) => given.get(holderKey(holder)) ?? []),
  ])
    granted.getOrInsert(org, []).push({ scopes, resources });
  return tableOf(granted);
}

function configuredFor({ issuer, organizations = {} }: ProviderConfig, group: string): RightsHere[] {
  const entries = Object.hasOwn(organizations, group) ? organizations[group]! : [];
  const basis = { id: null, issuer, group, subject: null };
  return entries.map(({ organization: org, scopes, resources = null }) => ({ ...basis, scopes, resources, org }));
}

/** All rights in an organization: first those of the configuration. Those in other organizations are not named here. */
export async function rightsIn(policy: Policy, org: string): Promise<RightsHere[]> {
  const stored = (await policy.refs.read<OrganizationRights>(rightsRef(org)))?.value.rights ?? [];
  const configured = providersOf(policy.config.login).flatMap((provider) =>
    Object.keys(provider.organizations ?? {}).flatMap((group) => configuredFor(provider, group)),
  );
  return [...configured.filter((each) => each.org === org), ...stored.map((given) => ({ ...given, org }))];
}

/** The groups of a person that have rights in an organization. Others are not its business. */
export function groupsHere(here: readonly RightsHere[], { actor, groups }: Pick<Person, 'actor' | 'groups'>): string[] {
  return groups.filter((group) =>
    here.some((each) => each.group === group && actor.startsWith(`user:${each.issuer}#`)),
  );
}

/** Whether a person may create organizations. */
export function mayCreateOrganizations(policy: Policy, { actor, groups }: Pick<Person, 'actor' | 'groups'>): boolean {
  const creators = providerOf(policy, actor)?.creators ?? [];
  return creators.some((group) => groups.includes(group));
}

/**
 * Notes that somebody signed in: once, which their sessions and keys depend on, and for each organization in
 * which they hold something. Only their last sign-in is kept.
 */
export async function noteSignIn(policy: Policy, organizations: readonly string[], person: Person): Promise<void> {
  const change = { actor: person.actor, origin: null, action: 'sign in' };
  // Somebody who has no rights, and had none before, leaves nothing.
  const isStranger = organizations.length === 0 && !mayCreateOrganizations(policy, person);
  const { refs } = policy;
  await refs.update<Person>(personRef(person.actor), (current) =>
    isStranger && current === null ? null : { value: person, change },
  );
  for (const org of organizations)
    await refs.update<Person>(`members/${org}/${personId(person.actor)}`, () => ({ value: person, change }));
}

/** The people of an organization, last seen first. */
export async function listMembers({ refs }: Pick<Registry, 'refs'>, org: string): Promise<Person[]> {
  const listed: Person[] = [];
  for await (const name of refs.list(`members/${org}/`)) {
    const member = await refs.read<Person>(name);
    if (member !== null) listed.push(member.value);
  }
  return listed.sort((a, b) => (a.signedInAt > b.signedInAt ? -1 : 1));
}
