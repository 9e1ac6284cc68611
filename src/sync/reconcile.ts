import { watch, type FSWatcher } from 'chokidar';
import { setTimeout as delay } from 'node:timers/promises';
import { repositoryId, type Repository, type Trigger } from '../model/connection.ts';
import { isRegistryError } from '../model/errors.ts';
import { followRejected } from './follow-rejected.ts';
import { follow, hasLeftConfiguration, normalizeFolder, versionsOf } from './follow.ts';
import { listRepositories, readRepositories } from './followed.ts';
import { leave } from './owners/leave.ts';
import { defaultsOf } from '../registry/gate/policy.ts';
import { missingDefaults } from '../registry/gate/ruleset-gate.ts';
import type { Registry } from '../registry/registry.ts';
import type { Requested, SyncQueue } from './queue.ts';
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

  /** Resolves when all have been looked at. An error in one repository does not stop the others. */
  async function lookAtAll(): Promise<void> {
    const repositories = await listRepositories(registry);
    await Promise.all(repositories.map(async (repository) => (await lookAt(repository, 'start'))?.done));
    askHosts(repositories.filter(({ gone }) => !gone));
  }

  /** Requests a look, and does not wait for it. Null: it cannot be requested. */
  async function lookAt(repository: Repository, trigger: Trigger): Promise<Requested | null> {
    const id = repositoryId(repository.url, repository.branch);
    if (!repository.gone) tryWatch(repository, id);
    return queue.request(repository.org, id, trigger).catch((error: unknown) => {
      logError(registry, error, repository);
      return null;
    });
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

  const pause = (milliseconds: number) =>
    delay(milliseconds, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);

  /** Looks at each repository once in an interval, one after the other, so that nobody's server gets all at once. */
  async function keepLooking(): Promise<void> {
    const interval = registry.config.sync.interval * 1000;
    if (interval > 0) await pause(interval);
    while (interval > 0 && !stop.signal.aborted) {
      const names = (await Array.fromAsync(registry.refs.list('repositories/'))).toSorted(byId);
      const atOnce = Math.ceil((names.length * shortestStep) / interval);
      const found: Repository[] = [];
      for (let from = 0; from < names.length && !stop.signal.aborted; from += atOnce) {
        const some = await readRepositories(registry, names.slice(from, from + atOnce));
        await Promise.all(some.map((repository) => lookAt(repository, 'timer')));
        found.push(...some);
        await pause(interval / Math.ceil(names.length / atOnce));
      }
      if (!stop.signal.aborted) askHosts(found.filter(({ gone }) => !gone));
      if (names.length === 0) await pause(interval);
    }
  }

  async function lookAtOwners(): Promise<void> {
    const failed = await queue.owners.lookAll((org, id) => queue.request(org, id, 'start'));
    await Promise.all(failed.map(({ done }) => done));
  }

  const first = Promise.all([lookAtAll(), lookAtOwners()]).then(() => undefined);
  // Not before: a repository may bring the ruleset.
  const started = first.then(() => tellMissingDefaults(registry)).catch((error: unknown) => logError(registry, error));
  // A repository that hangs at the start must not delay the timer for the others.
  const looking = keepLooking().catch((error: unknown) => logError(registry, error));
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

/** Milliseconds between two looks by the timer, at least: more repositories are looked at at once. */
const shortestStep = 100;

/** An order of records that mixes organizations and hosts: ids are hashes. */
function byId(one: string, other: string): number {
  const [a, b] = [one, other].map((name) => name.slice(name.lastIndexOf('/')));
  return a! < b! ? -1 : 1;
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

async function tellMissingDefaults(registry: Registry): Promise<void> {
  for (const missing of await missingDefaults(registry))
    registry.log('warn', 'default ruleset does not exist', { ...missing });
}

function logError(registry: Registry, error: unknown, about?: Pick<Repository, 'org' | 'url'>): void {
  const named = about && { org: about.org, repository: about.url };
  registry.log('warn', 'reconciliation', { ...named, error: error instanceof Error ? error.message : String(error) });
}
