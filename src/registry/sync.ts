import { availableParallelism } from 'node:os';
import PQueue from 'p-queue';
import { readCredential } from '../config.ts';
import { parseCoordinate } from '../model/address.ts';
import { documentAt, repositoryRef, type Repository, type Run, type RunDocument } from '../model/connection.ts';
import type { Snapshot } from '../source/snapshot.ts';
import type { Remote } from '../source/source.ts';
import type { Planned } from './discover.ts';
import { rulesetName } from './gate.ts';
import { connectedResources, detachedDocuments, planAll } from './plan.ts';
import type { Registry } from './registry.ts';
import { findResource } from './resources.ts';
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
  const remote = remoteOf(registry, repository);
  const tip = await registry.source.tip(remote, signal);
  if (!tip.found) return settle(registry, repository, run, { state: 'detached', detail: tip.detail }, []);
  if (tip.commit === repository.commit && !(await needsAnotherLook(registry, repository))) {
    const state = repository.state === 'diverged' ? 'diverged' : 'following';
    return settle(registry, repository, run, { state, detail: state === 'diverged' ? repository.detail : null }, []);
  }
  const snapshot = await registry.source.snapshot(remote, tip.commit, signal);
  const { planned, refused } = await planAll(registry, repository, snapshot, signal);
  const looked = await syncDocuments(registry, repository, snapshot, planned, run, signal);
  const detached = detachedDocuments(repository, planned, refused !== null);
  const documents = {
    ...repository.documents,
    ...detached.states,
    ...Object.fromEntries(looked.map(({ path, state }) => [path, state])),
  };
  const relation = await relate(registry, remote, repository, tip.commit, signal);
  const results = [...(refused ? [refused] : []), ...detached.results, ...looked.flatMap(({ result }) => result ?? [])];
  return settle(registry, repository, run, { ...relation, commit: tip.commit, documents }, results);
}

/** The repository as `source/` takes it. */
export function remoteOf(
  registry: Registry,
  { url, branch, credential }: Pick<Repository, 'url' | 'branch' | 'credential'>,
): Remote {
  return { url, branch, credential: credential === null ? null : readCredential(registry.config, credential) };
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
