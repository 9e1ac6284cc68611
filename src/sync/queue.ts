import PQueue from 'p-queue';
import {
  repositoryRef,
  type DocumentState,
  type Repository,
  type Retry,
  type Run,
  type Trigger,
} from '../model/connection.ts';
import { isRegistryError, RegistryError } from '../model/errors.ts';
import type { Pull } from '../hosts/host.ts';
import type { Registry } from '../registry/registry.ts';
import { createPlaces } from '../scheduling/organization-places.ts';
import type { CreatePullChecks } from './pull-checks.ts';
import { newRun, recordRun } from './runs.ts';
import { tellHosts } from './tell.ts';
import { syncRepository } from './sync.ts';

/** A run that was asked for: its first record, and its end. */
export interface Requested {
  run: Run;
  /** Resolves to the finished run, also to a failed one. */
  done: Promise<Run>;
}

/** One sync at a time per repository, several repositories at once. */
export interface SyncQueue {
  /**
   * Asks for a reconciliation. While one runs, one more may wait: it starts after the question, so it sees all that the asker saw, and
   * every further asker is given that same one.
   */
  request(org: string, repositoryId: string, trigger: Trigger): Promise<Requested>;
  /** Asks for a check of a pull request (or says that it was closed); resolves when the wish is durable. */
  check(org: string, repositoryId: string, pull: Pull, isOpen: boolean): Promise<void>;
  /** Looks for pull requests that nobody told of, and tells the hosts what they were not told yet. */
  reconcileHosts(repositories: readonly Repository[]): Promise<void>;
  /** Whether a sync of the repository runs or waits in this process. */
  isWanted(org: string, repositoryId: string): boolean;
  /** How many syncs run in this process, and how many wait. */
  counts(): { running: number; waiting: number };
  /** Stops what runs, and takes no more. */
  close(): Promise<void>;
}

/** What waits for one repository: a queue of one at a time, and the run that further askers share until it begins. */
interface Lane {
  queue: PQueue;
  next: Promise<Requested> | null;
}

/**
 * A queue for this process. Other processes may sync the same repository at the same time: that is harmless, publishing decides. An organization has
 * at most half of the places (see Places).
 */
export function createSyncQueue(registry: Registry, createPulls: CreatePullChecks): SyncQueue {
  const places = createPlaces(registry.config.sync.concurrency);
  const lanes = new Map<string, Lane>();
  const stop = new AbortController();
  const pulls = createPulls(registry, tell);
  const telling = new PQueue({ concurrency: 8 });
  const due = new Set<string>();

  /** In the background: no run waits for a host to listen. */
  function tell(org: string): void {
    if (due.has(org)) return;
    due.add(org);
    void telling
      .add(() => {
        due.delete(org);
        return tellHosts(registry, org, stop.signal);
      })
      .catch((error: unknown) => {
        registry.log('error', 'hosts not told', { org, error: error instanceof Error ? error.stack : String(error) });
      });
  }

  async function enqueue(org: string, id: string, trigger: Trigger, lane: Lane): Promise<Requested> {
    const repository = (await registry.refs.read<Repository>(repositoryRef(org, id)))?.value;
    if (!repository) throw new RegistryError('not_found', 'There is no such repository.');
    const run = newRun(registry, repository, id, trigger);
    // What somebody asked for can be looked up at once; a timer's look at an unmoved repository is not worth a record.
    if (isAskedFor(trigger)) await recordRun(registry, run);
    const begin = () => {
      lane.next = null;
      return perform(registry, run, stop.signal).finally(() => tell(org));
    };
    return { run, done: lane.queue.add(() => places.take(org, begin)) };
  }

  return {
    async request(org, id, trigger) {
      if (stop.signal.aborted) throw new RegistryError('unavailable', 'The registry is shutting down.');
      const lane = getOrMake(lanes, `${org}/${id}`, () => ({ queue: new PQueue({ concurrency: 1 }), next: null }));
      if (lane.next) return lane.next;
      const requested = enqueue(org, id, trigger, lane);
      lane.next = requested;
      requested.catch(() => {
        lane.next = null;
      });
      return requested;
    },
    check: (org, id, pull, isOpen) => pulls.request(org, id, pull, isOpen),
    async reconcileHosts(repositories) {
      for (const org of new Set(repositories.map((each) => each.org))) tell(org);
      await pulls.reconcile(repositories);
    },
    isWanted(org, id) {
      const lane = lanes.get(`${org}/${id}`);
      return lane !== undefined && (lane.next !== null || lane.queue.pending > 0);
    },
    counts() {
      const waiting = [...lanes.values()].filter(({ next }) => next !== null).length;
      return { running: places.running(), waiting };
    },
    async close() {
      stop.abort(new RegistryError('unavailable', 'The registry is shutting down.'));
      await pulls.close();
      await Promise.all([...lanes.values()].map(({ queue }) => queue.onIdle()));
      await telling.onIdle();
    },
  };
}

