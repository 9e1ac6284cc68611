import { Command } from 'commander';
import { RegistryError } from '../../model/errors.ts';
import { readConfig, withStore, type CommonOptions } from '../command-context.ts';
import { complain, print, printJson } from '../output.ts';

/** `stele operator link`: what `stele serve` prints when it starts, for whoever has the data folder. */
export function operatorCommand(): Command {
  const operator = new Command('operator').description('What whoever runs a registry needs.');
  operator
    .command('link')
    .description('Print a new link that signs in the operator, once, within a day.')
    .option('--registry <url>', 'address at which the server runs (default: `url` of the configuration)')
    .action(async (_options: unknown, command: Command) => {
      const { registry: given, json } = command.optsWithGlobals<CommonOptions & { registry?: string }>();
      const { url: configured, login } = await readConfig(command);
      if (login !== null)
        throw new RegistryError('malformed', 'People sign in with the identity provider here. Sign in there.');
      const url = (configured ?? given)?.replace(/\/$/, '');
      if (url === undefined)
        throw new RegistryError(
          'malformed',
          'At which address does it run? Use --registry http://127.0.0.1:7700, as `stele serve` printed it.',
        );
      const { signInLink } = await import('../../server/login/local-login.ts');
      const link = await withStore(command, async (registry) => url + signInLink(registry, url));
      if (json) return printJson({ link });
      print(link);
      complain('Whoever opens it first is the operator. It works for a day.');
    });
  return operator;
}
