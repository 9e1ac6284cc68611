import { inspect } from 'node:util';
import PQueue from 'p-queue';
import {
  isRejected,
  repositoryRef,
  type DocumentState,
  type Repository,
  type Run,
  type RunDocument,
  type RunProgress,
  type Trigger,
} from '../model/connection.ts';
import { countOutcomes } from '../model/states.ts';
import { isRegistryError, unavailable, notFound } from '../model/errors.ts';
import type { Pull } from '../hosts/host.ts';
import { inSpan, type Registry } from '../registry/registry.ts';
import { createAlarms } from '../scheduling/waiting.ts';
import { createPlaces, createQueues } from '../scheduling/places.ts';
import { createOwners } from './owners/owners.ts';
import { createRenames } from './renames/renames.ts';
import { newRun, noteFailure, recordRun, type OnProgress } from './runs.ts';
import { saveChecksAgain, reportChecks } from './report-checks.ts';
import { syncRepository } from './sync.ts';

/** A requested run: its first record, and its result. */
export interface Requested {
  run: Run;
  /** Resolves to the finished run, even when it failed. It rejects only for a bug, which is logged. */
  done: Promise<Run>;
}

/** See `createSyncQueue`. */
export type SyncQueue = ReturnType<typeof createSyncQueue>;

/** What a run reports while it runs: how far it is, and the document that it has just read. */
export interface RunNews {
  run: Run;
  progress: RunProgress;
  document: RunDocument | null;
}

/** Milliseconds after which a sync no longer counts as one of its organization's: see `createPlaces`. */
const patience = 3000;

/**
 * Creates the queue of this process, which runs one sync at a time per repository, and several
 * repositories at once. Another process may sync the same repository at the same time;
 * the lease and the publish itself keep that harmless. An organization has at most half of the
 * places (see Places).
 */
