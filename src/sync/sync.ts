import { availableParallelism } from 'node:os';
import { inspect, isDeepStrictEqual } from 'node:util';
import { isSandboxLost } from '../compile/compile.ts';
import { formatCoordinate, parseCoordinate } from '../model/address.ts';
import { approvalsRef, type Held } from '../model/approval.ts';
import { findResource } from '../registry/lives.ts';
import {
  documentOf,
  documentsByPath,
  isInStep,
  isRejected,
  isUnpublished,
  type Connection,
  type DocumentState,
  type Repository,
  type RunDocument,
  repositoryRef,
  type Run,
} from '../model/connection.ts';
import { findMoves, withMoves, detachedDocuments, planAll, connectedResources, plannedFor } from '../plan/plan.ts';
import type { Planned } from '../plan/planned.ts';
import { endHeld } from '../registry/approval/hold.ts';
import { remoteOf } from '../registry/remote.ts';
import { syncSites, connectedSites, isIdle } from '../sites/sync/sync-sites.ts';
import { filesOf, type Snapshot } from '../source/snapshot.ts';
import { outdatedDocuments } from './inputs.ts';
import { moveConnections, syncDocument, type SyncedDocument } from './sync-document.ts';
import type { Syncing, OnProgress } from './runs.ts';
import type { Tip } from '../source/source.ts';
import { judgeCommit, type CommitVerdict } from './guard.ts';
import { checksOfDocuments, mergeChecks } from './checks.ts';
import { withLease } from './lease.ts';
import type { Registry } from '../registry/registry.ts';
import { mapAtOnce } from '../scheduling/waiting.ts';
import { findNewTags, openTags, syncTags } from './sync-tags.ts';
import { saveChecks } from './report-checks.ts';
import { goOnFromFormer } from './renames/former.ts';

/** What to record about a repository, and the documents that were read. */
export interface Progress {
  change: Partial<Repository>;
  documents: RunDocument[];
  /** Says what could not be read, or null. One sentence. The commit is then read again. */
  lost: string | null;
}

const unmoved: Progress = { change: {}, documents: [], lost: null };

