import { setTimeout as delay } from 'node:timers/promises';
import { repositoryId, type DocumentState, type Repository } from '../model/connection.ts';
import { parseResourceRef } from '../model/resource.ts';
import type { Registry } from '../registry/registry.ts';
import { listRepositories } from './followed.ts';
import { outdatedDocuments } from './outdated.ts';
import type { SyncQueue } from './queue.ts';

/** Milliseconds after a change of a ruleset: one commit may change several. */
const soon = 300;

/**
 * Syncs the repositories of an organization that have rejected documents when one of its rulesets
 * changes, until it is closed: at once if this process changed it, and else when it looks for what
 * other processes changed, every `interval` milliseconds.
 */
export function followRulesets(registry: Registry, queue: SyncQueue, interval = 15_000): { close(): Promise<void> } {
  const timers = new Map<string, NodeJS.Timeout>();
  const stop = new AbortController();
  /** By organization with rejected documents: its rulesets and their generations. */
  const states = new Map<string, string>();

  async function look(org: string): Promise<void> {
    timers.delete(org);
    for (const repository of await listRepositories(registry)) {
      if (repository.org !== org || !hasRejected(repository)) continue;
      const { done } = await outdatedDocuments(registry, repository).next();
      if (done !== true) await queue.request(org, repositoryId(repository.url, repository.branch), 'timer');
    }
  }

  async function lookElsewhere(): Promise<void> {
    const waiting = new Set((await listRepositories(registry)).filter(hasRejected).map(({ org }) => org));
    for (const org of states.keys()) if (!waiting.has(org)) states.delete(org);
    for (const org of waiting) {
      const rulesets: string[] = [];
      for await (const { name, generation } of registry.refs.newest(`resources/${org}/rulesets/`))
        rulesets.push(`${name} ${generation}`);
      if (states.get(org) === rulesets.join()) continue;
      await look(org);
      states.set(org, rulesets.join());
    }
  }

  const failed = (error: unknown) => registry.log('warn', 'rulesets not followed', { error: String(error) });
  async function keepLooking(): Promise<void> {
    while (!stop.signal.aborted) {
      await delay(interval, undefined, { signal: stop.signal, ref: false }).catch(() => undefined);
      if (!stop.signal.aborted) await lookElsewhere().catch(failed);
    }
  }

  const unwatch = registry.refs.watch((name) => {
    const changed = parseResourceRef(name);
    if (changed?.type !== 'rulesets' || timers.has(changed.org)) return;
    const lookNow = (): void => {
      look(changed.org).catch(failed);
    };
    timers.set(changed.org, setTimeout(lookNow, soon).unref());
  });
  const looking = keepLooking();
  return {
    async close() {
      stop.abort();
      unwatch();
      for (const timer of timers.values()) clearTimeout(timer);
      await looking;
    },
  };
}

function hasRejected({ documents }: Repository): boolean {
  return Object.values(documents).some(isRejected);
}

/** Whether a ruleset may have kept the document from being published, or its absence. */
function isRejected({ outcome, rulesetName }: DocumentState): boolean {
  return (outcome === 'rejected' || outcome === 'conflict') && rulesetName !== null;
}
