import { Argument, Command, Option } from 'commander';
import { scopes } from '../../model/access.ts';
import { complain, print } from '../output.ts';
import { RegistryError } from '../../model/errors.ts';
import { decidersText, latestText, reachText } from '../../model/approval.ts';
import { own } from '../../model/json.ts';
import { isUsable } from '../../model/key.ts';
import { asTitle, shownState } from '../../model/states.ts';
import type { components } from '../../server/v1/management.d.ts';
import { verbCommand, type Verb, type VerbOptions } from './with-client.ts';

interface OrganizationOptions extends VerbOptions {
  owner?: string;
  last?: boolean;
  group?: string;
  person?: string;
  issuer?: string;
  scope?: string[];
  resource?: string[];
}

type Rights = components['schemas']['GivenRights'];

function lineOf({ id, group, person, scopes: held, resources }: Rights): string {
  return [id ?? 'configuration', group ?? person, held.join(','), resources?.join(',') ?? '*'].join('\t');
}

const organizationVerbs: readonly Verb<OrganizationOptions>[] = [
  {
    name: 'list',
    description: 'List the organizations in which you have rights; those of a data folder: all.',
    orgIn: null,
    run: async ({ demandAll }) => ({ organizations: await Array.fromAsync(demandAll<object>('/v1/organizations?')) }),
    say({ organizations }) {
      for (const { organization } of organizations as { organization: string }[]) print(organization);
    },
  },
  {
    name: 'create',
    description: 'Create an organization. No restart is needed.',
    argument: new Argument('<organization>', 'its name, such as acme'),
    orgIn: null,
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
      new Option('--issuer <url>', 'the identity provider of the group, if there are several'),
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
    argument: idOf('the rights', 'organizations rights'),
    options: [new Option('--last', 'also those of the last administrator')],
    async run({ demand }, id, { last }) {
      await demand('DELETE', `/v1/rights/${encodeURIComponent(id)}${last ? '?last=true' : ''}`);
      return { id, deleted: true };
    },
    say: (_answer, id) => complain(`Took back ${id}.`),
  },
];

interface KeysOptions extends VerbOptions {
  name: string;
  scope: string[];
  resource?: string[];
  owner?: string;
  expires?: string;
  last?: boolean;
}

type ShownKey = components['schemas']['Key'];

const keyVerbs: readonly Verb<KeysOptions>[] = [
  {
    name: 'create',
    description: 'Create a key and print only its secret on stdout. The secret is shown once.',
    makesStore: true,
    options: [
      new Option('--name <name>', 'name of the key, such as what it is used for').makeOptionMandatory(),
      new Option('--scope <scope...>', 'what the key may do').choices(scopes).makeOptionMandatory(),
      new Option('--resource <glob...>', 'limit the key to these resources, such as apis/pay-*'),
      new Option('--owner <text>', 'who is responsible for the key, such as a team'),
      new Option('--expires <time>', 'when the key expires: an ISO 8601 time, or a number of days such as 90d'),
    ],
    run: async ({ demand }, _, { org, name, scope, resource = null, owner, expires }) => {
      if (name.trim() === '') throw new RegistryError('malformed', 'The key needs a name. Set --name.');
      const expiresAt = expires === undefined ? null : parseExpiry(expires);
      const given = { name, scopes: scope, resources: resource, owner, expiresAt };
      return { org, ...(await demand('POST', '/v1/keys', given)) };
    },
    say({ id, secret }) {
      print(String(secret));
      complain(`Created key ${String(id)}. The secret is shown only once.`);
    },
  },
  {
    name: 'list',
    description: 'List the keys of an organization, without their secrets.',
    run: async ({ demandAll }, _, { org }) => ({
      keys: await Array.fromAsync(demandAll<ShownKey>('/v1/keys?'), (key) => ({ org, ...key })),
    }),
    say({ keys }, _, { org = 'The organization' }) {
      if ((keys as ShownKey[]).length === 0) complain(`${org} has no keys. Create one with stele keys create.`);
      for (const key of keys as ShownKey[]) {
        const state = key.revokedAt !== null ? 'revoked' : isUsable(key, () => new Date()) ? 'active' : 'expired';
        const resources = key.resources?.join(',') ?? '*';
        print([key.id, state, key.scopes.join(','), resources, key.createdAt, key.name].join('\t'));
      }
    },
  },
  {
    name: 'revoke',
    description: 'Revoke a key. Every process rejects it within one second.',
    argument: idOf('the key', 'keys list'),
    options: [new Option('--last', 'also that of the last administrator')],
    async run({ demand }, id, { last }) {
      await demand('DELETE', `/v1/keys/${encodeURIComponent(id)}${last ? '?last=true' : ''}`);
      return { id, revoked: true };
    },
    say: (_answer, id) => complain(`Revoked key ${id}.`),
  },
];

