import { Command, Option } from 'commander';
import { scopes } from '../../model/access.ts';
import { complain, print } from '../output.ts';
import { withVerbs, type Verb, type VerbOptions } from './verbs.ts';

interface OrganizationOptions extends VerbOptions {
  owner?: string;
  last?: boolean;
  group?: string;
  person?: string;
  issuer?: string;
  scope?: string[];
  resource?: string[];
}

/** The members used here of rights as `/v1` describes them. */
interface Rights {
  id: string | null;
  group: string | null;
  person: string | null;
  scopes: string[];
  resources: string[] | null;
}

function lineOf({ id, group, person, scopes: held, resources }: Rights): string {
  return [id ?? 'configuration', group ?? person, held.join(','), resources?.join(',') ?? '*'].join('\t');
}

const verbs: readonly Verb<OrganizationOptions>[] = [
  {
    name: 'list',
    description: 'List the organizations in which you have rights; those of a data folder: all.',
    isForAll: true,
    run: async ({ demandAll }) => ({ organizations: await Array.fromAsync(demandAll<object>('/v1/organizations?')) }),
    say({ organizations }) {
      for (const { organization } of organizations as { organization: string }[]) print(organization);
    },
  },
  {
    name: 'create',
    description: 'Create an organization. No restart is needed.',
    argument: ['<organization>', 'its name, such as acme'],
    isForAll: true,
    options: [new Option('--owner <person>', 'who administers it, such as https://id.example.com#ada')],
    run: ({ demand }, organization, { owner }) => demand('POST', '/v1/organizations', { organization, owner }),
    say: (_answer, id) => complain(`Created ${id}.`),
  },
  {
    name: 'rights',
    description: 'List who has which rights in an organization: groups and people.',
    run: async ({ demandAll }) => ({ rights: await Array.fromAsync(demandAll<Rights>('/v1/rights?')) }),
    say({ rights }) {
      for (const each of rights as Rights[]) print(lineOf(each));
      if ((rights as Rights[]).length === 0) complain('Nobody has rights here. Use stele organizations give.');
    },
  },
  {
    name: 'give',
    description: 'Give rights to a group of the identity provider, or to one person.',
    options: [
      new Option('--group <name>', 'the group, as the identity provider names it; * is everybody who signs in'),
      new Option('--person <id>', 'the person, such as https://id.example.com#ada'),
      new Option('--issuer <url>', 'the identity provider of the group, where there are several'),
      new Option('--scope <scope...>', 'what they may do').choices(scopes).makeOptionMandatory(),
      new Option('--resource <glob...>', 'only for these resources, such as apis/pay-* (default: all)'),
    ],
    run: ({ demand }, _id, { group, person, issuer, scope, resource }) =>
      demand('POST', '/v1/rights', { group, person, issuer, scopes: scope, resources: resource }),
    say: (answer) => print(lineOf(answer as unknown as Rights)),
  },
  {
    name: 'take',
    description: 'Take rights back.',
    argument: ['<id>', 'id of the rights, as `stele organizations rights` prints it'],
    options: [new Option('--last', 'also those of the last administrator')],
    async run({ demand }, id, { last }) {
      await demand('DELETE', `/v1/rights/${encodeURIComponent(id)}${last ? '?last=true' : ''}`);
      return { id, deleted: true };
    },
    say: (_answer, id) => complain(`Took back ${id}.`),
  },
];

/** `stele organizations list|create|rights|give|take`. */
export function organizationsCommand(): Command {
  const organizations = new Command('organizations').description(
    'Create organizations, and say who may do what there.',
  );
  return withVerbs(organizations, verbs, 'the organization');
}
