import { hexOf, digestOf } from '../../model/digest.ts';
import type { LoginConfig } from '../../config/login-config.ts';
import type { Grant } from '../../model/access.ts';
import type { Registry } from '../../registry/registry.ts';

/** A person of an organization as their last sign-in saw them: the value of a record that expires. */
export interface Member {
  /** As the audit trail names them: `user:{issuer}#{subject}`. */
  actor: string;
  name: string;
  /** Their groups that the configuration mentioned. */
  groups: string[];
  /** ISO 8601, UTC. */
  signedInAt: string;
}

/**
 * Notes that somebody signed in, for each organization in which they hold something. Only their last
 * sign-in is kept, with their name and the groups that decide their rights.
 */
export async function noteSignIn(
  { refs }: Pick<Registry, 'refs'>,
  organizations: readonly string[],
  member: Member,
): Promise<void> {
  for (const org of organizations) {
    const name = `members/${org}/${hexOf(digestOf(member.actor)).slice(0, 32)}`;
    const change = { actor: member.actor, origin: null, action: 'sign in' };
    await refs.update<Member>(name, () => ({ value: member, change }));
  }
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

/** The people of an organization, last seen first. */
export async function listMembers({ refs }: Pick<Registry, 'refs'>, org: string): Promise<Member[]> {
  const listed: Member[] = [];
  for await (const name of refs.list(`members/${org}/`)) {
    const member = await refs.read<Member>(name);
    if (member !== null) listed.push(member.value);
  }
  return listed.sort((a, b) => (a.signedInAt > b.signedInAt ? -1 : 1));
}
