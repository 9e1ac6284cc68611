import { Command, Option } from 'commander';
import { complain, print } from '../output.ts';
import { withVerbs, type Verb, type VerbOptions } from './verbs.ts';
import type { Webhook } from '../../model/event.ts';

interface WebhookOptions extends VerbOptions {
  event?: string[];
  resource?: string[];
  description?: string;
  format?: string;
}

/** The members used here of an endpoint as `/v1` describes it. */
type Endpoint = Pick<Webhook, 'id' | 'url' | 'state' | 'events' | 'resources'>;

const anEndpoint: NonNullable<Verb<WebhookOptions>['argument']> = [
  '<id>',
  'id of the endpoint, as `stele webhooks list` prints it',
];
const at = (id: string) => `/v1/webhooks/${encodeURIComponent(id)}`;
const saySecret = ({ id, secret }: Record<string, unknown>) => {
  print(String(secret));
  complain(`This is the secret of ${String(id)}, which signs what it gets. It is shown only once.`);
};

const verbs: readonly Verb<WebhookOptions>[] = [
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
    argument: ['<url>', 'where events are sent'],
    options: [
      new Option('--event <type...>', 'only these events, such as version.published (default: all)'),
      new Option('--resource <glob...>', 'only of these resources, such as apis/pay-* (default: all)'),
      new Option('--description <text>', 'what it is for'),
      new Option('--format <format>', 'what the URL takes (default: cloudevents)').choices([
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
    description: 'Send a test event to an endpoint, and say what it answered.',
    argument: anEndpoint,
    run: ({ demand }, id) => demand('POST', `${at(id)}/test`),
    say({ delivered, status, error }) {
      print(delivered === true ? `delivered: status ${String(status)}` : `not delivered: ${String(error)}`);
    },
  },
  {
    name: 'enable',
    description: 'Send events to an endpoint again that was disabled.',
    argument: anEndpoint,
    run: ({ demand }, id) => demand('PATCH', at(id), { state: 'enabled' }),
    say: (_answer, id) => complain(`Enabled ${id}. It receives events from now on.`),
  },
  {
    name: 'rotate',
    description: 'Give an endpoint a new secret. The old one signs as well for 24 hours.',
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

/** `stele webhooks list|create|test|enable|rotate|delete`. */
export function webhooksCommand(): Command {
  const webhooks = new Command('webhooks').description('List, create, test and delete webhook endpoints.');
  return withVerbs(webhooks, verbs, 'organization of the endpoint');
}
