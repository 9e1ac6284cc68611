import { Command, Option } from 'commander';
import type { CommonOptions } from '../command-context.ts';
import { complain, print, printJson } from '../output.ts';
import { withClient, type Client } from './with-client.ts';
import type { Webhook } from '../../model/webhook.ts';

interface WebhookOptions extends CommonOptions {
  org?: string;
  event?: string[];
  resource?: string[];
  description?: string;
  format?: string;
}

/** The members used here of an endpoint as `/v1` describes it. */
type Endpoint = Pick<Webhook, 'id' | 'url' | 'state' | 'events' | 'resources'>;

/** A subcommand: what it takes, and what it asks for. `id` is the first argument. Returns what `--json` prints. */
interface Verb {
  name: string;
  description: string;
  argument?: [name: string, description: string];
  run(client: Client, id: string, options: WebhookOptions): Promise<object>;
  say(answer: Record<string, unknown>, id: string): void;
}

const anEndpoint: NonNullable<Verb['argument']> = ['<id>', 'id of the endpoint, as `stele webhooks list` prints it'];
const at = (id: string) => `/v1/webhooks/${encodeURIComponent(id)}`;
const saySecret = ({ id, secret }: Record<string, unknown>) => {
  print(String(secret));
  complain(`This is the secret of ${String(id)}, which signs what it gets. It is shown only once.`);
};

const verbs: readonly Verb[] = [
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
  for (const { name, description, argument, run, say } of verbs) {
    const command = webhooks.command(name).description(description);
    if (argument !== undefined) command.argument(...argument);
    command
      .option('--org <name>', 'organization of the endpoint')
      .option('--registry <url>', 'URL of a running registry; uses the key in STELE_KEY and its organization');
    if (name === 'create')
      command
        .option('--event <type...>', 'only these events, such as version.published (default: all)')
        .option('--resource <glob...>', 'only of these resources, such as apis/pay-* (default: all)')
        .option('--description <text>', 'what it is for')
        .addOption(
          new Option('--format <format>', 'what the URL takes (default: cloudevents)').choices([
            'cloudevents',
            'slack',
            'teams',
            'discord',
          ]),
        );
    command.action(async (...given: unknown[]) => {
      const self = given.at(-1) as Command;
      const [id = ''] = self.args;
      const options = self.optsWithGlobals<WebhookOptions>();
      const answer = await withClient(self, options.org ?? null, (client) => run(client, id, options));
      if ('delivered' in answer && answer.delivered !== true) process.exitCode = 1;
      if (options.json) printJson(answer);
      else say(answer as Record<string, unknown>, id);
    });
  }
  return webhooks;
}
