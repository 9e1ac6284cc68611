import {
  repositoryRef,
  runRef,
  type Repository,
  type Retry,
  type Run,
  type Trigger,
  type RunDocument,
  type RunProgress,
} from '../model/connection.ts';
import { isRegistryError } from '../model/errors.ts';
import { isAlive, processName } from '../store/process.ts';
import { readAmong } from '../registry/stored.ts';
import type { Tag } from '../source/source.ts';
import { newId, type Registry } from '../registry/registry.ts';

/** Creates a run that has not started. Writes nothing. */
export function newRun(registry: Registry, repository: Repository, id: string, trigger: Trigger): Run {
  return {
    id: newId(registry),
    org: repository.org,
    repository: id,
    url: repository.url,
    branch: repository.branch,
    trigger,
    process: processName(),
    state: 'queued',
    from: repository.commit,
    to: null,
    startedAt: registry.now().toISOString(),
    finishedAt: null,
    documents: [],
    detail: null,
  };
}

/** Saves the state of a run. */
export async function recordRun(registry: Registry, run: Run): Promise<Run> {
  const generation = await registry.refs.update<Run>(runRef(run.org, run.id), () => ({
    value: run,
    change: { actor: `sync:${run.org}`, origin: null, action: `run ${run.state}` },
  }));
  return generation!.value;
}

/** The run with this id, or null. */
export async function findRun(registry: Registry, org: string, id: string): Promise<Run | null> {
  if (!/^[0-9a-z]{20}$/.test(id)) return null;
  return (await registry.refs.read<Run>(runRef(org, id)))?.value ?? null;
}

/** Marks runs as failed when the process of this machine that ran them has crashed. */
export async function closeAbandonedRuns(registry: Registry, org: string): Promise<void> {
  for await (const run of newestRuns(registry, org, null)) {
    const isOpen = run.state === 'queued' || run.state === 'running';
    if (!isOpen || isAlive(run.process)) continue;
    const detail =
      'The server stopped before the run ended. What it had published stays published. The next run does the rest.';
    await recordRun(registry, { ...run, state: 'failed', finishedAt: registry.now().toISOString(), detail });
  }
}

/** The runs of an organization, newest first; those before the run with the id `before`, unless it is null. */
export async function* newestRuns(registry: Registry, org: string, before: string | null): AsyncGenerator<Run> {
  const names = await Array.fromAsync(registry.refs.list(`runs/${org}/`));
  for (const name of names.reverse()) {
    if (before !== null && name >= runRef(org, before)) continue;
    const run = (await readAmong<Run>(registry, name))?.value;
    if (run) yield run;
  }
}

const minute = 60_000;

/** Waits a minute, then twice as long each time, up to about an hour. */
function nextTry({ now }: Registry, { retry }: Repository, commit: string): Retry {
  const tries = retry?.commit === commit ? retry.tries + 1 : 1;
  const at = new Date(now().getTime() + minute * 2 ** Math.min(tries - 1, 6)).toISOString();
  return { commit, tries, at };
}

/** After this time of a host's rate limit, its repositories are `failed`, and people are told. */
const patience = 180 * minute;
/** How often it is recorded when it may be asked again: limits of a minute may follow one another. */
const quiet = 15 * minute;

/** What is recorded while a host limits requests until then. Undefined: nothing new. Null: it has done so for too long. */
function waitFor({ limited, state }: Repository, detail: string, until: string, at: string): Repository['limited'] {
  if (state === 'failed' || state === 'detached') return undefined;
  const since = limited?.since ?? at;
  if (Date.parse(at) - Date.parse(since) >= patience) return null;
  const isTold = limited && Date.parse(at) < Date.parse(limited.until) + quiet;
  return isTold ? undefined : { detail, since, until };
}

/**
 * Records on the repository that a sync failed. `lost`: a commit that could not be read; it is
 * retried later. `until`: when its host, which limits requests, may be asked again. Returns whether this is new.
 */
export async function noteFailure(
  registry: Registry,
  run: Run,
  error: unknown,
  detail: string,
  { lost = null, until = null }: { lost?: string | null; until?: string | null },
): Promise<boolean> {
  if (lost === null && !isRegistryError(error))
    registry.log('error', 'sync failed', { run: run.id, error: error instanceof Error ? error.stack : error });
  let isNews = false;
  await registry.refs
    .update<Repository>(repositoryRef(run.org, run.repository), (current) => {
      const value = current!.value;
      const at = registry.now().toISOString();
      const about = { actor: `sync:${run.org}`, origin: `run:${run.id}` };
      const limited = until === null ? null : waitFor(value, detail, until, at);
      isNews = limited !== undefined;
      if (limited === undefined) return null;
      if (limited !== null) return { value: { ...value, limited }, change: { ...about, action: 'sync put off' } };
      isNews = value.state !== 'failed' || value.detail !== detail;
      // A missing repository stays `detached` until a sync finds it again, and must not have been replaced then.
      if (lost === null && value.state === 'detached') isNews = false;
      if (!isNews && lost === null) return null;
      const retry = lost === null ? (value.retry ?? null) : nextTry(registry, value, lost);
      const change = { ...about, action: 'sync failed' };
      const since = value.state === 'failed' ? (value.since ?? at) : (value.limited?.since ?? at);
      const failed = { ...value, state: 'failed' as const, since, limited: null };
      return { value: { ...failed, detail, ...(retry && { retry }) }, change };
    })
    .catch((cause: unknown) =>
      registry.log('error', 'sync failure not recorded', { run: run.id, error: String(cause) }),
    );
  return isNews;
}

/** Called when a run knows what to read (`document` is null), and after each document. */
export type OnProgress = (progress: RunProgress, document: RunDocument | null) => void;

/** A run in progress: what publishing a document needs of it. */
export interface Publishing {
  registry: Registry;
  /** The repository as the last run left it. */
  repository: Repository;
  run: Run;
  /** Aborts when the run must stop. */
  signal: AbortSignal;
}

/** A sync in progress: the context that all its steps share. */
export interface Syncing extends Publishing {
  /** The tags of the repository, asked for once. */
  tags: () => Promise<Tag[]>;
  /** Absent if nobody follows the progress. */
  onProgress?: OnProgress;
}
