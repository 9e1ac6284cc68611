import { Command, Option } from 'commander';
import { scopes, type Scope } from '../model/access.ts';
import { RegistryError } from '../model/errors.ts';
import type { Key } from '../model/key.ts';
import { createKey, isUsable, listKeys, revokeKey, type NewKey } from '../registry/keys.ts';
import { demand, demandAll } from './registry-client.ts';
import { operator, withRegistry, type CommonOptions } from './command-context.ts';
import { complain, print, printJson } from './output.ts';

interface KeysOptions extends CommonOptions {
  org?: string;
  registry?: string;
}

interface CreateOptions extends KeysOptions {
  name: string;
  scope: Scope[];
  resource?: string[];
  expires?: string;
}

/** `stele keys create|list|revoke`: on the data folder, as the operator, or over HTTP for the organization of the key in STELE_KEY. */
export function keysCommand(): Command {
  const keys = new Command('keys').description('Make, list and revoke API keys.');
  keys
    .command('create')
    .description('Make a key and print its secret, alone, on stdout. It is shown this once.')
    .option('--org <name>', 'organization that it acts for')
    .option('--registry <url>', remoteHelp)
    .requiredOption('--name <name>', 'what it is for')
    .addOption(new Option('--scope <scope...>', 'what it may do').choices(scopes).makeOptionMandatory())
    .option('--resource <glob...>', 'only these resources, such as apis/pay-*')
    .option('--expires <time>', 'when it ends: ISO 8601, or a number of days such as 90d')
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<CreateOptions>();
      const { name, scope, resource, expires, json } = options;
      if (name.trim() === '') throw new RegistryError('malformed', 'Say with --name what the key is for.');
      const expiresAt = expires === undefined ? null : parseExpiry(expires);
      const given = { name, scopes: scope, resources: resource ?? null, expiresAt };
      const { secret, ...key } = await make(command, options, given);
      if (json) return printJson({ ...key, secret });
      print(secret);
      complain(`Key ${key.id} was made. Its secret is shown only now.`);
    });
  keys
    .command('list')
    .description('List the keys of an organization; never their secrets.')
    .option('--org <name>', 'organization whose keys to list')
    .option('--registry <url>', remoteHelp)
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<KeysOptions>();
      const all = await list(command, options);
      if (options.json) return printJson({ keys: all });
      if (all.length === 0)
        complain(`${options.org ?? 'The organization'} has no keys. Make one with stele keys create.`);
      for (const key of all) {
        const state = key.revokedAt !== null ? 'revoked' : isUsable(key, new Date()) ? 'active' : 'expired';
        const resources = key.resources?.join(',') ?? '*';
        print([key.id, state, key.scopes.join(','), resources, key.createdAt, key.name].join('\t'));
      }
    });
  keys
    .command('revoke')
    .description('Revoke a key: no process takes it any more, within a second.')
    .argument('<id>', 'the part of the key between the first two underscores; `keys list` prints it')
    .option('--org <name>', 'organization of the key')
    .option('--registry <url>', remoteHelp)
    .action(async (id: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<KeysOptions>();
      if (options.registry !== undefined)
        await demand(options.registry, 'DELETE', `/v1/keys/${encodeURIComponent(id)}`);
      else await withRegistry(command, (registry) => revokeKey(registry, requireOrg(options), id, operator));
      if (options.json) printJson({ id, revoked: true });
      else complain(`Key ${id} is revoked.`);
    });
  return keys;
}

const remoteHelp = 'ask a running registry over HTTP, with the key in STELE_KEY; its organization is meant';

/** A key as it may be told: without its hash. */
type ToldKey = Omit<Key, 'hash'>;

async function make(
  command: Command,
  options: KeysOptions,
  given: Omit<NewKey, 'org'>,
): Promise<ToldKey & { secret: string }> {
  if (options.registry !== undefined) {
    return (await demand(options.registry, 'POST', '/v1/keys', given)) as unknown as ToldKey & { secret: string };
  }
  const asked = { ...given, org: requireOrg(options) };
  const { key, text } = await withRegistry(command, (registry) => createKey(registry, asked, operator));
  return { ...withoutHash(key), secret: text };
}

async function list(command: Command, options: KeysOptions): Promise<ToldKey[]> {
  if (options.registry !== undefined) return Array.fromAsync(demandAll<ToldKey>(options.registry, '/v1/keys?'));
  const keys = await withRegistry(command, (registry) => listKeys(registry, requireOrg(options)));
  return keys.map(withoutHash);
}

function withoutHash({ hash: _hash, ...key }: Key): ToldKey {
  return key;
}

function requireOrg({ org }: KeysOptions): string {
  if (org === undefined) throw new RegistryError('malformed', 'Name the organization with --org.');
  return org;
}

function parseExpiry(text: string): string {
  const days = /^(\d{1,4})d$/.exec(text);
  const time = days ? Date.now() + Number(days[1]) * 86_400_000 : Date.parse(text);
  if (Number.isNaN(time))
    throw new RegistryError('malformed', `${JSON.stringify(text)} is no time: write 2027-01-31T00:00:00Z or 90d.`);
  if (time <= Date.now()) throw new RegistryError('malformed', `${text} is past: the key would never be valid.`);
  return new Date(time).toISOString();
}
