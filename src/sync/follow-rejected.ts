import { setTimeout as delay } from 'node:timers/promises';
import { parseDocumentUrl } from '../model/address.ts';
import { isRejected, repositoryId, type DocumentState, type Repository } from '../model/connection.ts';
import { parseResourceRef, resourceRef } from '../model/resource.ts';
import type { Registry } from '../registry/registry.ts';
import { listRepositories } from './followed.ts';
import { outdatedDocuments } from './outdated.ts';
import type { SyncQueue } from './queue.ts';

/** Milliseconds after a change of a record: one commit may change several. */
const soon = 300;

/**
 * Syncs the repositories that have rejected documents when what rejected them changes, until it is
 * closed: a ruleset of their organization, or a resource that a document refers to. At once if this
 * process changed it, and else when it looks for what other processes changed, every `interval`
 * milliseconds.
 */
export function followRejected(registry: Registry, queue: SyncQueue, interval = 15_000): { close(): Promise<void> } {
  const stop = new AbortController();
  /** By organization with rejected documents: when they were read, and the generations of what they wait for. */
  const states = new Map<string, string>();
  /** The records that rejected documents refer to, as far as this process has seen. */
  const awaited = new Set<string>();
  let timer: NodeJS.Timeout | null = null;
  let looking = Promise.resolve();

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
        if (done !== true) await queue.request(org, repositoryId(repository.url, repository.branch), 'timer');
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
  function lookNow(): Promise<void> {
    looking = looking.then(() => (stop.signal.aborted ? undefined : look())).catch(failed);
    return looking;
  }

  async function keepLooking(): Promise<void> {
    while (!stop.signal.aborted) {
      await delay(interval, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
      await lookNow();
    }
  }

  const unwatch = registry.refs.watch((name) => {
    if (name.startsWith('repositories/')) awaitReferences(name).catch(failed);
    if (parseResourceRef(name)?.type !== 'rulesets' && !awaited.has(name)) return;
    timer ??= setTimeout(() => {
      timer = null;
      lookNow().catch(failed);
    }, soon).unref();
  });
  const kept = keepLooking();
  return {
    async close() {
      stop.abort();
      unwatch();
      if (timer) clearTimeout(timer);
      await Promise.all([kept, looking]);
    },
  };
}

/** Whether a repository has a document that another resource, or its absence, may keep from being published. */
function isWaiting({ documents }: Repository): boolean {
  return Object.values(documents).some((document) => isRejectedByOther(document));
}

function isRejectedByOther(document: DocumentState): boolean {
  return isRejected(document) && (document.rulesetName !== null || document.references !== undefined);
}

/** The records of the resources that the rejected documents of a repository refer to. */
function referredTo({ documents }: Repository): string[] {
  return Object.values(documents)
    .filter(isRejectedByOther)
    .flatMap(({ references }) => references?.urls ?? [])
    .flatMap((url) => parseDocumentUrl(url)?.coordinate ?? [])
    .map(resourceRef);
}
