import type { LoginConfig } from '../../config/login-config.ts';
import type { Grant } from '../../model/access.ts';
import { personId, personRef, type Person } from '../../model/keys/person.ts';
import type { Registry } from '../registry.ts';

/** The groups that the configuration mentions. Only these are kept of a person. */
export function knownGroups({ organizations = {} }: LoginConfig, groups: readonly string[]): string[] {
  return groups.filter((group) => group !== everybody && Object.hasOwn(organizations, group));
}

const everybody = '*';

/** What members of these groups hold, by organization, as configured now. `*` is everyone. */
export function organizationsOf(
  { organizations = {} }: LoginConfig,
  groups: readonly string[],
): Record<string, readonly Grant[]> {
  const granted = new Map<string, Grant[]>();
  for (const group of [everybody, ...groups]) {
    const entries = Object.hasOwn(organizations, group) ? organizations[group]! : [];
    for (const { organization, scopes, resources = null } of entries) {
      const held = granted.get(organization) ?? [];
      granted.set(organization, [...held, { scopes, resources }]);
    }
  }
  return Object.fromEntries(granted);
}

/** A group whose members have rights in an organization. */
export interface GroupHere {
  /** `*`: everybody who signs in. */
  group: string;
  grants: readonly Grant[];
}

/** The groups that the configuration gives rights in an organization. Groups of others are not named here. */
export function groupsIn({ organizations = {} }: LoginConfig, org: string): GroupHere[] {
  return Object.entries(organizations).flatMap(([group, entries]) => {
    const grants = entries.flatMap(({ organization, scopes, resources = null }) =>
      organization === org ? [{ scopes, resources }] : [],
    );
    return grants.length === 0 ? [] : [{ group, grants }];
  });
}

/**
 * Notes that somebody signed in: once, which their keys depend on, and for each organization in
 * which they hold something. Only their last sign-in is kept.
 */
export async function noteSignIn(
  { refs }: Pick<Registry, 'refs'>,
  organizations: readonly string[],
  person: Person,
): Promise<void> {
  const change = { actor: person.actor, origin: null, action: 'sign in' };
  // Somebody who has no rights, and had none before, leaves nothing.
  const isStranger = organizations.length === 0;
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
