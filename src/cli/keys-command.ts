import { Command, Option } from 'commander';
import { scopes, type Scope } from '../model/access.ts';
import { RegistryError } from '../model/errors.ts';
import { isSlug } from '../model/address.ts';
import { isUsable, type Key } from '../model/key.ts';
import { assertOrganizationExists } from '../registry/maintenance/organizations.ts';
import { listKeys } from '../registry/keys/list-keys.ts';
import { createKey, revokeKey, type NewKey } from '../registry/keys/keys.ts';
import { openRegistryAt, type RegistryClient } from './registry-client.ts';
import { operator, withRegistry, withStore, type CommonOptions } from './command-context.ts';
import { complain, print, printJson } from './output.ts';

interface KeysOptions extends CommonOptions {
  last?: boolean;
  org?: string;
  registry?: string;
}

interface CreateOptions extends KeysOptions {
  name: string;
  scope: Scope[];
  resource?: string[];
  owner?: string;
  expires?: string;
}

/**
 * `stele keys create|list|revoke`: as the operator on the data folder, or with `--registry` for the
 * organization of the key in STELE_KEY.
 */
export function keysCommand(): Command {
  const keys = new Command('keys').description('Create, list and revoke API keys.');
  keys
    .command('create')
    .description('Create a key and print only its secret on stdout. The secret is shown once.')
    .option('--org <name>', 'organization that owns the key')
    .option('--registry <url>', remoteHelp)
    .requiredOption('--name <name>', 'name of the key, such as what it is used for')
    .addOption(new Option('--scope <scope...>', 'what the key may do').choices(scopes).makeOptionMandatory())
    .option('--resource <glob...>', 'limit the key to these resources, such as apis/pay-*')
    .option('--owner <text>', 'who answers for the key, such as a team')
    .option('--expires <time>', 'when the key expires: an ISO 8601 time, or a number of days such as 90d')
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<CreateOptions>();
      const { name, scope, resource, owner, expires, json } = options;
      if (name.trim() === '') throw new RegistryError('malformed', 'The key needs a name. Set --name.');
      const expiresAt = expires === undefined ? null : parseExpiry(expires);
      const given = { name, scopes: scope, resources: resource ?? null, expiresAt, ...(owner && { owner }) };
      const { secret, ...key } = await make(command, options, given);
      if (json) return printJson({ ...key, secret });
      print(secret);
      complain(`Created key ${key.id}. The secret is shown only once.`);
    });
  keys
    .command('list')
    .description('List the keys of an organization, without their secrets.')
    .option('--org <name>', 'organization whose keys to list')
    .option('--registry <url>', remoteHelp)
    .action(async (_options: unknown, command: Command) => {
      const options = command.optsWithGlobals<KeysOptions>();
      const all = await list(command, options);
      if (options.json) return printJson({ keys: all });
      if (all.length === 0)
        complain(`${options.org ?? 'The organization'} has no keys. Create one with stele keys create.`);
      for (const key of all) {
        const state = key.revokedAt !== null ? 'revoked' : isUsable(key, () => new Date()) ? 'active' : 'expired';
        const resources = key.resources?.join(',') ?? '*';
        print([key.id, state, key.scopes.join(','), resources, key.createdAt, key.name].join('\t'));
      }
    });
  keys
    .command('revoke')
    .description('Revoke a key. Every process rejects it within one second.')
    .argument('<id>', 'id of the key, as printed by `stele keys list`')
    .option('--org <name>', 'organization that owns the key')
    .option('--last', 'also that of the last administrator')
    .option('--registry <url>', remoteHelp)
    .action(async (id: string, _options: unknown, command: Command) => {
      const options = command.optsWithGlobals<KeysOptions>();
      const { last = false } = options;
      if (options.registry !== undefined) {
        const asked = `/v1/keys/${encodeURIComponent(id)}${last ? '?last=true' : ''}`;
        await (await remote(options, options.registry)).demand('DELETE', asked);
      } else await withStore(command, (registry) => revokeKey(registry, requireOrg(options), id, operator, { last }));
      if (options.json) printJson({ id, revoked: true });
      else complain(`Revoked key ${id}.`);
    });
  return keys;
}

const remoteHelp = 'URL of a running registry; uses the key in STELE_KEY and its organization';

/** A key without its hash. */
type ShownKey = Omit<Key, 'hash'>;

async function make(
  command: Command,
  options: KeysOptions,
  given: Omit<NewKey, 'org'>,
): Promise<ShownKey & { secret: string }> {
  if (options.registry !== undefined) {
    const registry = await remote(options, options.registry);
    return (await registry.demand('POST', '/v1/keys', given)) as unknown as ShownKey & { secret: string };
  }
  const asked = { ...given, org: requireOrg(options) };
  const { key, text } = await withRegistry(command, async (registry) => {
    if (isSlug(asked.org)) await assertOrganizationExists(registry, asked.org);
    return createKey(registry, asked, operator);
  });
  return { ...withoutHash(key), secret: text };
}

async function list(command: Command, options: KeysOptions): Promise<ShownKey[]> {
  if (options.registry !== undefined)
    return Array.fromAsync((await remote(options, options.registry)).demandAll<ShownKey>('/v1/keys?'));
  const keys = await withStore(command, (registry) => listKeys(registry, requireOrg(options)));
  return keys.map(withoutHash);
}

function remote({ org }: KeysOptions, url: string): Promise<RegistryClient> {
  return openRegistryAt(url, org ?? null);
}

function withoutHash({ hash: _hash, ...key }: Key): ShownKey {
  return key;
}

function requireOrg({ org }: KeysOptions): string {
  if (org === undefined) throw new RegistryError('malformed', 'Set --org to the organization.');
  return org;
}

function parseExpiry(text: string): string {
  const days = /^(\d{1,4})d$/.exec(text);
  const time = days ? Date.now() + Number(days[1]) * 86_400_000 : Date.parse(text);
  if (Number.isNaN(time))
    throw new RegistryError('malformed', `${JSON.stringify(text)} is not a time. Use 2027-01-31T00:00:00Z or 90d.`);
  if (time <= Date.now()) throw new RegistryError('malformed', `${text} is in the past. Use a later time.`);
  return new Date(time).toISOString();
}
