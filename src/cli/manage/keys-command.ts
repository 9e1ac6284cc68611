import { Command, Option } from 'commander';
import { scopes } from '../../model/access.ts';
import { RegistryError } from '../../model/errors.ts';
import { isUsable, type Key } from '../../model/key.ts';
import { complain, print } from '../output.ts';
import { withVerbs, type Verb, type VerbOptions } from './verbs.ts';

interface KeysOptions extends VerbOptions {
  name: string;
  scope: string[];
  resource?: string[];
  owner?: string;
  expires?: string;
  last?: boolean;
}

/** The members used here of a key as `/v1` describes it. */
type ShownKey = Pick<Key, 'id' | 'name' | 'scopes' | 'resources' | 'createdAt' | 'expiresAt' | 'revokedAt'>;

const verbs: readonly Verb<KeysOptions>[] = [
  {
    name: 'create',
    description: 'Create a key and print only its secret on stdout. The secret is shown once.',
    makesStore: true,
    options: [
      new Option('--name <name>', 'name of the key, such as what it is used for').makeOptionMandatory(),
      new Option('--scope <scope...>', 'what the key may do').choices(scopes).makeOptionMandatory(),
      new Option('--resource <glob...>', 'limit the key to these resources, such as apis/pay-*'),
      new Option('--owner <text>', 'who answers for the key, such as a team'),
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
    argument: ['<id>', 'id of the key, as printed by `stele keys list`'],
    options: [new Option('--last', 'also that of the last administrator')],
    async run({ demand }, id, { last }) {
      await demand('DELETE', `/v1/keys/${encodeURIComponent(id)}${last ? '?last=true' : ''}`);
      return { id, revoked: true };
    },
    say: (_answer, id) => complain(`Revoked key ${id}.`),
  },
];

/** `stele keys create|list|revoke`. */
export function keysCommand(): Command {
  const keys = new Command('keys').description('Create, list and revoke API keys.');
  return withVerbs(keys, verbs, 'organization of the keys');
}

function parseExpiry(text: string): string {
  const days = /^(\d{1,4})d$/.exec(text);
  const time = days ? Date.now() + Number(days[1]) * 86_400_000 : Date.parse(text);
  if (Number.isNaN(time))
    throw new RegistryError('malformed', `${JSON.stringify(text)} is not a time. Use 2027-01-31T00:00:00Z or 90d.`);
  if (time <= Date.now()) throw new RegistryError('malformed', `${text} is in the past. Use a later time.`);
  return new Date(time).toISOString();
}
