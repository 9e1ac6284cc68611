import { fileURLToPath } from 'node:url';
import { watch } from 'chokidar';
import type { Config } from '../config.ts';
import type { Log } from '../registry/registry.ts';
import { assertSecretKey } from '../registry/seal.ts';
import type { Dev } from '../server/dev.ts';
import type { Server } from '../server/server.ts';

/** Milliseconds for which nothing more may change before something is done: editors write a file in several steps. */
const settled = 100;

/** What Stele's own pages are made of. */
const ours = ['../../templates', '../../content'].map((path) => fileURLToPath(new URL(path, import.meta.url)));

/** What is served, and how it came to be configured so. */
export interface Served {
  server: Server;
  dev: Dev;
  /** The file of the configuration; null: there is none. */
  file: string | null;
  config: Config;
  /** The configuration as it is said now. */
  configure(): Promise<Config>;
  log: Log;
}

/** What is watched, until it is closed. */
export interface Followed {
  /** Resolves with another configuration, once there is a valid one. */
  configuration: Promise<Config>;
  close(): Promise<void>;
}

/**
 * For `stele serve --dev`: open pages load again when a template or the documentation changes, Stele's own or the operator's; a changed
 * configuration is checked, and what is wrong with it told.
 */
export async function followChanges({ server, dev, file, config, configure, log }: Served): Promise<Followed> {
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
    try {
      const next = await configure();
      assertSecretKey({ config: next });
      if (JSON.stringify(next) === JSON.stringify(config)) return;
      log('info', 'configuration changed');
      another.resolve(next);
    } catch (error) {
      log('warn', 'configuration is as before', { detail: messageOf(error) });
    }
  }

  const recheck = () => void check();
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
