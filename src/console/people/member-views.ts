import type { Grant } from '../../model/access.ts';
import { RegistryError } from '../../model/errors.ts';
import type { Person } from '../../model/keys/person.ts';
import { groupsIn, listMembers, organizationsOf } from '../../registry/keys/people.ts';
import { isAdmin } from '../keys/key-forms.ts';
import { timeCell, type Cell, type Page } from '../pages.ts';

/** Members on one page. More would make it slow to read. */
const maxRows = 500;

/** The people of the organization as sign-in saw them, and the groups that give rights in it. */
export const membersPage: Page = {
  path: '/members',
  async show(request) {
    if (!isAdmin(request))
      throw new RegistryError('forbidden', 'This needs the scope admin, which you do not have here.');
    const { org, context } = request;
    const { config } = context.registry;
    const { login } = config;
    const eyebrow = `@${org}`;
    const title = 'Members';
    if (login === null) {
      const lead = 'No identity provider is configured, so nobody is a member: keys have the rights.';
      return { eyebrow, title, lead, sections: [] };
    }
    const members = await listMembers(context.registry, org);
    const groupsHere = groupsIn(login, org);
    const rightsOf = ({ groups }: Person) => organizationsOf(login, groups)[org] ?? [];
    return {
      eyebrow,
      title,
      lead: `Who may do what here. To change it, change the groups of the person at the identity provider: the configuration maps its claim ${login.claim} to rights.`,
      sections: [
        {
          title: 'People',
          lead: 'As of their last sign-in. People who have not signed in for 180 days are not listed, but keep their rights.',
          columns: ['Name', 'Last sign-in', 'They may', 'Because of'],
          rows: members.slice(0, maxRows).map((member) => ({
            cells: [
              { text: member.name, more: member.actor },
              timeCell(member.signedInAt),
              rightsCell(rightsOf(member)),
              becauseOf(member, groupsHere),
            ],
          })),
          empty: 'Nobody has signed in yet.',
        },
        {
          title: 'Teams',
          columns: ['Group', 'Its members may'],
          rows: groupsHere.map(({ group, grants }) => ({
            cells: [
              group === '*' ? { text: 'everybody who signs in' } : { text: group, isCode: true },
              rightsCell(grants),
            ],
          })),
          empty: 'The configuration gives no group rights here.',
        },
      ],
    };
  },
};

function rightsCell(grants: readonly Grant[]): Cell {
  if (grants.length === 0) return { text: 'nothing any more', tag: 'warn' };
  const all = grants.map(({ scopes, resources }) => `${scopes.join(', ')}: ${resources?.join(', ') ?? 'everything'}`);
  return { text: all.join('; ') };
}

function becauseOf({ groups }: Person, here: readonly { group: string }[]): Cell {
  const roles = here.flatMap(({ group }) => (group === '*' ? ['everybody'] : groups.includes(group) ? [group] : []));
  return { text: roles.join(', ') || 'no group' };
}