export function createSyncQueue(
  registry: Registry,
  createPulls: CreatePullChecks,
  onProgress: (news: RunNews) => void = () => undefined,
) {
  const places = createPlaces(registry.config.sync.concurrency, { patience });
  /** By repository: runs are one after the other, and callers share the one that waits. */
  const runs = createQueues(1);
  const waiting = new Map<string, Promise<Requested>>();
  /** Repositories of which the running sync found something new. */
  const news = new Set<string>();
  const stop = new AbortController();
  const pulls = createPulls(registry, report);
  const reporting = new PQueue({ concurrency: 8 });
  const due = new Set<string>();
  const alarms = createAlarms(report);
  /** Syncs that somebody asked for, and that a limit of the repository's host put off. */
  const putOff = new Set<string>();
  const limits = createAlarms((key) => {
    const [org = '', id = ''] = key.split('/');
    request(org, id, 'timer').catch((error: unknown) =>
      registry.log('warn', 'sync not repeated', { error: String(error) }),
    );
  });

  /** Reports in the background, so that no run waits for a slow host. */
  function report(org: string): void {
    if (due.has(org)) return;
    due.add(org);
    reporting
      .add(() => {
        due.delete(org);
        return reportChecks(registry, org, stop.signal);
      })
      .then((wait) => {
        if (wait !== null) alarms.set(org, wait);
      })
      .catch((error: unknown) => {
        registry.log('error', 'reporting checks failed', {
          org,
          error: error instanceof Error ? error.stack : String(error),
        });
      });
  }

  /** Checks pull requests again in the background when their target has moved. */
  function recheck(run: Run): Run {
    if (run.to === run.from || stop.signal.aborted) return run;
    pulls.recheck(run.org, run.repository).catch((error: unknown) => {
      registry.log('warn', 'pull requests not checked again', { repository: run.url, error: String(error) });
    });
    return run;
  }

  async function enqueue(org: string, id: string, trigger: Trigger, key: string): Promise<Requested> {
    const repository = await readRepository(registry, org, id);
    const run = newRun(registry, repository, id, trigger);
    // A requested run can be looked up at once. Timer runs are recorded only when something
    // changed.
    if (isAskedFor(trigger)) await recordRun(registry, run);
    const begin = () => {
      waiting.delete(key);
      const isOwed = putOff.delete(key) || isAskedFor(trigger);
      const onLimit = (seconds: number) => {
        if (!isOwed) return;
        putOff.add(key);
        limits.set(key, seconds * 1000);
      };
      const listeners = { onNews: () => void news.add(key), onProgress, onLimit };
      return perform(registry, run, stop.signal, listeners)
        .then((finished) => {
          // Most looks by the timer find nothing, and leave nothing to report.
          if (trigger !== 'timer' || finished.documents.length > 0 || finished.state === 'failed') report(org);
          return recheck(finished);
        })
        .finally(() => news.delete(key));
    };
    const done = runs.add(key, () => places.take(org, begin));
    done.catch((error: unknown) =>
      registry.log('error', 'sync ended by a bug', { run: run.id, error: inspect(error) }),
    );
    return { run, done };
  }

  /**
   * Requests a sync. While one runs, one more may wait, and all further callers share it. It starts
   * after the request, so it sees everything that the caller saw.
   */
  async function request(org: string, id: string, trigger: Trigger): Promise<Requested> {
    if (stop.signal.aborted) throw unavailable('The registry is shutting down.');
    const key = `${org}/${id}`;
    const requested = waiting.getOrInsertComputed(key, () => enqueue(org, id, trigger, key));
    requested.catch(() => waiting.delete(key));
    return requested;
  }

  const owners = createOwners(registry, request);
  const renames = createRenames(registry, owners, request);

  return {
    owners,
    /** Follows repositories to the names that they get on their hosts. */
    renames,
    request,
    /** Requests a check of a pull request, or reports that it was closed. Resolves when the request is durable. */
    check: (org: string, id: string, pull: Pull, isOpen: boolean): Promise<void> =>
      pulls.request(org, id, pull, isOpen),
    /**
     * Repeats the checks of a commit: those of pull requests with this head, and those of the last
     * sync. Resolves when the request is durable.
     */
    async checkAgain(org: string, id: string, commit: string): Promise<void> {
      await saveChecksAgain(registry, org, id, commit);
      report(org);
      await pulls.again(org, id, commit);
    },
    /** Finds pull requests and renames whose hooks were lost, and reports pending checks to the hosts. */
    async reconcileHosts(repositories: readonly Repository[]): Promise<void> {
      for (const org of new Set(repositories.map((each) => each.org))) report(org);
      await Promise.all([pulls.reconcile(repositories), renames.lookDue(repositories)]);
    },
    /** Whether a sync in this process found something new in the repository and is reading it. */
    hasNews: (org: string, id: string): boolean => news.has(`${org}/${id}`),
    /** The number of syncs that run and wait in this process. */
    counts: () => ({ running: places.running(), waiting: waiting.size }),
    /** Resolves when no sync runs or waits in this process. */
    settled: () => runs.onIdle(),
    /** Stops running syncs and rejects new ones. */
    async close(): Promise<void> {
      stop.abort(unavailable('The registry is shutting down.'));
      alarms.close();
      limits.close();
      for (const host of registry.hosts) host.close();
      await owners.close();
      await renames.close();
      await pulls.close();
      await runs.onIdle();
      await reporting.onIdle();
    },
  };
}

async function readRepository(registry: Registry, org: string, id: string): Promise<Repository> {
  const repository = (await registry.refs.read<Repository>(repositoryRef(org, id)))?.value;
  if (!repository) throw notFound('There is no such repository.');
  return repository;
}

