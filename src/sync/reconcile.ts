import { setTimeout as delay } from 'node:timers/promises';
import { parseDocumentUrl } from '../model/address.ts';
import {
  isRejected,
  isUnpublished,
  repositoryId,
  type DocumentState,
  type Repository,
  type Trigger,
} from '../model/connection.ts';
import { parseResourceRef, resourceRef } from '../model/resource.ts';
import type { Registry } from '../registry/registry.ts';
import { configuredHow, listRepositories, follow, hasLeftConfiguration } from './follow.ts';
import { outdatedDocuments } from './inputs.ts';
import type { SyncQueue, Requested } from './queue.ts';
import { watch, type FSWatcher } from 'chokidar';
import { isRegistryError, onRefusal } from '../model/errors.ts';
import { leave } from './owners/owners.ts';
import { missingDefaults } from '../registry/gate/ruleset-gate.ts';
import { closeAbandonedRuns } from './runs.ts';
import { openRounds } from '../scheduling/waiting.ts';

/** Milliseconds after a change of a record: one commit may change several. */
const soon = 300;

/**
 * Syncs the repositories that have rejected documents when what rejected them changes, until it is
 * closed: a ruleset of their organization, or a resource that a document refers to. At once if this
 * process changed it, and else when it looks for what other processes changed, every `interval`
 * milliseconds.
 */
export function followRejected(registry: Registry, queue: SyncQueue, interval = 15_000): { close(): Promise<void> } {
  /** By organization with rejected documents: when they were read, and the generations of what they wait for. */
  const states = new Map<string, string>();
  /** The records that rejected documents refer to, as far as this process has seen. */
  const awaited = new Set<string>();

  async function look(): Promise<void> {
    const waiting = Map.groupBy((await listRepositories(registry)).filter(isWaiting), ({ org }) => org);
    const needed = new Set([...waiting.values()].flat().flatMap(referredTo));
    for (const name of awaited) if (!needed.has(name)) awaited.delete(name);
    for (const name of needed) awaited.add(name);
    for (const org of states.keys()) if (!waiting.has(org)) states.delete(org);
    for (const [org, repositories] of waiting) {
      const state = await stateOf(org, repositories);
      if (states.get(org) === state) continue;
      for (const repository of repositories) {
        const { done } = await outdatedDocuments(registry, repository).next();
        if (done !== true) await queue.request(org, idOf(repository), 'timer');
      }
      states.set(org, state);
    }
  }

  async function stateOf(org: string, repositories: readonly Repository[]): Promise<string> {
    const generations = repositories.map(({ url, branch, syncedAt }) => `${repositoryId(url, branch)} ${syncedAt}`);
    for await (const { name, generation } of registry.refs.newest(`resources/${org}/rulesets/`))
      generations.push(`${name} ${generation}`);
    for (const name of new Set(repositories.flatMap(referredTo)))
      generations.push(`${name} ${(await registry.refs.read(name))?.generation}`);
    return generations.join();
  }

  async function awaitReferences(name: string): Promise<void> {
    const repository = await registry.refs.read<Repository>(name);
    if (repository) for (const each of referredTo(repository.value)) awaited.add(each);
  }

  const failed = (error: unknown) => registry.log('warn', 'rejected documents not followed', { error: String(error) });
  const rounds = openRounds({ first: interval, pause: interval }, look, failed);
  const unwatch = registry.refs.watch((name) => {
    if (name.startsWith('repositories/')) awaitReferences(name).catch(failed);
    if (parseResourceRef(name)?.type === 'rulesets' || awaited.has(name)) rounds.wake(soon);
  });
  return {
    close() {
      unwatch();
      return rounds.close();
    },
  };
}

/** Whether a repository has a document that another resource, or its absence, may keep from being published. */
function isWaiting({ documents }: Repository): boolean {
  return Object.values(documents).some((document) => isRejectedByOther(document));
}

function isRejectedByOther(document: DocumentState): boolean {
  return (
    (isRejected(document) || isUnpublished(document)) &&
    (document.rulesetName !== null || document.references !== undefined)
  );
}

/** The records of the resources that the rejected documents of a repository refer to. */
function referredTo({ documents }: Repository): string[] {
  return Object.values(documents)
    .filter(isRejectedByOther)
    .flatMap(({ references }) => references?.urls ?? [])
    .flatMap((url) => parseDocumentUrl(url)?.coordinate ?? [])
    .map(resourceRef);
}

/**
 * Starts reconciliation, which everything relies on (design §10): every repository is synced at the
 * start and by a timer, and local repositories also when the file system reports a push. Hooks and
 * manual syncs use the same queue. It goes on until it is closed.
 */
