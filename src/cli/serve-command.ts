import { dirname, resolve } from 'node:path';
import { Command, Option } from 'commander';
import { isLocalUrl, organizationIn, readEnvironment, type Config } from '../config.ts';
import { isSlug } from '../model/address.ts';
import { isRegistryError, RegistryError } from '../model/errors.ts';
import { openRegistry, type OpenRegistry } from '../open.ts';
import { openPurger } from '../events/purge-caches.ts';
import { openDeliveries } from '../events/deliveries.ts';
import { createPulls } from '../pulls/pulls.ts';
import { createSyncQueue } from '../sync/queue.ts';
import { openReconciler } from '../sync/reconcile.ts';
import { assertSecretKey } from '../registry/seal.ts';
import type { CommandText } from '../site/docs/docs-commands.ts';
import { isOpenToOthers } from '../store/private.ts';
import { gitDirectory } from '../source/local.ts';
import { configFile, readConfig, type CommonOptions } from './command-context.ts';
import { outliveReader } from './broken-pipe.ts';
import { describeCommands, programOf } from './describe-commands.ts';
import { followChanges } from './follow-changes.ts';
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

/** `stele serve [repository…]`: runs the registry until it is told to stop. */
export function serveCommand(): Command {
  return new Command('serve')
    .description('Run the registry; the repositories named here are followed and their documents published.')
    .argument('[repository...]', 'URL or folder of a git repository')
    .option('--org <name>', 'organization that the repositories are published to', 'local')
    .option('--branch <name>', "branch to follow (default: the repository's HEAD)")
    .option('--private', 'publish to members only')
    .option('--strict', 'refuse documents that their specification refuses, rather than warn')
    .addOption(
      new Option('--port <number>', 'port to listen on; 0 picks one').default(
        readEnvironment().port ?? '7700',
        'PORT, else 7700',
      ),
    )
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--dev', 'read templates, documentation and configuration again when they change, and reload open pages')
    .action(async (repositories: string[], options: ServeOptions, command: Command) => {
      const configure = async (edition: string) =>
        addRepositories(await readConfig(command, edition), repositories, options);
      const commands = describeCommands(programOf(command));
      const { dev: isDev = false } = options;
      const announce = announcer(command.optsWithGlobals<CommonOptions>().json ?? false);
      await serve({ configure, file: configFile(command), repositories, commands, isDev, announce }, options);
    });
}

/** The configuration with the repositories of the command line in it. Public and lenient, unless told otherwise (design §6, §12). */
function addRepositories(config: Config, repositories: readonly string[], options: ServeOptions): Config {
  if (!isSlug(options.org))
    throw new RegistryError('malformed', `${JSON.stringify(options.org)} cannot be an organization's name.`);
  if (repositories.length === 0) return config;
  const organization = organizationIn(config, options.org) ?? { repositories: [], defaults: {} };
  const added = repositories.map((url) => ({
    url: isLocalUrl(url) ? resolve(url) : url,
    visibility: options.private ? ('private' as const) : ('public' as const),
    validation: options.strict ? ('strict' as const) : ('lenient' as const),
    ...(options.branch !== undefined && { branch: options.branch }),
  }));
  const next = { ...organization, repositories: [...organization.repositories, ...added] };
  return { ...config, organizations: { ...config.organizations, [options.org]: next } };
}

/** As JSON once, however often a changed configuration has it listen again: the port stays. */
function announcer(json: boolean): (url: string) => void {
  let announced = false;
  return (url) => {
    if (!json) print(`stele listening on ${url}`);
    else if (!announced) printJson({ url });
    announced = true;
  };
}

/** What the command line says. */
interface Asked {
  /** The configuration with what the command line adds; `edition` as `loadConfig` has it. */
  configure(edition: string): Promise<Config>;
  file: string | null;
  repositories: readonly string[];
  commands: readonly CommandText[];
  isDev: boolean;
  /** Says that it listens. */
  announce(url: string): void;
}

