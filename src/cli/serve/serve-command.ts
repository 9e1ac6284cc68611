import { Command, Option } from 'commander';
import type { Config } from '../../config.ts';
import { readEnvironment } from '../../config/environment.ts';
import { plainUrl } from '../../config/organization-config.ts';
import { malformed } from '../../model/errors.ts';
import { assertNoCredential } from '../../model/connection.ts';
import { configFile, readConfig, withRepositories, type CommonOptions } from '../command-context.ts';
import { complain, print, printJson } from '../output.ts';

interface ServeOptions {
  org: string;
  private?: boolean;
  strict?: boolean;
  versions?: 'branch' | 'tags';
  branch?: string;
  port: string;
  host: string;
  dev?: boolean;
  workers: string;
  answerOnly?: boolean;
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
      new Option('--versions <source>', 'what versions are made from: the branch, or release tags if there are any')
        .choices(['branch', 'tags'])
        .default('branch'),
    )
    .addOption(
      new Option('--port <number>', 'port to listen on; 0 picks a free port').default(
        readEnvironment().port ?? '7700',
        'PORT, else 7700',
      ),
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addOption(
      new Option('--workers <number>', 'processes that share the port; one of them also follows repositories').default(
        '1',
      ),
    )
    .option('--answer-only', 'only answer requests; another process follows repositories and delivers events')
    .option('--dev', 'reload pages when templates, documentation or configuration change')
    .action(async (repositories: string[], options: ServeOptions, command: Command) => {
      const announce = announcer(command.optsWithGlobals<CommonOptions>().json ?? false);
      const workers = workersOf(options);
      const { runWorkers, isWorker } = await import('./workers.ts');
      if (workers > 1 && !isWorker) {
        await readConfig(command);
        process.exitCode = await runWorkers(workers, {
          announce,
          onDeath: (pid, how) => complain(`Worker ${pid} ended (${how}). It is started again.`),
        });
        return;
      }
      const configure = async (edition: string) =>
        addRepositories(await readConfig(command, { edition }), repositories, options);
      const { serve } = await import('./serve.ts');
      const { dev: isDev = false, answerOnly: isAnswerOnly = false } = options;
      const file = configFile(command);
      await serve({ configure, file, repositories, isDev, isAnswerOnly, announce }, options);
    });
}

/** Adds the repositories of the command line; by default public and lenient (design §6, §12). */
function addRepositories(config: Config, repositories: readonly string[], options: ServeOptions): Config {
  for (const url of repositories) assertNoCredential(url);
  if (repositories.length === 0) return config;
  const added = repositories.map((url) => ({
    url: plainUrl(url),
    isArgument: true as const,
    visibility: options.private ? ('private' as const) : ('public' as const),
    validation: options.strict ? ('strict' as const) : ('lenient' as const),
    ...(options.branch !== undefined && { branch: options.branch }),
    ...(options.versions !== undefined && { versions: options.versions }),
  }));
  return withRepositories(config, options.org, added);
}

/** The number of processes. Pages that reload need a single one. */
function workersOf({ workers, dev }: ServeOptions): number {
  if (!/^[1-9]\d?$/.test(workers))
    throw malformed(`${JSON.stringify(workers)} is not a number of workers. Use 1 to 99.`);
  if (workers !== '1' && dev) throw malformed('`--dev` works with one process only. Leave out `--workers`.');
  return Number(workers);
}

/** Announces the URL; as JSON only once, since the port stays the same after a reload. */
function announcer(json: boolean): (url: string, signIn?: string | null) => void {
  let announced = false;
  return (url, signIn = null) => {
    if (json && !announced) printJson({ url });
    if (!json) print(`stele listening on ${url}`);
    if (!json && signIn !== null) print(`To sign in as the operator, open this link (it works once): ${signIn}`);
    announced = true;
  };
}
