import { fileURLToPath } from 'node:url';
import { watch } from 'chokidar';
import type { Config } from '../../config.ts';
import type { Log } from '../../registry/registry.ts';
import { assertSecretKey } from '../../registry/seal.ts';
import type { Dev } from '../../server/dev.ts';
import { type Server, openServer } from '../../open-server.ts';
import { dirname, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { readWorkerPlace } from '../../config/environment.ts';
import { isLocalUrl } from '../../config/organization-config.ts';
import { keepLog } from '../../registry/transparency/public-log.ts';
import { openDeliveries } from '../../events/deliveries.ts';
import { isRegistryError, malformed, unreachable } from '../../model/errors.ts';
import { openRegistry, type OpenRegistry } from '../../open.ts';
import { createPulls } from '../../pulls/pulls.ts';
import { openFollower } from '../../sites/registry/publish-site.ts';
import { openReplays } from '../../registry/estate/replay-estate.ts';
import { openExpiry, openCollector } from '../../registry/maintenance/gc.ts';
import { openFolders } from '../../registry/maintenance/open-folders.ts';
import type { Peers } from '../../server/allowance.ts';
import { openRenderAhead } from '../../site/render-ahead.ts';
import { gitDirectory } from '../../source/folder.ts';
import { createSyncQueue, type SyncQueue } from '../../sync/queue.ts';
import { openReconciler } from '../../sync/reconcile.ts';
import { outliveReader, outliveBugs, stopSignals } from '../process-end.ts';
import { joinWorkers } from './workers.ts';
import { setFlagsFromString } from 'node:v8';

/** Debounce time in milliseconds: editors write a file in several steps. */
const settled = 100;

const ours = ['../../../templates', '../../../content'].map((path) => fileURLToPath(new URL(path, import.meta.url)));

/** A running server and its configuration. */
export interface Served {
  server: Server;
  dev: Dev;
  /** The configuration file, or null. */
  file: string | null;
  config: Config;
  /** Loads the configuration again. */
  configure(): Promise<Config>;
  log: Log;
}

/** Running watchers. */
export interface Followed {
  /** Resolves to the new configuration once it has changed and is valid. */
  configuration: Promise<Config>;
  close(): Promise<void>;
}

/**
 * For `stele serve --dev`: reloads open pages when a template or the documentation changes, and
 * checks a changed configuration. An error in it is logged and the old configuration stays.
 */
async function followChanges({ server, dev, file, config, configure, log }: Served): Promise<Followed> {
  const another = Promise.withResolvers<Config>();
  const timers = new Map<() => void, NodeJS.Timeout>();

  function later(act: () => void): void {
    clearTimeout(timers.get(act));
    timers.set(act, setTimeout(act, settled));
  }

  function reload(): void {
    try {
      server.reload();
      log('info', 'pages changed');
    } catch (error) {
      log('warn', 'pages are as before', { detail: messageOf(error) });
    }
    dev.changed();
  }

  async function check(): Promise<void> {
    const next = await configure();
    assertSecretKey({ config: next });
    if (JSON.stringify(next) === JSON.stringify(config)) return;
    log('info', 'configuration changed');
    another.resolve(next);
  }

  const recheck = (): void => {
    check().catch((error: unknown) => log('warn', 'configuration is as before', { detail: messageOf(error) }));
  };
  const pages = watch([...ours, ...(config.templates === null ? [] : [config.templates])], { ignoreInitial: true });
  pages.on('all', () => later(reload));
  const settings = watch(file ?? [], { ignoreInitial: true }).on('all', () => later(recheck));
  const watchers = [pages, settings];
  await Promise.all(watchers.map((watcher) => new Promise<void>((ready) => watcher.once('ready', ready))));
  return {
    configuration: another.promise,
    async close() {
      await Promise.all(watchers.map((watcher) => watcher.close()));
      for (const timer of timers.values()) clearTimeout(timer);
      dev.close();
    },
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** What the command line asks for. */
export interface ServeOptions {
  /**
   * Loads the configuration with the command line's additions. `edition` is that of `loadConfig`.
   */
  configure(edition: string): Promise<Config>;
  file: string | null;
  repositories: readonly string[];
  isDev: boolean;
  /** Whether another process follows repositories, delivers events and deletes what expired. */
  isAnswerOnly: boolean;
  /** Prints the URL once the server listens, and one that signs in. */
  announce(url: string, signIn?: string | null): void;
}

/** Runs the registry until a signal stops it. */
export async function serve(asked: ServeOptions, { port, host }: { port: string; host: string }): Promise<void> {
  outliveReader();
  collectLater();
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65535)
    throw malformed(`${JSON.stringify(port)} is not a port. Use 0 to 65535.`);
  const configure = async (edition: string) => withOwnMetrics(await asked.configure(edition), readWorkerPlace());
  const first = await configure('');
  const worker = joinWorkers();
  const stopped = worker?.stopped ?? untilStopped();
  const announce = worker?.announce ?? asked.announce;
  const address = { port: Number(port), host };
  try {
    for (let config: Config | null = first; config !== null;)
      config = await serveOnce(config, { ...asked, configure, announce }, { address, stopped, peers: worker?.peers });
  } finally {
    worker?.leave();
  }
}

/** Each worker has figures of its own, at the port after that of the one before. */
function withOwnMetrics(config: Config, place: number): Config {
  const { metrics } = config;
  return metrics === null ? config : { ...config, metrics: { ...metrics, port: metrics.port + place } };
}

interface Place {
  address: { port: number; host: string };
  stopped: Promise<null>;
  peers: Peers | undefined;
}

/**
 * Serves until stopped and returns null; with `--dev` also until the configuration changes, and
 * returns the new one.
 */
async function serveOnce(config: Config, asked: ServeOptions, place: Place): Promise<Config | null> {
  assertSecretKey({ config });
  const { isDev } = asked;
  // In development, pages must always be current.
  const current = isDev ? { ...config, cache: { ...config.cache, latest: 0 } } : config;
  const registry = await openRegistry(current, undefined, { hasSpare: !isDev });
  const leave = outliveBugs(registry.log);
  try {
    return await serveRegistry(registry, config, asked, place);
  } finally {
    leave();
  }
}

async function serveRegistry(
  registry: OpenRegistry,
  config: Config,
  { configure, file, repositories, isDev, isAnswerOnly, announce }: ServeOptions,
  { address, stopped, peers }: Place,
): Promise<Config | null> {
  if (config.secretKey === null) registry.ownKey.make();
  for (const url of repositories.filter(isLocalUrl)) await assertRepository(registry, resolve(url));
  const queue = createSyncQueue(registry, createPulls);
  const dev = isDev ? (await import('../../server/dev.ts')).createDev() : null;
  // Opens the logs of all organizations and starts a sandbox, which first readers would wait for. Damage is logged, and
  // `/readyz` tells of it. A store that does not answer says so elsewhere.
  const warm = Promise.allSettled([registry.refs.examine(), !isDev && registry.prepare()]);
  const ahead = openRenderAhead(registry);
  let server: Server | null = null;
  let background: Awaited<ReturnType<typeof openBackground>> | null = null;
  let changes: Awaited<ReturnType<typeof followChanges>> | null = null;
  try {
    server = await openServer(registry, queue, { ...address, dev, peers, warm });
    // Keep the port that 0 picked when the configuration is reloaded.
    address.port = Number(new URL(server.url).port);
    if (!isAnswerOnly) background = await openBackground(registry, queue, config.url ?? server.url);
    const now = () => configure(`${Date.now()}`);
    changes = dev && (await followChanges({ server, dev, file, config, configure: now, log: registry.log }));
    for (const folder of await openFolders(config))
      registry.log('warn', 'folder is open to others', { folder, mend: 'chmod -R go= <folder>' });
    await logIsolation(registry);
    announce(server.url, server.signInUrl());
    const next = await Promise.race(changes === null ? [stopped] : [stopped, changes.configuration]);
    if (dev === null) {
      server.drain();
      await delay(config.drain * 1000);
    }
    return next;
  } finally {
    // Also after a start that failed: a server that is half there would answer, and heed no signal.
    await changes?.close();
    // Browsers keep idle connections open; do not wait long for them in development.
    await server?.close(dev === null ? undefined : 500);
    await background?.close();
    await queue.close();
    const rendered = ahead.close();
    await background?.end();
    await registry.close();
    await rendered;
  }
}

/** Work beside the server. Call `close` before the queue closes, and `end` after that. */
async function openBackground(registry: OpenRegistry, queue: SyncQueue, url: string) {
  const parts = [openDeliveries(registry, url), openFollower(registry), openCollector(registry), openExpiry(registry)];
  const end = async (): Promise<void> => {
    for (const part of parts) await part?.close();
  };
  try {
    parts.push(await keepLog(registry));
    const reconciler = await openReconciler(registry, queue);
    const replays = openReplays(registry);
    return { close: async () => void (await Promise.all([reconciler.close(), replays.close()])), end };
  } catch (error) {
    await end();
    throw error;
  }
}

/** Logs how documents are isolated; as a warning if the isolation is weaker than it could be. */
async function logIsolation({ config, isolation, log }: OpenRegistry): Promise<void> {
  const { kind, ...rest } = await isolation();
  log(kind === 'node' && config.sandbox !== 'node' ? 'warn' : 'info', 'sandbox', { kind, ...rest });
}

/**
 * Throws `unreachable` for a folder that is not a repository, before it is recorded as followed.
 */
async function assertRepository({ source }: OpenRegistry, folder: string): Promise<void> {
  await source.tip({ url: folder, ref: 'HEAD', credential: null }).catch((error: unknown) => {
    const around = isRegistryError(error, 'unreachable') ? repositoryAround(dirname(folder)) : null;
    if (around === null) throw error;
    const advice = `It is inside the repository ${around}. Pass that repository, or set \`path\` in registry.config.ts to follow only this folder.`;
    throw unreachable(`${folder} is not a git repository. ${advice}`, { cause: error });
  });
}

function repositoryAround(folder: string): string | null {
  if (gitDirectory(folder) !== null) return folder;
  return dirname(folder) === folder ? null : repositoryAround(dirname(folder));
}

/** Resolves on SIGTERM, SIGINT or SIGHUP. A second signal ends the process at once. */
function untilStopped(): Promise<null> {
  return new Promise((settle) => {
    const stop = () => {
      for (const signal of stopSignals) process.off(signal, stop);
      settle(null);
    };
    for (const signal of stopSignals) process.on(signal, stop);
  });
}

/**
 * Lets V8 start full garbage collections when 20 % of the heap's room to grow is left, without
 * delay at 10 %. By default it starts when the rest cannot take a whole young generation. For a
 * heap of 40 MB that is half of it, and a large document's buffers use it up: one upload after the
 * other stopped all requests for a collection. Limits and their growth stay V8's.
 */
function collectLater(): void {
  setFlagsFromString('--incremental-marking-soft-trigger=20');
  setFlagsFromString('--incremental-marking-hard-trigger=10');
}