async function serve(asked: Asked, { port, host }: ServeOptions): Promise<void> {
  outliveReader();
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65535)
    throw new RegistryError('malformed', `${JSON.stringify(port)} is no port.`);
  const first = await asked.configure('');
  const stopped = untilStopped();
  const address = { port: Number(port), host };
  for (let config: Config | null = first; config !== null;) config = await serveOnce(config, asked, address, stopped);
}

/** Serves until it is told to stop: null. In development also until there is another configuration, which is the answer then. */
async function serveOnce(
  config: Config,
  { configure, file, repositories, commands, isDev, announce }: Asked,
  address: { port: number; host: string },
  stopped: Promise<null>,
): Promise<Config | null> {
  assertSecretKey({ config });
  // What changes under somebody's hands is asked for each time.
  const registry = await openRegistry(
    isDev ? { ...config, cache: { ...config.cache, latest: 0 } } : config,
    undefined,
    { hasSpare: !isDev },
  );
  if (config.secretKey === null) registry.ownKey!.make();
  for (const url of repositories.filter(isLocalUrl)) await assertRepository(registry, resolve(url));
  const queue = createSyncQueue(registry, createPulls);
  // The other commands are spared the time that loading a server takes.
  const { openServer } = await import('../server/server.ts');
  const dev = isDev ? (await import('../server/dev.ts')).createDev() : null;
  const server = await openServer(registry, queue, { ...address, commands, dev });
  // Who picked a port keeps it.
  address.port = Number(new URL(server.url).port);
  const deliveries = openDeliveries(registry, config.url ?? server.url);
  const purger = openPurger(registry);
  const reconciler = await openReconciler(registry, queue);
  const now = () => configure(`${Date.now()}`);
  const changes = dev && (await followChanges({ server, dev, file, config, configure: now, log: registry.log }));
  await warnOfOpenFolders(registry);
  await logIsolation(registry);
  announce(server.url);
  const next = await Promise.race(changes === null ? [stopped] : [stopped, changes.configuration]);
  await changes?.close();
  // Browsers keep connections that they have not used yet; nobody who develops waits for those.
  await server.close(dev === null ? undefined : 500);
  await reconciler.close();
  await queue.close();
  await deliveries.close();
  await purger?.close();
  await registry.close();
  return next;
}

/** Others on this machine can read private documents in a folder that an older version made, or `mkdir` with the usual umask. */
async function warnOfOpenFolders({ config, log }: OpenRegistry): Promise<void> {
  const folders = new Set([config.store.path, dirname(config.cacheFolder), config.cacheFolder]);
  for (const folder of folders) {
    if (await isOpenToOthers(folder))
      log('warn', 'folder is open to others', { folder, mend: 'chmod -R go= <folder>' });
  }
}

/** Says what documents are parsed in; a warning where it could be more. */
async function logIsolation({ config, isolation, log }: OpenRegistry): Promise<void> {
  const { kind, ...rest } = await isolation();
  log(kind === 'node' && config.sandbox !== 'node' ? 'warn' : 'info', 'sandbox', { kind, ...rest });
}

/** Refuses a folder of the command line that is no repository, before it is written down as followed. */
async function assertRepository({ source }: OpenRegistry, folder: string): Promise<void> {
  await source.tip({ url: folder, ref: 'HEAD', credential: null }).catch((error: unknown) => {
    const around = isRegistryError(error, 'unreachable') ? repositoryAround(dirname(folder)) : null;
    if (around === null) throw error;
    const advice = `It is in the repository ${around}: name that, or follow this folder of it with \`path\` in registry.config.ts.`;
    throw new RegistryError('unreachable', `${folder} is not a git repository. ${advice}`, { cause: error });
  });
}

function repositoryAround(folder: string): string | null {
  if (gitDirectory(folder) !== null) return folder;
  return dirname(folder) === folder ? null : repositoryAround(dirname(folder));
}

const stopSignals = ['SIGTERM', 'SIGINT', 'SIGHUP'] as const;

/** Resolves on SIGTERM, SIGINT or SIGHUP. A second one ends the process at once, as everybody expects. */
function untilStopped(): Promise<null> {
  return new Promise((settle) => {
    const stop = () => {
      for (const signal of stopSignals) process.off(signal, stop);
      settle(null);
    };
    for (const signal of stopSignals) process.on(signal, stop);
  });
}
