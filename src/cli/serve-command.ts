import { resolve } from 'node:path';
import { Command, Option } from 'commander';
import { isLocalUrl, organizationIn, readEnvironment, type Config } from '../config.ts';
import { isSlug } from '../model/address.ts';
import { RegistryError } from '../model/errors.ts';
import { configFile, readConfig, type CommonOptions } from './command-context.ts';
import { describeCommands, programOf } from './describe-commands.ts';
import { print, printJson } from './output.ts';

interface ServeOptions {
  org: string;
  private?: boolean;
  strict?: boolean;
  branch?: string;
  port: string;
  host: string;
  dev?: boolean;
}

/** `stele serve [repository…]`: runs the registry until a signal stops it. */
export function serveCommand(): Command {
  return new Command('serve')
    .description('Run the registry. Follow the given repositories and publish their documents.')
    .argument('[repository...]', 'URL or folder of a git repository to follow')
    .option('--org <name>', 'organization to publish the repositories to', 'local')
    .option('--branch <name>', "branch to follow (default: the repository's HEAD)")
    .option('--private', 'publish as private: only members can read')
    .option('--strict', 'reject documents that violate their specification, instead of warning')
    .addOption(
      new Option('--port <number>', 'port to listen on; 0 picks a free port').default(
        readEnvironment().port ?? '7700',
        'PORT, else 7700',
      ),
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--dev', 'reload pages when templates, documentation or configuration change')
    .action(async (repositories: string[], options: ServeOptions, command: Command) => {
      const configure = async (edition: string) =>
        addRepositories(await readConfig(command, edition), repositories, options);
      const { serve } = await import('./serve.ts');
      const commands = describeCommands(programOf(command));
      const { dev: isDev = false } = options;
      const announce = announcer(command.optsWithGlobals<CommonOptions>().json ?? false);
      await serve({ configure, file: configFile(command), repositories, commands, isDev, announce }, options);
    });
}

/** Adds the repositories of the command line; by default public and lenient (design §6, §12). */
function addRepositories(config: Config, repositories: readonly string[], options: ServeOptions): Config {
  if (!isSlug(options.org))
    throw new RegistryError('malformed', `${JSON.stringify(options.org)} is not a valid organization name.`);
  if (repositories.length === 0) return config;
  const organization = organizationIn(config, options.org) ?? { repositories: [], owners: [], defaults: {} };
  const added = repositories.map((url) => ({
    url: isLocalUrl(url) ? resolve(url) : url,
    visibility: options.private ? ('private' as const) : ('public' as const),
    validation: options.strict ? ('strict' as const) : ('lenient' as const),
    ...(options.branch !== undefined && { branch: options.branch }),
  }));
  const next = { ...organization, repositories: [...organization.repositories, ...added] };
  return { ...config, organizations: { ...config.organizations, [options.org]: next } };
}

/** Announces the URL; as JSON only once, since the port stays the same after a reload. */
function announcer(json: boolean): (url: string) => void {
  let announced = false;
  return (url) => {
    if (!json) print(`stele listening on ${url}`);
    else if (!announced) printJson({ url });
    announced = true;
  };
}
