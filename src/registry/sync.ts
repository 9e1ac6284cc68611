import { availableParallelism } from 'node:os';
import PQueue from 'p-queue';
import { parseCoordinate } from '../model/address.ts';
import { documentAt, repositoryRef, type Repository, type Run, type RunDocument } from '../model/connection.ts';
import type { Snapshot } from '../source/snapshot.ts';
import type { Remote } from '../source/source.ts';
import type { Planned } from './discover.ts';
import { rulesetName } from './gate.ts';
import { connectedResources, detachedDocuments, planAll, plannedFor } from './plan.ts';
import type { Registry } from './registry.ts';
import { remoteOf } from './remote.ts';
import { findResource } from './resources.ts';
import { syncTags } from './sync-tags.ts';
import { rulesetDigest, syncDocument, type Looked } from './sync-document.ts';

/** What one reconciliation made of a repository, to be recorded by its caller. */
export interface Synced {
  repository: Repository;
  /** Documents that were looked at again. */
  documents: RunDocument[];
  /** Whether anything is new: worth a record also where nobody asked for the run. */
  changed: boolean;
}

/**
 * Brings the registry to where a repository stands now (DESIGN §10): where are we, where is the remote, same? then stop; else
 * compile what changed, publish it, and only then note the commit. Doing it twice, or after a crash anywhere, ends the same.
 * Rewritten history, deleted branches and deleted files change nothing that is published.
 */
export async function syncRepository(
  registry: Registry,
  repository: Repository,
  run: Run,
  signal: AbortSignal,
): Promise<Synced> {
  // Connected once, and to nothing any more: nobody is to be asked.
  const isIdle = repository.discover === null && (await connectedResources(registry, repository)).length === 0;
  if (isIdle) return { repository, documents: [], changed: false };
  const tip = await registry.source.tip(await remoteOf(registry, repository), signal);
  if (!tip.found) return settle(registry, repository, run, { state: 'detached', detail: tip.detail }, []);
  const isKnown = tip.commit === repository.commit && !(await needsAnotherLook(registry, repository));
  const branch = isKnown ? unmoved(repository) : await syncBranch(registry, repository, tip.commit, run, signal);
  const connected = (await connectedResources(registry, repository)).map(plannedFor);
  const { tags, documents, detail } = await syncTags(registry, repository, connected, run, signal);
  const moved = detail === null ? {} : { state: 'diverged' as const, detail };
  return settle(registry, repository, run, { ...branch.change, tags, ...moved }, [...branch.documents, ...documents]);
}

/** What is to be noted about a repository, and the documents that were looked at. */
interface Progress {
  change: Partial<Repository>;
  documents: RunDocument[];
}

/** Nothing new; a repository that did not answer before does so now. */
function unmoved({ state, detail }: Repository): Progress {
  return { change: state === 'diverged' ? { state, detail } : { state: 'following', detail: null }, documents: [] };
}

async function syncBranch(
  registry: Registry,
  repository: Repository,
  commit: string,
  run: Run,
  signal: AbortSignal,
): Promise<Progress> {
  const remote = await remoteOf(registry, repository);
  const snapshot = await registry.source.snapshot(remote, commit, signal);
  const { planned, notes, isRefused } = await planAll(registry, repository, snapshot, signal);
  for (const { path, outcome, detail } of notes) {
    registry.log('warn', 'document', { run: run.id, path, resource: null, outcome, label: null, detail });
  }
  const looked = await syncDocuments(registry, repository, snapshot, planned, run, signal);
  const detached = detachedDocuments(repository, planned, isRefused);
  const states = Object.fromEntries(looked.map(({ path, state }) => [path, state]));
  const documents = { ...repository.documents, ...detached.states, ...states };
  const relation = await relate(registry, remote, repository, commit, signal);
  const results = [...notes, ...detached.results, ...looked.flatMap(({ result }) => result ?? [])];
  return { change: { ...relation, commit, documents }, documents: results };
}

/** Whether there is something to do though the commit is the one that was synced: other rulesets, a newer compiler, another connection. */
async function needsAnotherLook(registry: Registry, repository: Repository): Promise<boolean> {
  for (const state of Object.values(repository.documents)) {
    if (state.outcome === 'detached') continue;
    if (state.outcome === 'rejected' && state.compiler !== registry.compiler.id) return true;
    const resource = await findResource(registry, parseCoordinate(state.resource)!.coordinate);
    const name = resource === null ? state.rulesetName : rulesetName(registry, resource);
    if (name !== state.rulesetName || (await rulesetDigest(registry, repository.org, name)) !== state.ruleset)
      return true;
  }
  const connected = await connectedResources(registry, repository);
  return connected.some(({ connection }) => documentAt(repository, connection.path) === null);
}

async function syncDocuments(
  registry: Registry,
  repository: Repository,
  snapshot: Snapshot,
  planned: readonly Planned[],
  run: Run,
  signal: AbortSignal,
): Promise<Looked[]> {
  const blobs = new Map(
    (await snapshot.entries()).flatMap(({ path, kind, id }) => (kind === 'file' ? [[path, id] as const] : [])),
  );
  const queue = new PQueue({ concurrency: availableParallelism() });
  const tasks = planned.map((document) => async () => {
    signal.throwIfAborted();
    return syncDocument(registry, repository, snapshot, document, blobs, run, signal);
  });
  return queue.addAll(tasks);
}

async function relate(
  registry: Registry,
  remote: Remote,
  repository: Repository,
  commit: string,
  signal: AbortSignal,
): Promise<Pick<Repository, 'state' | 'detail'>> {
  if (repository.commit === null || repository.commit === commit) return { state: 'following', detail: null };
  if ((await registry.source.ancestry(remote, commit, repository.commit, signal)) !== 'unrelated')
    return { state: 'following', detail: null };
  const detail = `History was rewritten: ${repository.commit} is no ancestor of ${commit}. What is published stays.`;
  return { state: 'diverged', detail };
}

/** Notes where the repository stands now. The last step of a sync: whatever comes before can be done again. */
async function settle(
  registry: Registry,
  repository: Repository,
  run: Run,
  change: Partial<Repository>,
  documents: RunDocument[],
): Promise<Synced> {
  const next = { ...repository, ...change };
  const moved =
    next.commit !== repository.commit || next.state !== repository.state || next.detail !== repository.detail;
  const changed = moved || documents.length > 0;
  if (!changed && run.trigger !== 'manual') return { repository, documents, changed };
  const generation = await registry.refs.update<Repository>(
    repositoryRef(repository.org, run.repository),
    (current) => ({
      value: { ...(current?.value ?? repository), ...change, syncedAt: registry.now().toISOString() },
      change: {
        actor: `sync:${repository.org}`,
        origin: `run:${run.id}`,
        action: `sync ${next.commit?.slice(0, 12) ?? 'nothing'}`,
      },
    }),
  );
  return { repository: generation!.value, documents, changed };
}