/** Reads a commit of the followed branch, and publishes what its documents and sites became. */
async function syncBranch(syncing: Syncing, commit: string): Promise<Progress> {
  const { registry, repository: before, run, signal } = syncing;
  const remote = await remoteOf(registry, before);
  const snapshot = await registry.source.snapshot(remote, commit, signal);
  const moves = await findMoves(registry, before, filesOf(await snapshot.entries()));
  const repository = withMoves(before, moves);
  const plan = await planAll({ registry, repository, snapshot, signal }, moves);
  const { planned, notes, isRefused, sites, contracts } = plan;
  for (const { path, outcome, detail } of notes) {
    registry.log('warn', 'document', { run: run.id, path, resource: null, outcome, label: null, detail });
  }
  const { synced, lost: unread } = await syncDocuments({ ...syncing, repository }, snapshot, planned);
  await moveConnections(syncing, moves, planned);
  // After the documents, which its pages may embed.
  const published = await syncSites({ ...syncing, repository }, snapshot, isRefused ? null : sites);
  const lost = unread ?? published.lost;
  const detached = detachedDocuments(registry.compiler, repository, plan);
  for (const { path, resource, outcome, label, detail } of detached.results) {
    registry.log('warn', 'document', { run: run.id, path, resource, outcome, label, detail });
    await endHeld(registry, parseCoordinate(resource!)!.coordinate, ({ source }) => source === 'branch');
  }
  await endUnread(registry, repository, planned);
  // When `stele.yaml` is invalid, no document is read. Recording that stops every later sync from
  // trying again.
  const held = isRefused ? await Array.fromAsync(outdatedDocuments(registry, repository)) : [];
  const states = { ...Object.fromEntries(held), ...documentsByPath(repository, synced) };
  const at = registry.now().toISOString();
  const documents = dated(repository, { ...detached.documents, ...states }, at);
  const left = Object.fromEntries(
    Object.entries(detached.left).map(([name, state]) => {
      const former = documentOf(repository, name, '');
      return [name, { ...state, since: (former?.outcome === 'detached' ? former.since : undefined) ?? at }];
    }),
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

/** Ends what is held of the branch where tags are published now, and of tags where the branch is. */
async function endUnread(registry: Registry, repository: Repository, planned: readonly Planned[]): Promise<void> {
  const plans = new Map(planned.map((document) => [approvalsRef(document.coordinate), document]));
  for await (const name of registry.refs.list(`approvals/${repository.org}/`)) {
    const plan = plans.get(name);
    const connection = plan && (await findResource(registry, plan.coordinate))?.connection;
    // The name may be that of another repository, or of another branch.
    if (connection?.repository !== repository.url || connection.branch !== repository.branch) continue;
    const isUnread = ({ source }: Held) => (plan!.tags === null ? source.startsWith('tag ') : source === 'branch');
    await endHeld(registry, plan!.coordinate, isUnread);
  }
}

/** Sets since when each resource is in its state. */
function dated(
  before: Repository,
  documents: Record<string, DocumentState>,
  at: string,
): Record<string, DocumentState> {
  const entries = Object.entries(documents).map(([path, state]) => {
    const recorded = documentOf(before, state.resource, path);
    const isAsBefore = recorded !== null && kindOf(recorded) === kindOf(state);
    return [path, { ...state, since: (isAsBefore ? recorded.since : undefined) ?? at }] as const;
  });
  return Object.fromEntries(entries);
}

function kindOf(state: DocumentState): string {
  return isInStep(state) ? 'in step' : isRejected(state) ? 'rejected' : state.outcome;
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
  let lost: string | null = null;
  const task = async (document: Planned) => {
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
  for (const type of ['rulesets', 'schemas', 'apis']) {
    const some = planned.filter(({ coordinate }) => coordinate.type === type);
    synced.push(...(await mapAtOnce(some, availableParallelism(), task)));
  }
  return { synced: synced.flat(), lost };
}

/** The result of one sync of a repository, for the caller to record. */
export interface Synced {
  repository: Repository;
  /** Documents that were read again. */
  documents: RunDocument[];
  /** Whether anything is new. Such a run is recorded even when nobody asked for it. */
  changed: boolean;
  /** What a person should know about this run, or null. */
  detail: string | null;
  /** Set when this commit could not be read or judged completely and must be read again. `sandbox`: as in a run. */
  lost: ({ commit: string; detail: string } & Pick<Run, 'sandbox'>) | null;
}

/**
 * Syncs a repository to its remote (design §10). If the remote has the commit that was synced last,
 * it stops. Otherwise it compiles what changed, publishes it, and records the commit last, so
 * repeating it after a crash gives the same result. One process does it at a time. Rewritten
 * history, deleted branches and deleted files change nothing that is published.
 */
export async function syncRepository(
  registry: Registry,
  repository: Repository,
  run: Run,
  signal: AbortSignal,
  { onNews = () => undefined, onProgress = () => undefined }: { onNews?: () => void; onProgress?: OnProgress } = {},
): Promise<Synced> {
  const nothing = { documents: [], changed: false, lost: null };
  const left = repository.gone ?? (repository.movedTo && repository.detail);
  if (left) return { ...nothing, repository, detail: left };
  repository = await goOnFromFormer(registry, repository, signal);
  if (await isIdle(registry, repository)) return { ...nothing, repository, detail: null };
  const tip = await registry.source.tip(await remoteOf(registry, repository), signal);
  if (isTooEarly(registry, repository, tip, run)) return { ...nothing, repository, detail: repository.detail };
  const tags = openTags(registry, repository, signal);
  const syncing: Syncing = { registry, repository, run, signal, onProgress, tags };
  if (!(await hasNews(syncing, tip)))
    return recordProgress(syncing, repository.state === 'detached' ? {} : following, []);
  onNews();
  const lease = { org: repository.org, name: run.repository };
  return withLease(registry, lease, signal, async ({ hasWaited, ...held }) => {
    // Read fresh: another process may just have synced a newer commit.
    const current = await registry.refs.readFresh<Repository>(repositoryRef(repository.org, run.repository));
    const isStale = hasWaited || current?.value.commit !== repository.commit;
    const now = isStale ? await registry.source.tip(await remoteOf(registry, repository), held.signal) : tip;
    const standing = current?.value ?? repository;
    try {
      const asked = isStale ? openTags(registry, standing, held.signal) : tags;
      return await syncTip({ ...syncing, ...held, repository: standing, tags: asked }, now);
    } catch (error) {
      if (!now.found || !isSandboxLost(error)) throw error;
      return {
        ...nothing,
        repository: standing,
        detail: null,
        lost: { commit: now.commit, detail: error.message, sandbox: 'lost' },
      };
    }
  });
}

const following = { state: 'following', detail: null, held: null } as const;

/** Whether the timer is too early to retry a commit. Other triggers retry at once. */
function isTooEarly({ now }: Registry, { retry }: Repository, tip: Tip, { trigger }: Run): boolean {
  if (!retry || !tip.found || tip.commit !== retry.commit || trigger !== 'timer') return false;
  return now().toISOString() < retry.at;
}

/** Whether there is anything to sync. Fetches no objects. */
async function hasNews(syncing: Syncing, tip: Tip): Promise<boolean> {
  const { registry, repository, run } = syncing;
  if (!tip.found) return repository.state !== 'detached';
  if (repository.state === 'detached') return tip.commit !== repository.held || run.trigger === 'manual';
  if (tip.commit !== repository.commit) return true;
  if (await needsAnotherLook(registry, repository, run)) return true;
  return (await findNewTags(syncing, await taggedDocuments(registry, repository))).length > 0;
}

async function syncTip(syncing: Syncing, tip: Tip): Promise<Synced> {
  const { registry, repository, run, signal } = syncing;
  if (!tip.found) return recordProgress(syncing, { state: 'detached', detail: tip.detail }, [], tip.detail);
  const verdict = await judgeCommit(registry, repository, tip.commit, signal);
  if (!verdict.isAccepted) return hold(syncing, tip.commit, verdict);
  const isKnown = tip.commit === repository.commit && !(await needsAnotherLook(registry, repository, run));
  const branch = isKnown ? unmoved : await syncBranch(syncing, tip.commit);
  const tagged = await syncTags(syncing, await taggedDocuments(registry, { ...repository, ...branch.change }));
  const rewritten = verdict.rewritten ?? tagged.moved;
  const diverged =
    rewritten === null
      ? (repository.diverged ?? null)
      : { since: registry.now().toISOString(), ...repository.diverged, detail: rewritten };
  const checks = await checksOfDocuments(registry, [...branch.documents, ...tagged.documents], tip.commit);
  await saveChecks(registry, repository, mergeChecks(checks));
  const documents = [...branch.documents, ...tagged.documents];
  const change = { ...branch.change, tags: tagged.tags, diverged, held: null };
  const detail = branch.lost ?? tagged.lost;
  if (detail !== null) {
    const recorded = await recordProgress(syncing, change, documents);
    return { ...recorded, lost: { commit: tip.commit, detail, sandbox: 'lost' } };
  }
  const end = { ...change, trusted: tip.commit, state: 'following' as const, detail: tagged.note };
  return recordProgress(syncing, end, documents, rewritten ?? tagged.note);
}

/** What tags publish. What `stele.yaml` or discovery connected is published by none once the branch ended it. */
async function taggedDocuments(registry: Registry, repository: Repository): Promise<Planned[]> {
  const { documents, left = {} } = repository;
  const states = [...Object.values(documents), ...Object.values(left)];
  const ended = new Set(states.flatMap(({ resource, outcome }) => (outcome === 'detached' ? [resource] : [])));
  const planned = (await connectedResources(registry, repository)).map(plannedFor);
  const isEnded = ({ coordinate, isFound }: Planned) => isFound && ended.has(formatCoordinate(coordinate));
  return planned.filter((document) => document.tags !== null && !isEnded(document));
}

/** Publishes nothing of the commit, and records why. */
async function hold(
  syncing: Syncing,
  commit: string,
  { detail, isKnown }: Extract<CommitVerdict, { isAccepted: false }>,
): Promise<Synced> {
  if (isKnown || syncing.repository.state === 'detached')
    return recordProgress(syncing, { state: 'detached', detail, held: commit }, [], detail);
  const recorded = await recordProgress(syncing, { held: commit }, []);
  return { ...recorded, lost: { commit, detail } };
}

/** Whether the same commit must be read again: rulesets, the compiler or connections changed. */
async function needsAnotherLook(registry: Registry, repository: Repository, { trigger }: Run): Promise<boolean> {
  // The limits, and the settings of sites, may have changed. Only a person asks for that to be tried.
  const mayPass = (document: DocumentState) => isUnpublished(document) && document.inputs === null;
  if (trigger === 'manual' && Object.values(repository.documents).some(mayPass)) return true;
  if (trigger === 'manual' && (await connectedSites(registry, repository)).length > 0) return true;
  const outdated = await outdatedDocuments(registry, repository).next();
  if (outdated.done !== true) return true;
  const connected = await connectedResources(registry, repository);
  // What another resource of its file was recorded instead of is read again with the next commit.
  const isRead = ({ path }: Connection, name: string) =>
    Object.hasOwn(repository.documents, path) || documentOf(repository, name, path) !== null;
  return connected.some((resource) => !isRead(resource.connection, formatCoordinate(resource)));
}

/** Records where the repository stands. This is the last step, so all others can be repeated. */
async function recordProgress(
  { registry, repository, run }: Syncing,
  change: Partial<Repository>,
  documents: RunDocument[],
  detail: string | null = null,
): Promise<Synced> {
  // A state is recorded only when nothing is left to retry.
  if (change.state !== undefined && repository.retry) change = { ...change, retry: null };
  if (repository.limited) change = { ...change, limited: null };
  const next = { ...repository, ...change };
  const changed =
    documents.length > 0 ||
    next.commit !== repository.commit ||
    next.state !== repository.state ||
    next.detail !== repository.detail ||
    (next.held ?? null) !== (repository.held ?? null) ||
    next.diverged?.detail !== repository.diverged?.detail ||
    next.limited !== repository.limited ||
    !isDeepStrictEqual(next.tags, repository.tags);
  if (!changed) return { repository, documents, changed, detail, lost: null };
  const at = registry.now().toISOString();
  const since = next.state === repository.state ? (repository.since ?? at) : at;
  const generation = await registry.refs.update<Repository>(
    repositoryRef(repository.org, run.repository),
    (current) => ({
      value: { ...(current?.value ?? repository), ...change, since, syncedAt: at },
      change: {
        actor: `sync:${repository.org}`,
        origin: `run:${run.id}`,
        action: `sync ${next.commit?.slice(0, 12) ?? 'nothing'}`,
      },
    }),
  );
  return { repository: generation!.value, documents, changed, detail, lost: null };
}