function parseExpiry(text: string): string {
  const days = /^(\d{1,4})d$/.exec(text);
  const time = days ? Date.now() + Number(days[1]) * 86_400_000 : Date.parse(text);
  if (Number.isNaN(time))
    throw new RegistryError('malformed', `${JSON.stringify(text)} is not a time. Use 2027-01-31T00:00:00Z or 90d.`);
  if (time <= Date.now()) throw new RegistryError('malformed', `${text} is in the past. Use a later time.`);
  return new Date(time).toISOString();
}

interface WebhookOptions extends VerbOptions {
  event?: string[];
  resource?: string[];
  description?: string;
  format?: string;
}

type Endpoint = components['schemas']['Webhook'];

const anEndpoint = idOf('the endpoint', 'webhooks list');
const at = (id: string) => `/v1/webhooks/${encodeURIComponent(id)}`;
const saySecret = ({ id, secret }: Record<string, unknown>) => {
  print(String(secret));
  complain(`This is the secret of ${String(id)}, which signs what it gets. It is shown only once.`);
};

const webhookVerbs: readonly Verb<WebhookOptions>[] = [
  {
    name: 'list',
    description: 'List the webhook endpoints of an organization.',
    run: async ({ demandAll }) => ({ webhooks: await Array.fromAsync(demandAll<Endpoint>('/v1/webhooks?')) }),
    say({ webhooks }) {
      for (const { id, state, events, resources, url } of webhooks as Endpoint[])
        print([id, state, events?.join(',') ?? '*', resources?.join(',') ?? '*', url].join('\t'));
      if ((webhooks as Endpoint[]).length === 0) complain('There are no webhooks. Add one with stele webhooks create.');
    },
  },
  {
    name: 'create',
    description: 'Send events to a URL. Prints only the secret that signs them, once.',
    argument: new Argument('<url>', 'where events are sent'),
    options: [
      new Option('--event <type...>', 'only these events, such as version.published (default: all)'),
      new Option('--resource <glob...>', 'only of these resources, such as apis/pay-* (default: all)'),
      new Option('--description <text>', 'what it is for'),
      new Option('--format <format>', 'format of the messages (default: cloudevents)').choices([
        'cloudevents',
        'slack',
        'teams',
        'discord',
      ]),
    ],
    run: ({ demand }, url, { event, resource, description, format }) =>
      demand('POST', '/v1/webhooks', { url, description, events: event, resources: resource, format }),
    say: saySecret,
  },
  {
    name: 'test',
    description: 'Send a test event to an endpoint, and print the response.',
    argument: anEndpoint,
    run: ({ demand }, id) => demand('POST', `${at(id)}/test`),
    say({ delivered, status, error }) {
      print(delivered === true ? `delivered: status ${String(status)}` : `not delivered: ${String(error)}`);
    },
  },
  {
    name: 'enable',
    description: 'Enable a disabled endpoint again.',
    argument: anEndpoint,
    run: ({ demand }, id) => demand('PATCH', at(id), { state: 'enabled' }),
    say: (_answer, id) => complain(`Enabled ${id}. It receives events from now on.`),
  },
  {
    name: 'rotate',
    description: 'Give an endpoint a new secret. The old one also signs for 24 hours.',
    argument: anEndpoint,
    run: ({ demand }, id) => demand('POST', `${at(id)}/rotate`),
    say: saySecret,
  },
  {
    name: 'delete',
    description: 'Delete an endpoint. It receives nothing more.',
    argument: anEndpoint,
    async run({ demand }, id) {
      await demand('DELETE', at(id));
      return { id, deleted: true };
    },
    say: (_answer, id) => complain(`Deleted ${id}.`),
  },
];

