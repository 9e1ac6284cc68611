import { watch, type FSWatcher } from 'chokidar';
import { setTimeout as delay } from 'node:timers/promises';
import { repositoryId, repositoryRef, type Repository, type Trigger } from '../model/connection.ts';
import { isRegistryError } from '../model/errors.ts';
import type { RepositoryConfig } from '../config.ts';
import { listRepositories } from './followed.ts';
import type { Registry } from '../registry/registry.ts';
import type { SyncQueue } from './queue.ts';
import { closeAbandonedRuns } from './runs.ts';

/** Keeps the registry following its repositories until it is closed. */
export interface Reconciler {
  /** Resolves when every repository was looked at once since the start. */
  first: Promise<void>;
  close(): Promise<void>;
}

/**
 * Reconciliation is the truth (design §10): at the start, by a timer, and, for local repositories, on every push that the file system
 * tells of. Hooks and manual syncs use the same queue.
 */
export async function openReconciler(registry: Registry, queue: SyncQueue): Promise<Reconciler> {
  await followConfigured(registry);
  for (const org of await organizationsFollowing(registry)) await closeAbandonedRuns(registry, org);
  const stop = new AbortController();
  const watchers = new Map<string, FSWatcher>();

  async function lookAtAll(trigger: Trigger): Promise<void> {
    const repositories = await listRepositories(registry);
    const looks = repositories.map(async (repository) => {
      const id = repositoryId(repository.url, repository.branch);
      watchLocal(registry, queue, watchers, repository, id);
      const { done } = await queue.request(repository.org, id, trigger);
      // A slow repository keeps nobody else from being looked at when it is time.
      if (trigger === 'start') await done;
    });
    // What is wrong with one repository does not keep the others.
    await Promise.all(looks.map((look) => look.catch((error: unknown) => tell(registry, error))));
    askHosts(repositories);
  }

  let asking: Promise<void> | null = null;
  /** In the background, once at a time: a host that does not answer keeps nobody from being looked at, nor the process from its end. */
  function askHosts(repositories: readonly Repository[]): void {
    asking ??= queue
      .reconcileHosts(repositories)
      .catch((error: unknown) => tell(registry, error))
      .finally(() => (asking = null));
  }

  async function keepLooking(): Promise<void> {
    while (registry.config.sync.interval > 0 && !stop.signal.aborted) {
      await delay(registry.config.sync.interval * 1000, undefined, { signal: stop.signal, ref: false }).catch(
        () => undefined,
      );
      if (!stop.signal.aborted) await lookAtAll('timer').catch((error: unknown) => tell(registry, error));
    }
  }

  const first = lookAtAll('start');
  const looking = first.catch((error: unknown) => tell(registry, error)).then(keepLooking);
  return {
    first,
    async close() {
      stop.abort();
      await Promise.all([...watchers.values()].map((watcher) => watcher.close()));
      await looking;
    },
  };
}

/** Makes a record of every repository that the configuration names, or brings it up to date. */
export async function followConfigured(registry: Registry): Promise<void> {
  for (const [org, { repositories, defaults }] of Object.entries(registry.config.organizations)) {
    for (const repository of repositories) {
      const given = {
        url: repository.url,
        branch: repository.branch ?? null,
        credential: repository.credential ?? null,
        discover: normalizeFolder(repository),
        visibility: repository.visibility ?? defaults.visibility ?? 'private',
        validation: repository.validation ?? defaults.validation ?? 'strict',
      };
      await follow(registry, org, given).catch((error: unknown) => {
        if (!isRegistryError(error, 'corrupt')) throw error;
        tell(registry, error);
      });
    }
  }
}

function normalizeFolder({ path }: RepositoryConfig): string {
  return (path ?? '').replace(/^(?:\.?\/)+|\/+$/g, '').replace(/^\.$/, '');
}

/** Starts to follow a repository and branch, or changes how. What was synced from it is kept. */
export async function follow(
  registry: Registry,
  org: string,
  given: Pick<Repository, 'url' | 'branch' | 'credential' | 'discover' | 'visibility' | 'validation'>,
): Promise<string> {
  const id = repositoryId(given.url, given.branch);
  await registry.refs.update<Repository>(repositoryRef(org, id), (current) => {
    const fresh = { org, state: 'new', detail: null, commit: null, syncedAt: null, documents: {}, tags: {} } as const;
    const value: Repository = { ...fresh, ...current?.value, ...given };
    // A folder looked in for the first time, or another one: the commit has to be read again.
    if (current && current.value.discover !== given.discover) value.commit = null;
    if (current && JSON.stringify(value) === JSON.stringify(current.value)) return null;
    return { value, change: { actor: 'operator:configuration', origin: null, action: 'follow' } };
  });
  return id;
}

async function organizationsFollowing(registry: Registry): Promise<string[]> {
  return [...new Set((await listRepositories(registry)).map(({ org }) => org))];
}

/** Asks for a sync when a local repository's refs change. A push writes several files within milliseconds: one look is enough. */
function watchLocal(
  registry: Registry,
  queue: SyncQueue,
  watchers: Map<string, FSWatcher>,
  repository: Repository,
  id: string,
): void {
  const folder = registry.source.watchable({ url: repository.url, ref: 'HEAD', credential: null });
  const key = `${repository.org}/${id}`;
  if (folder === null || watchers.has(key)) return;
  let isDue = false;
  const look = () => {
    if (isDue) return;
    isDue = true;
    setTimeout(() => {
      isDue = false;
      queue.request(repository.org, id, 'watch').catch((error: unknown) => tell(registry, error));
    }, 100);
  };
  const paths = ['refs', 'HEAD', 'packed-refs'].map((name) => `${folder}/${name}`);
  watchers.set(
    key,
    watch(paths, { ignoreInitial: true, followSymlinks: false, ignored: (path) => path.endsWith('.lock') }).on(
      'all',
      look,
    ),
  );
}

function tell(registry: Registry, error: unknown): void {
  registry.log('warn', 'reconciliation', { error: error instanceof Error ? error.message : String(error) });
}
