import { Command, Option } from 'commander';
import { scopes, type Scope } from '../model/access.ts';
import { RegistryError } from '../model/errors.ts';
import { createKey, isUsable, listKeys, revokeKey } from '../registry/keys.ts';
import { operator, withRegistry, type CommonOptions } from './context.ts';
import { complain, print } from './output.ts';

interface CreateOptions extends CommonOptions {
  org: string;
  name: string;
  scope: Scope[];
  resource?: string[];
  expires?: string;
}

/** `stele keys create|list|revoke`: on the data folder, as the operator. */
export function keysCommand(): Command {
  const keys = new Command('keys').description('Make, list and revoke API keys.');
  keys
    .command('create')
    .description('Make a key and print its secret, alone, on stdout. It is shown this once.')
    .requiredOption('--org <name>', 'organization that it acts for')
    .requiredOption('--name <name>', 'what it is for')
    .addOption(new Option('--scope <scope...>', 'what it may do').choices(scopes).makeOptionMandatory())
    .option('--resource <glob...>', 'only these resources, such as apis/pay-*')
    .option('--expires <time>', 'when it ends: ISO 8601, or a number of days such as 90d')
    .action(async (_options: unknown, command: Command) => {
      const { org, name, scope, resource, expires, json } = command.optsWithGlobals<CreateOptions>();
      if (name.trim() === '') throw new RegistryError('malformed', 'Say with --name what the key is for.');
      const expiresAt = expires === undefined ? null : parseExpiry(expires);
      const given = { org, name, scopes: scope, resources: resource ?? null, expiresAt };
      const { key, text } = await withRegistry(command, (registry) => createKey(registry, given, operator));
      const { hash: _hash, ...told } = key;
      print(json ? JSON.stringify({ ...told, secret: text }) : text);
      complain(`Key ${key.id} of ${org} was made. Nobody can show its secret again.`);
    });
  keys
    .command('list')
    .description('List the keys of an organization; never their secrets.')
    .requiredOption('--org <name>', 'organization whose keys to list')
    .action(async (_options: unknown, command: Command) => {
      const { org, json } = command.optsWithGlobals<CommonOptions & { org: string }>();
      const all = await withRegistry(command, (registry) => listKeys(registry, org));
      if (json) return print(JSON.stringify(all.map(({ hash: _hash, ...key }) => key)));
      for (const key of all) {
        const state = key.revokedAt !== null ? 'revoked' : isUsable(key, new Date()) ? 'active' : 'expired';
        print(
          [key.id, state, key.scopes.join(','), key.resources?.join(',') ?? '*', key.createdAt, key.name].join('\t'),
        );
      }
    });
  keys
    .command('revoke')
    .description('Revoke a key: no process takes it any more, within a second.')
    .argument('<id>', 'the part of the key between the first two underscores; `keys list` prints it')
    .requiredOption('--org <name>', 'organization of the key')
    .action(async (id: string, _options: unknown, command: Command) => {
      const { org } = command.optsWithGlobals<{ org: string }>();
      await withRegistry(command, (registry) => revokeKey(registry, org, id, operator));
      complain(`Key ${id} is revoked.`);
    });
  return keys;
}

function parseExpiry(text: string): string {
  const days = /^(\d{1,4})d$/.exec(text);
  const time = days ? Date.now() + Number(days[1]) * 86_400_000 : Date.parse(text);
  if (Number.isNaN(time))
    throw new RegistryError('malformed', `${JSON.stringify(text)} is no time: write 2027-01-31T00:00:00Z or 90d.`);
  if (time <= Date.now()) throw new RegistryError('malformed', `${text} is past: the key would never be valid.`);
  return new Date(time).toISOString();
}
