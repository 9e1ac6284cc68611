import { type Grant, everybody } from '../model/access.ts';
import type { Person } from '../model/key.ts';
import { providersOf } from '../config/login-config.ts';
import { type FormCodes, linksFrom, timeCell, type Cell, type Page } from './pages.ts';
import { assertMay, here } from './console-request.ts';
import { groupsHere, listMembers, rightsIn, rightsOf, type RightsHere } from '../registry/keys/people.ts';

/** Members on one page. More would make it slow to read. */
const maxRows = 500;

/** The people of the organization as sign-in saw them, and the groups that give rights in it. */
export const membersPage: Page = {
  path: '/members',
  async show(request) {
    assertMay(request, 'admin');
    const { org, context } = request;
    const { registry } = context;
    const title = 'Members';
    if (registry.config.login === null) {
      const lead = 'No identity provider is configured, so nobody is a member: keys have the rights.';
      return { title, lead, sections: [] };
    }
    const members = (await listMembers(registry, org)).slice(0, maxRows);
    const given = await rightsIn(registry, org);
    const hasSeveral = providersOf(registry.config.login).length > 1;
    return {
      title,
      lead: 'Who may do what here. Give rights to a group of the identity provider, or to one person.',
      actions: [{ text: 'Give rights', href: here(request, '/rights/new'), isMain: true }],
      sections: [
        {
          title: 'People',
          lead: 'As of their last sign-in. People who have not signed in for 180 days are not listed, but keep their rights.',
          columns: ['Name', 'Last sign-in', 'They may', 'Because of'],
          rows: await Promise.all(
            members.map(async (member) => ({
              cells: [
                { text: member.name, more: member.actor },
                timeCell(member.signedInAt),
                rightsCell((await rightsOf(registry, member))[org] ?? []),
                becauseOf(given, member),
              ],
            })),
          ),
          empty: 'Nobody has signed in yet.',
        },
        {
          title: 'Rights',
          lead: 'What the configuration gives can be changed only there.',
          columns: ['Who', 'They may', 'From'],
          rows: given.map((each) => ({
            cells: [
              holderCell(each, hasSeveral),
              rightsCell([each]),
              { text: each.id === null ? 'the configuration' : 'administrators' },
            ],
            actions: linksFrom({ ...request, params: { rights: each.id ?? '' } }, '/rights/:rights', [
              'Take back',
              '/delete',
              each.id !== null,
              { isDanger: true },
            ]),
          })),
          empty: 'Nobody has rights here yet.',
        },
      ],
    };
  },
};

/** The code of forms about organizations and the rights of people. */
export const memberCodes: FormCodes = {
  '/rights/new': {
    complete: async ({ context }) => {
      const issuers = providersOf(context.registry.config.login).map(({ issuer }) => issuer);
      return { '/issuer': { kind: 'select', options: issuers.map((value) => ({ value, text: value })) } };
    },
  },
  '/rights/:rights/delete': {
    about: async ({ context, org, params }) => {
      const given = (await rightsIn(context.registry, org)).find(({ id }) => id === params['rights']);
      return given ? (given.subject ?? given.group!) : '';
    },
  },
  '/organizations/new': {
    show: ({ body }) => ({
      title: `@${String(body['organization'])} is there`,
      lead: 'Your rights in it apply here at once, and elsewhere from your next sign-in.',
      actions: [
        { text: 'Publish a document', href: `/console/new?org=${String(body['organization'])}`, isMain: true },
        { text: 'Its members', href: `/console/${String(body['organization'])}/members` },
        { text: 'Its overview', href: `/console/${String(body['organization'])}` },
      ],
    }),
  },
};

function holderCell({ group, subject, issuer }: RightsHere, hasSeveral: boolean): Cell {
  const more = hasSeveral || subject !== null ? { more: issuer } : {};
  if (subject !== null) return { text: subject, isCode: true, ...more };
  return group === everybody ? { text: 'everybody who signs in', ...more } : { text: group!, isCode: true, ...more };
}

function rightsCell(grants: readonly Grant[]): Cell {
  if (grants.length === 0) return { text: 'nothing any more', tag: 'warn' };
  const all = grants.map(({ scopes, resources }) => `${scopes.join(', ')}: ${resources?.join(', ') ?? 'everything'}`);
  return { text: all.join('; ') };
}

function becauseOf(given: readonly RightsHere[], member: Person): Cell {
  const isEverybody = given.some(
    ({ group, issuer }) => group === everybody && member.actor.startsWith(`user:${issuer}#`),
  );
  const roles = [...(isEverybody ? ['everybody'] : []), ...groupsHere(given, member)];
  if (given.some(({ subject, issuer }) => subject !== null && member.actor === `user:${issuer}#${subject}`))
    roles.push('given to them');
  return { text: roles.join(', ') || 'no group' };
}
