import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { scopes, type Scope } from '../model/access.ts';
import { notFound, forbidden } from '../model/errors.ts';
import type { components } from '../server/v1/management.d.ts';
import type { CommonOptions } from './command-context.ts';
import { openInBrowser } from './open-browser.ts';
import { complain, print, printJson } from './output.ts';
import { askRegistry, bodyIn, requireRegistry, saveKey, savedFile, savedKeyOf } from './registry-client.ts';

type Schemas = components['schemas'];
type LoginOptions = CommonOptions & { registry?: string; scope: Scope; org?: string; name?: string };

/** `stele login`: gets a key of one's own by the device flow (RFC 8628), and saves it for this user. */
export function loginCommand(): Command {
  return new Command('login')
    .description('Get a key of your own for a registry where you sign in. It is saved for later commands.')
    .option('--registry <url>', 'URL of the registry')
    .addOption(new Option('--scope <scope>', 'what the key may do at most').choices(scopes).default('read'))
    .option('--org <name>', 'limit the key to this organization (default: all of yours)')
    .option('--name <name>', 'what to call the key (default: stele on this computer)')
    .action(async (_options: unknown, command: Command) => {
      const {
        registry: given,
        scope,
        org,
        name = `stele on ${hostname()}`,
        json,
      } = command.optsWithGlobals<LoginOptions>();
      const registry = requireRegistry(given);
      const request = { name: name.slice(0, 100), scopes: [scope], ...(org !== undefined && { organizations: [org] }) };
      const asked = await askRegistry(registry, 'POST', '/v1/devices', { key: null, body: request });
      if (asked.status === 404)
        throw notFound(
          `${registry} has no sign-in with an identity provider, so nobody can log in. Set STELE_KEY to a key that an administrator made.`,
        );
      const device = bodyIn(asked) as Schemas['DeviceAnswer'];
      complain(`Open ${device.verificationUri} and enter the code ${device.userCode}`);
      if (!json && process.stderr.isTTY) openInBrowser(device.verificationUriComplete);
      const key = await waitForKey(registry, device);
      await saveKey(registry, { id: key.id, key: key.secret, expiresAt: key.expiresAt });
      const until = key.expiresAt?.slice(0, 10) ?? 'you revoke it';
      if (json) return printJson({ registry, key: key.id, expiresAt: key.expiresAt, file: savedFile() });
      print(`Logged in to ${registry} until ${until}. The key ${key.id} is in ${savedFile()}.`);
    });
}

/** `stele logout`: revokes that key, and forgets it. */
export function logoutCommand(): Command {
  return new Command('logout')
    .description('Revoke the key that `stele login` got, and forget it.')
    .option('--registry <url>', 'URL of the registry')
    .action(async (_options: unknown, command: Command) => {
      const { registry: given, json } = command.optsWithGlobals<LoginOptions>();
      const registry = requireRegistry(given);
      const saved = savedKeyOf(registry);
      if (saved === undefined) throw notFound(`You are not logged in to ${registry}.`);
      const answer = await askRegistry(registry, 'DELETE', `/v1/me/keys/${saved.id}`, { key: saved.key });
      // One that is expired or revoked already is 401.
      if (answer.status !== 401) bodyIn(answer);
      await saveKey(registry, null);
      if (json) return printJson({ registry, revoked: saved.id });
      print(`Logged out of ${registry}. The key ${saved.id} is revoked.`);
    });
}

async function waitForKey(
  registry: string,
  { deviceCode, interval }: Schemas['DeviceAnswer'],
): Promise<Schemas['CreatedKey']> {
  for (;;) {
    await delay(interval * 1000);
    const answer = await askRegistry(registry, 'POST', '/v1/devices/token', { key: null, body: { deviceCode } });
    const body = bodyIn(answer);
    if (answer.status === 201) return body as Schemas['CreatedKey'];
    if (body['state'] === 'refused') throw forbidden('You refused. Nothing was saved.');
  }
}