type Approval = components['schemas']['Approval'];

const anApproval = idOf('the approval', 'approvals list');
const approvalAt = (id: string) => `/v1/approvals/${encodeURIComponent(id)}`;

interface DecisionOptions extends VerbOptions {
  reason: string;
}

const verdicts = [
  ['approve', 'approved', 'Approve the changes of a held version. Only people who are not its authors may.'],
  ['reject', 'rejected', 'Reject the changes of a held version. The last decision counts.'],
] as const;

const approvalVerbs: readonly Verb<DecisionOptions>[] = [
  {
    name: 'list',
    description: 'List the versions that wait for approval, and decided ones that are not published.',
    run: async ({ demandAll }) => ({ approvals: await Array.fromAsync(demandAll<Approval>('/v1/approvals?')) }),
    say({ approvals }) {
      for (const { id, state, resource, version, source, authors } of approvals as Approval[])
        print([id, state, `${resource}@${version}`, source, authors.join(', ')].join('\t'));
      if ((approvals as Approval[]).length === 0) complain('Nothing waits for approval.');
    },
  },
  {
    name: 'show',
    description: 'Say what a held version changes, who may decide, and what becomes latest.',
    argument: anApproval,
    run: ({ demand }, id) => demand('GET', approvalAt(id)),
    say: (answer) => print(approvalLines(answer as unknown as Approval).join('\n')),
  },
  ...verdicts.map(([name, verdict, description]): Verb<DecisionOptions> => ({
    name,
    description,
    argument: anApproval,
    options: [new Option('--reason <text>', 'the reason, which the version shows').makeOptionMandatory()],
    run: ({ demand }, id, { reason }) => demand('POST', approvalAt(id), { verdict, reason }),
    say(answer) {
      const { resource, version, source } = answer as unknown as Approval;
      const again = { upload: 'Send it again.', import: 'Run the import again.' };
      const next = own(again, source) ?? 'The registry looks at it again now.';
      complain(`${asTitle(verdict)} ${resource}@${version}.${verdict === 'approved' ? ` ${next}` : ''}`);
    },
  })),
];

function approvalLines({ changes, more, decisions, approvers = [], ...held }: Approval): string[] {
  const { resource, version, comparedWith, state, authors, latest, whyNot } = held;
  return [
    `${resource}@${version} (${shownState(state).text}), compared with ${comparedWith ?? 'nothing'}`,
    ...changes.map(({ rule, message, operations = [], reach = 0 }) =>
      [`  ${rule}: ${message}`, ...(reach === 0 ? [] : [`Reaches ${reachText(operations, reach)}.`])].join(' '),
    ),
    ...(more === 0 ? [] : [`  ${more} more`]),
    ...decisions.map(({ verdict, name, reason }) => `${name} ${verdict} it: ${reason}`),
    `Written by ${authors.join(', ')}.`,
    ...(state === 'waiting' ? [`${decidersText(approvers, authors)} ${latestText(version, latest)}`] : []),
    ...(whyNot === null ? [] : [whyNot]),
  ];
}

/** The argument of a subcommand that is about one of a list. */
function idOf(what: string, list: string): Argument {
  return new Argument('<id>', `id of ${what}, as \`stele ${list}\` prints it`);
}

/** What is managed with subcommands: what they are for, and what `--org` means. */
const groups: readonly [name: string, description: string, verbs: readonly Verb<VerbOptions>[], org: string][] = [
  ['keys', 'Create, list and revoke API keys.', keyVerbs, 'organization of the keys'],
  ['webhooks', 'List, create, test and delete webhook endpoints.', webhookVerbs, 'organization of the endpoint'],
  ['approvals', 'Say what waits for approval, approve it or reject it.', approvalVerbs, 'the organization'],
  ['organizations', 'Create organizations, and say who may do what there.', organizationVerbs, 'the organization'],
];

/** `stele keys`, `webhooks`, `approvals` and `organizations`, each with subcommands. */
export function groupCommands(): Command[] {
  return groups.map(([name, description, verbs, org]) => {
    const group = new Command(name).description(description);
    for (const verb of verbs) group.addCommand(verbCommand(verb, org));
    return group;
  });
}