function getOrMake<V>(map: Map<string, V>, key: string, make: () => V): V {
  const known = map.get(key) ?? make();
  map.set(key, known);
  return known;
}

/** Runs one sync to its end and records it. The edge of the background: an error ends the run, never the process. */
async function perform(registry: Registry, queued: Run, signal: AbortSignal): Promise<Run> {
  const repository = (await registry.refs.read<Repository>(repositoryRef(queued.org, queued.repository)))!.value;
  let run: Run = { ...queued, state: 'running', from: repository.commit, startedAt: registry.now().toISOString() };
  const isAsked = isAskedFor(queued.trigger);
  let isRecorded = isAsked;
  let followed: DocumentState[] | null = null;
  try {
    signal.throwIfAborted();
    if (isAsked) await recordRun(registry, run);
    const synced = await syncRepository(registry, repository, run, signal);
    const { repository: next, documents, changed, detail, lost } = synced;
    run = { ...run, state: 'succeeded', to: next.commit, documents, detail };
    if (lost !== null) {
      run = { ...run, state: 'failed', detail: lost.detail };
      const isNews = await noteFailure(registry, run, null, lost.detail, lost.commit);
      isRecorded ||= isNews;
    }
    followed = Object.values(next.documents).filter(({ outcome }) => outcome !== 'detached');
    isRecorded ||= changed;
  } catch (error) {
    const stopped = 'The registry was shut down; the next start goes on.';
    const known = isRegistryError(error) ? error.message : 'Something unexpected went wrong; the log says what.';
    const detail = signal.aborted ? stopped : known;
    run = { ...run, state: 'failed', to: repository.commit, detail };
    const isNews = !signal.aborted && (await noteFailure(registry, run, error, detail));
    isRecorded ||= isNews;
  }
  run = { ...run, finishedAt: registry.now().toISOString() };
  const published = run.documents.filter(({ outcome }) => outcome === 'published').length;
  const refused = run.documents.filter(isRefused).length;
  const told = {
    run: run.id,
    org: run.org,
    repository: run.url,
    from: run.from,
    to: run.to,
    published,
    refused,
    documents: followed?.length ?? null,
    // As they stand now, also when this run had no reason to look at them again.
    documentsRefused: followed?.filter(isRefused).length ?? null,
    detail: run.detail,
  };
  if (isRecorded || run.trigger === 'start')
    registry.log(run.detail === null ? 'info' : 'warn', 'sync', { ...told, state: run.state, trigger: run.trigger });
  return isRecorded ? recordRun(registry, run).catch(() => run) : run;
}

const minute = 60_000;

/** After a minute, then after twice as long each time, up to an hour or so. */
function nextTry({ now }: Registry, { retry }: Repository, commit: string): Retry {
  const tries = retry?.commit === commit ? retry.tries + 1 : 1;
  const at = new Date(now().getTime() + minute * 2 ** Math.min(tries - 1, 6)).toISOString();
  return { commit, tries, at };
}

/** Whether somebody waits for the run to be written down: a person, or a host whose hook was answered. */
function isAskedFor(trigger: Trigger): boolean {
  return trigger === 'manual' || trigger === 'hook';
}

function isRefused({ outcome }: Pick<DocumentState, 'outcome'>): boolean {
  return outcome === 'rejected' || outcome === 'conflict';
}

/**
 * Notes on the repository that a sync failed, once; and, where a commit could not be read, when it is tried again: `lost`
 * is that commit. Whether this failure is news.
 */
async function noteFailure(
  registry: Registry,
  run: Run,
  error: unknown,
  detail: string,
  lost: string | null = null,
): Promise<boolean> {
  if (lost === null && !isRegistryError(error))
    registry.log('error', 'sync failed', { run: run.id, error: error instanceof Error ? error.stack : error });
  let isNews = false;
  await registry.refs
    .update<Repository>(repositoryRef(run.org, run.repository), (current) => {
      const value = current!.value;
      isNews = value.state !== 'failed' || value.detail !== detail;
      if (!isNews && lost === null) return null;
      const retry = lost === null ? (value.retry ?? null) : nextTry(registry, value, lost);
      const change = { actor: `sync:${run.org}`, origin: `run:${run.id}`, action: 'sync failed' };
      const at = registry.now().toISOString();
      const since = value.state === 'failed' ? (value.since ?? at) : at;
      return { value: { ...value, state: 'failed' as const, since, detail, ...(retry && { retry }) }, change };
    })
    .catch((cause: unknown) =>
      registry.log('error', 'sync failure not recorded', { run: run.id, error: String(cause) }),
    );
  return isNews;
}