export async function openReconciler(registry: Registry, queue: SyncQueue) {
  await followConfigured(registry);
  await leaveUnconfigured(registry);
  const followed = new Set((await listRepositories(registry)).map(({ org }) => org));
  for (const org of followed) await closeAbandonedRuns(registry, org);
  const watchers = new Map<string, FSWatcher>();

  /** Resolves when all have been looked at. An error in one repository does not stop the others. */
  async function lookAtAll(): Promise<void> {
    const repositories = await listRepositories(registry);
    await Promise.all(repositories.map(async (repository) => (await lookAt(repository, 'start'))?.done));
    askHosts(repositories.filter(({ gone }) => !gone));
  }

  /** Requests a look, and does not wait for it. Null: it cannot be requested. */
  async function lookAt(repository: Repository, trigger: Trigger): Promise<Requested | null> {
    const id = idOf(repository);
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
  /** In the background, once at a time: a host that does not answer must not delay syncs or the shutdown. */
  function askHosts(repositories: readonly Repository[]): void {
    asking ??= Promise.all([queue.reconcileHosts(repositories), queue.owners.lookDue()])
      .then(() => undefined)
      .catch((error: unknown) => logError(registry, error))
      .finally(() => (asking = null));
  }

  const interval = registry.config.sync.interval * 1000;

  /** Looks at each repository once in an interval, one after the other, so that nobody's server gets all at once. */
  async function lookInTurn(signal: AbortSignal): Promise<void> {
    // Ids are hashes: their order mixes organizations and hosts.
    const idIn = (name: string) => name.slice(name.lastIndexOf('/'));
    const names = await Array.fromAsync(registry.refs.list('repositories/'));
    names.sort((a, b) => (idIn(a) < idIn(b) ? -1 : 1));
    const atOnce = Math.ceil((names.length * shortestStep) / interval);
    const found: Repository[] = [];
    for (let from = 0; from < names.length; from += atOnce) {
      // As they are now: since the interval began, some may have been left.
      const some = names.slice(from, from + atOnce).map((name) => registry.refs.read<Repository>(name));
      const here = (await Promise.all(some)).flatMap((each) => (each && !each.value.renamed ? [each.value] : []));
      await Promise.all(here.map((repository) => lookAt(repository, 'timer')));
      found.push(...here);
      await delay(interval / Math.ceil(names.length / atOnce), undefined, { signal, ref: false });
    }
    askHosts(found.filter(({ gone }) => !gone));
    if (names.length === 0) await delay(interval, undefined, { signal, ref: false });
  }

  async function lookAtOwners(): Promise<void> {
    const failed = await queue.owners.lookAll((org, id) => queue.request(org, id, 'start'));
    await Promise.all(failed.map(({ done }) => done));
  }

  const first = Promise.all([lookAtAll(), lookAtOwners()]).then(() => undefined);
  // Not before: a repository may bring the ruleset.
  const started = first.then(() => tellMissingDefaults(registry)).catch((error: unknown) => logError(registry, error));
  // A repository that hangs at the start must not delay the timer for the others.
  const rhythm = { first: interval, pause: Math.min(interval, 1000) };
  const rounds = interval > 0 ? openRounds(rhythm, lookInTurn, (error) => logError(registry, error)) : null;
  const rulesets = followRejected(registry, queue);
  return {
    /** Resolves when every repository was synced once since the start. */
    first,
    async close(): Promise<void> {
      await Promise.all([rulesets.close(), rounds?.close()]);
      await Promise.all([...watchers.values()].map((watcher) => watcher.close()));
      await started;
    },
  };
}

/** Milliseconds between two looks by the timer, at least: more repositories are looked at at once. */
const shortestStep = 100;

function idOf({ url, branch }: Repository): string {
  return repositoryId(url, branch);
}

/** Creates or updates the record of every repository in the configuration. */
export async function followConfigured(registry: Registry): Promise<void> {
  for (const [org, { repositories }] of Object.entries(registry.config.organizations)) {
    for (const repository of repositories) {
      const { url, isArgument } = repository;
      const how = await configuredHow(registry, org, repository);
      const configured = isArgument ? ('argument' as const) : true;
      await follow(registry, org, { url, ...how, configured }).catch(
        onRefusal('corrupt', (error) => logError(registry, error, { org, url })),
      );
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
    await leave(registry, repository, why).catch(
      onRefusal('corrupt', (error) => logError(registry, error, repository)),
    );
  }
}

/** Requests a sync when a local repository's refs change. A push writes several files at once and needs one sync. */
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
