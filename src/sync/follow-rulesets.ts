import { repositoryId, type DocumentState } from '../model/connection.ts';
import { parseResourceRef } from '../model/resource.ts';
import type { Registry } from '../registry/registry.ts';
import { listRepositories } from './followed.ts';
import { outdatedDocuments } from './outdated.ts';
import type { SyncQueue } from './queue.ts';

/** Milliseconds after a change of a ruleset: one commit may change several. */
const soon = 300;

/**
 * Syncs the repositories of an organization that have rejected documents when one of its rulesets
 * changes in this process, until it is closed. What other processes change is found by the timer.
 */
export function followRulesets(registry: Registry, queue: SyncQueue): { close(): void } {
  const timers = new Map<string, NodeJS.Timeout>();

  async function look(org: string): Promise<void> {
    timers.delete(org);
    for (const repository of await listRepositories(registry)) {
      if (repository.org !== org || !Object.values(repository.documents).some(isRejected)) continue;
      const { done } = await outdatedDocuments(registry, repository).next();
      if (done !== true) await queue.request(org, repositoryId(repository.url, repository.branch), 'timer');
    }
  }

  const unwatch = registry.refs.watch((name) => {
    const changed = parseResourceRef(name);
    if (changed?.type !== 'rulesets' || timers.has(changed.org)) return;
    const begin = () =>
      void look(changed.org).catch((error: unknown) =>
        registry.log('warn', 'rulesets not followed', { org: changed.org, error: String(error) }),
      );
    timers.set(changed.org, setTimeout(begin, soon).unref());
  });
  return {
    close() {
      unwatch();
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };
}

/** Whether a ruleset may have kept the document from being published, or its absence. */
function isRejected({ outcome, rulesetName }: DocumentState): boolean {
  return (outcome === 'rejected' || outcome === 'conflict') && rulesetName !== null;
}
