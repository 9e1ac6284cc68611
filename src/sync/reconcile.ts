import { watch, type FSWatcher } from 'chokidar';
import { setTimeout as delay } from 'node:timers/promises';
import { repositoryId, type Repository, type Trigger } from '../model/connection.ts';
import { isRegistryError } from '../model/errors.ts';
import { followRejected } from './follow-rejected.ts';
import { follow, hasLeftConfiguration, normalizeFolder, versionsOf } from './follow.ts';
import { listRepositories } from './followed.ts';
import { leave } from './owners/leave.ts';
import { defaultsOf } from '../registry/gate/organization-defaults.ts';
import type { Registry } from '../registry/registry.ts';
import type { SyncQueue } from './queue.ts';
import { closeAbandonedRuns } from './runs.ts';

/** Keeps the registry in step with its repositories until it is closed. */
export interface Reconciler {
  /** Resolves when every repository was synced once since the start. */
  first: Promise<void>;
  close(): Promise<void>;
}

/**
 * Starts reconciliation, which everything relies on (design §10): every repository is synced at the
 * start and by a timer, and local repositories also when the file system reports a push. Hooks and
 * manual syncs use the same queue.
 */
export async function openReconciler(registry: Registry, queue: SyncQueue): Promise<Reconciler> {
  await followConfigured(registry);
  await leaveUnconfigured(registry);
  for (const org of await organizationsFollowing(registry)) await closeAbandonedRuns(registry, org);
  const stop = new AbortController();
  const watchers = new Map<string, FSWatcher>();

  async function lookAtAll(trigger: Trigger): Promise<void> {
    const repositories = await listRepositories(registry);
    const looks = repositories.map(async (repository) => {
      const id = repositoryId(repository.url, repository.branch);
      if (!repository.gone) tryWatch(repository, id);
      const { done } = await queue.request(repository.org, id, trigger);
      // By the timer, a slow repository must not delay the others.
      if (trigger === 'start') await done;
    });
    // An error in one repository must not stop the others.
    await Promise.all(
      looks.map((look, at) => look.catch((error: unknown) => logError(registry, error, repositories[at]))),
    );
    askHosts(repositories.filter(({ gone }) => !gone));
  }

  /** A folder that cannot be watched is left to the timer, whose sync reports why it cannot be read. */
  function tryWatch(repository: Repository, id: string): void {
    try {
      watchLocal(registry, queue, watchers, repository, id);
    } catch (error) {
      if (!isRegistryError(error)) throw error;
    }
  }

  let asking: Promise<void> | null = null;
  /**
   * Runs in the background, once at a time: a host that does not answer must not delay syncs or the
   * shutdown.
   */
  function askHosts(repositories: readonly Repository[]): void {
    asking ??= Promise.all([queue.reconcileHosts(repositories), queue.owners.lookDue()])
      .then(() => undefined)
      .catch((error: unknown) => logError(registry, error))
      .finally(() => (asking = null));
  }

  async function keepLooking(): Promise<void> {
    while (registry.config.sync.interval > 0 && !stop.signal.aborted) {
      await delay(registry.config.sync.interval * 1000, undefined, { signal: stop.signal, ref: false }).catch(
        () => undefined,
      );
      if (!stop.signal.aborted) await lookAtAll('timer').catch((error: unknown) => logError(registry, error));
    }
  }

  async function lookAtOwners(): Promise<void> {
    const failed = await queue.owners.lookAll((org, id) => queue.request(org, id, 'start'));
    await Promise.all(failed.map(({ done }) => done));
  }

  const first = Promise.all([lookAtAll('start'), lookAtOwners()]).then(() => undefined);
  const started = first.catch((error: unknown) => logError(registry, error));
  // A repository that hangs at the start must not delay the timer for the others.
  const looking = keepLooking();
  const rulesets = followRejected(registry, queue);
  return {
    first,
    async close() {
      stop.abort();
      await rulesets.close();
      await Promise.all([...watchers.values()].map((watcher) => watcher.close()));
      await Promise.all([started, looking]);
    },
  };
}

/** Creates or updates the record of every repository in the configuration. */
export async function followConfigured(registry: Registry): Promise<void> {
  for (const [org, { repositories }] of Object.entries(registry.config.organizations)) {
    const defaults = await defaultsOf(registry, org);
    for (const repository of repositories) {
      const given = {
        url: repository.url,
        branch: repository.branch ?? null,
        credential: repository.credential ?? null,
        discover: normalizeFolder(repository),
        visibility: repository.visibility ?? defaults.visibility ?? 'private',
        validation: repository.validation ?? defaults.validation ?? 'strict',
        versions: versionsOf(repository),
        configured: repository.isArgument ? 'argument' : true,
      } as const;
      await follow(registry, org, given).catch((error: unknown) => {
        if (!isRegistryError(error, 'corrupt')) throw error;
        logError(registry, error, { org, url: repository.url });
      });
    }
  }
}

/**
 * Detaches the repositories that the configuration no longer lists. `sparesArguments`: but those that
 * `stele serve` was given, since its arguments are not known here.
 */
export async function leaveUnconfigured(registry: Registry, { sparesArguments = false } = {}): Promise<void> {
  for (const repository of await listRepositories(registry)) {
    if (!hasLeftConfiguration(registry.config, repository)) continue;
    if (sparesArguments && repository.configured === 'argument') continue;
    const why = 'The repository is no longer in the configuration. Published versions stay.';
    await leave(registry, repository, why).catch((error: unknown) => {
      if (!isRegistryError(error, 'corrupt')) throw error;
      logError(registry, error, repository);
    });
  }
}

async function organizationsFollowing(registry: Registry): Promise<string[]> {
  return [...new Set((await listRepositories(registry)).map(({ org }) => org))];
}

/**
 * Requests a sync when a local repository's refs change. A push writes several files within
 * milliseconds and needs one sync.
 */
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
      queue.request(repository.org, id, 'watch').catch((error: unknown) => logError(registry, error, repository));
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

function logError(registry: Registry, error: unknown, about?: Pick<Repository, 'org' | 'url'>): void {
  const named = about && { org: about.org, repository: about.url };
  registry.log('warn', 'reconciliation', { ...named, error: error instanceof Error ? error.message : String(error) });
}
