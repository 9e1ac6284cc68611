import { fileURLToPath } from 'node:url';
import { watch } from 'chokidar';
import type { Config } from '../../config.ts';
import type { Log } from '../../registry/registry.ts';
import { assertSecretKey } from '../../registry/seal.ts';
import type { Dev } from '../../server/dev.ts';
import type { Server } from '../../open-server.ts';

/** Debounce time in milliseconds: editors write a file in several steps. */
const settled = 100;

/** Stele's own templates and documentation. */
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
