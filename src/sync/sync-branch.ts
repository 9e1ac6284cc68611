import { availableParallelism } from 'node:os';
import { inspect } from 'node:util';
import PQueue from 'p-queue';
import { isSandboxLost } from '../compile/sandbox-lost.ts';
import { parseCoordinate } from '../model/address.ts';
import { documentAt, isInStep, type DocumentState, type Repository, type RunDocument } from '../model/connection.ts';
import { findMoves, withMoves } from '../plan/moves.ts';
import { detachedDocuments, planAll } from '../plan/plan.ts';
import type { Planned } from '../plan/planned.ts';
import { endHeld } from '../registry/approval/hold.ts';
import { remoteOf } from '../registry/remote.ts';
import { syncSites } from '../sites/sync/sync-sites.ts';
import { filesOf, type Snapshot } from '../source/snapshot.ts';
import { outdatedDocuments } from './outdated.ts';
import { moveConnections, syncDocument, type SyncedDocument } from './sync-document.ts';
import type { Syncing } from './syncing.ts';

/** What to record about a repository, and the documents that were read. */
export interface Progress {
  change: Partial<Repository>;
  documents: RunDocument[];
  /** Says what could not be read, or null. One sentence. The commit is then read again. */
  lost: string | null;
}

/** Nothing to record. */
export const unmoved: Progress = { change: {}, documents: [], lost: null };

/** Reads a commit of the followed branch, and publishes what its documents and sites became. */
export async function syncBranch(syncing: Syncing, commit: string): Promise<Progress> {
  const { registry, repository: before, run, signal } = syncing;
  const remote = await remoteOf(registry, before);
  const snapshot = await registry.source.snapshot(remote, commit, signal);
  const moves = await findMoves(registry, before, filesOf(await snapshot.entries()));
  const repository = withMoves(before, moves);
  const { planned, notes, isRefused, sites, contracts } = await planAll(registry, repository, snapshot, signal, moves);
  for (const { path, outcome, detail } of notes) {
    registry.log('warn', 'document', { run: run.id, path, resource: null, outcome, label: null, detail });
  }
  const { synced, lost: unread } = await syncDocuments({ ...syncing, repository }, snapshot, planned);
  await moveConnections(syncing, moves, planned);
  // After the documents, which its pages may embed.
  const published = await syncSites({ ...syncing, repository }, snapshot, sites);
  const lost = unread ?? published.lost;
  const detached = detachedDocuments(repository, planned, isRefused);
  for (const { path, resource, outcome, label, detail } of detached.results) {
    registry.log('warn', 'document', { run: run.id, path, resource, outcome, label, detail });
    await endHeld(registry, parseCoordinate(resource!)!.coordinate, ({ source }) => source === 'branch');
  }
  // When `stele.yaml` is invalid, no document is read. Recording that stops every later sync from
  // trying again.
  const held = isRefused ? await Array.fromAsync(outdatedDocuments(registry, repository)) : [];
  const states = Object.fromEntries([...held, ...synced.map(({ path, state }) => [path, state] as const)]);
  const at = registry.now().toISOString();
  const documents = dated(repository, { ...detached.documents, ...states }, at);
  const left = Object.fromEntries(
    Object.entries(detached.left).map(([name, state]) => [
      name,
      { ...state, since: repository.left?.[name]?.since ?? at },
    ]),
  );
  const results = [
    ...notes,
    ...published.documents,
    ...detached.results,
    ...synced.flatMap(({ result }) => result ?? []),
  ];
  const change = {
    documents,
    ...((repository.left || Object.keys(left).length > 0) && { left }),
    ...published.change,
    ...(contracts && { contracts }),
  };
  return { change: lost === null ? { commit, ...change } : change, documents: results, lost };
}

/** Sets when each document last changed between healthy and unhealthy. */
function dated(
  before: Repository,
  documents: Record<string, DocumentState>,
  at: string,
): Record<string, DocumentState> {
  const entries = Object.entries(documents).map(([path, state]) => {
    const recorded = documentAt(before, path);
    const isAsBefore = recorded && isInStep(recorded) === isInStep(state);
    return [path, { ...state, since: (isAsBefore ? recorded.since : undefined) ?? at }] as const;
  });
  return Object.fromEntries(entries);
}

async function syncDocuments(
  syncing: Syncing,
  snapshot: Snapshot,
  planned: readonly Planned[],
): Promise<{ synced: SyncedDocument[]; lost: string | null }> {
  const { registry, run, signal, onProgress } = syncing;
  const progress = { done: 0, total: planned.length };
  onProgress?.({ ...progress }, null);
  const blobs = filesOf(await snapshot.entries());
  const queue = new PQueue({ concurrency: availableParallelism() });
  let lost: string | null = null;
  const task = (document: Planned) => async () => {
    signal.throwIfAborted();
    try {
      const synced = await syncDocument(syncing, snapshot, document, blobs);
      progress.done++;
      onProgress?.({ ...progress }, synced.result);
      return [synced];
    } catch (error) {
      if (!isSandboxLost(error)) throw error;
      lost ??= `${document.path}: ${error.message}`;
      registry.log('warn', 'document not read', { run: run.id, path: document.path, error: inspect(error) });
      return [];
    }
  };
  // Rulesets and schemas first: other documents of the commit may have to pass or refer to them.
  const synced: SyncedDocument[][] = [];
  for (const type of ['rulesets', 'schemas', 'apis'])
    synced.push(...(await queue.addAll(planned.filter(({ coordinate }) => coordinate.type === type).map(task))));
  return { synced: synced.flat(), lost };
}