/** Runs one sync to its end and records it. Errors end the run, never the process. */
async function perform(
  registry: Registry,
  queued: Run,
  signal: AbortSignal,
  {
    onNews,
    onProgress,
    onLimit,
  }: { onNews: () => void; onProgress: (news: RunNews) => void; onLimit: (seconds: number) => void },
): Promise<Run> {
  let run: Run = { ...queued, state: 'running', startedAt: registry.now().toISOString() };
  const isAsked = isAskedFor(queued.trigger);
  let isRecorded = isAsked;
  let followed: DocumentState[] | null = null;
  const record = createProgressRecord(registry);
  let recording: Promise<unknown> | null = null;
  try {
    signal.throwIfAborted();
    const repository = await readRepository(registry, run.org, run.repository);
    run = { ...run, from: repository.commit };
    // Recorded while the remote is asked. A failed write is ignored: the record at the end has more.
    recording = isAsked ? recordRun(registry, run).catch(() => undefined) : null;
    const note: OnProgress = (progress, document) => {
      run = { ...run, progress };
      isRecorded = record.note(run) || isRecorded;
      onProgress({ run, progress, document });
    };
    const synced = await inSpan(registry, 'sync', { 'stele.trigger': run.trigger }, () =>
      syncRepository(registry, repository, run, signal, { onNews, onProgress: note }),
    );
    const { repository: next, documents, changed, detail, lost } = synced;
    run = { ...run, state: 'succeeded', to: next.commit, documents, detail };
    if (lost !== null) {
      const { commit, ...why } = lost;
      run = { ...run, state: 'failed', ...why };
      const isNews = await noteFailure(registry, run, null, lost.detail, { lost: commit });
      isRecorded ||= isNews;
    }
    followed = Object.values(next.documents).filter(({ outcome }) => outcome !== 'detached');
    isRecorded ||= changed;
  } catch (error) {
    const seconds = isRegistryError(error, 'unreachable') ? error.retryAfter : undefined;
    if (seconds !== undefined) onLimit(seconds);
    const until = seconds === undefined ? null : new Date(registry.now().getTime() + seconds * 1000).toISOString();
    const stopped = 'The registry was shut down. The sync continues after the next start.';
    const message = isRegistryError(error) ? error.message : "An unexpected error occurred. See the server's log.";
    const detail = signal.aborted ? stopped : message + (until === null ? '' : ` It is asked again from ${until}.`);
    run = { ...run, state: 'failed', to: run.from, detail };
    const isNews = !signal.aborted && (await noteFailure(registry, run, error, detail, { until }));
    isRecorded ||= isNews;
  }
  run = { ...run, finishedAt: registry.now().toISOString() };
  const about = {
    run: run.id,
    org: run.org,
    repository: run.url,
    from: run.from,
    to: run.to,
    published: run.documents.filter(({ outcome }) => outcome === 'published').length,
    refused: run.documents.filter(isRejected).length,
    documents: followed?.length ?? null,
    // The current state of all documents, including those that this run did not read.
    documentsRefused: followed?.filter(isRejected).length ?? null,
    documentsWaiting: followed && countOutcomes(followed).waiting,
    detail: run.detail,
  };
  if (isRecorded || run.trigger === 'start')
    registry.log(run.detail === null ? 'info' : 'warn', 'sync', { ...about, state: run.state, trigger: run.trigger });
  await Promise.all([recording, record.settled()]);
  return isRecorded ? recordRun(registry, run).catch(() => run) : run;
}

/** Whether somebody waits for the run's record: a person, or a host that sent a hook. */
function isAskedFor(trigger: Trigger): boolean {
  return trigger === 'manual' || trigger === 'hook';
}

/** At most one write in this many milliseconds. A run that ends sooner is saved only at its end. */
const between = 1000;

/** Saves how far a run is, so that others can see it. A write that fails is left out: the next one says more. */
function createProgressRecord(registry: Registry) {
  let last = registry.monotonic();
  let writing: Promise<unknown> | null = null;
  return {
    /** Notes the run's progress. Returns whether it is saved. */
    note(run: Run): boolean {
      const { progress, url } = run;
      if (progress === undefined || registry.monotonic() - last < between || writing !== null) return false;
      last = registry.monotonic();
      registry.log('info', 'progress', { run: run.id, repository: url, ...progress });
      writing = recordRun(registry, run)
        .catch(() => undefined)
        .finally(() => (writing = null));
      return true;
    },
    async settled() {
      await writing;
    },
  };
}

/** Checks pull requests: compiles and compares their documents, reports to the host, and publishes nothing. */
export interface PullChecks {
  /** Requests a check. Resolves when the request is durable. Ignores pull requests into branches not followed. */
  request(org: string, repositoryId: string, pull: Pull, isOpen: boolean): Promise<void>;
  /** Checks the pull requests with this head again, because somebody asked for it. */
  again(org: string, repositoryId: string, commit: string): Promise<void>;
  /** Checks the open pull requests of a repository again, because its branch has moved. */
  recheck(org: string, repositoryId: string): Promise<void>;
  /** Resumes checks after a crash, and asks the hosts for open pull requests, because hooks can be lost. */
  reconcile(repositories: readonly Repository[]): Promise<void>;
  /** Stops running checks and waits for them to end. */
  close(): Promise<void>;
}

/** Creates the checks of a process. `report` reports saved checks to the hosts of an organization. */
type CreatePullChecks = (registry: Registry, report: (org: string) => void) => PullChecks;
