import { unavailable } from '../../model/errors.ts';
import { createFairQueue, isShortWork } from '../../scheduling/fair-queue.ts';
import { type CompileLimits, type Turn, sandboxLost } from '../compile.ts';
import { openStartSnapshot } from './start-snapshot.ts';
import { startChild, type Child, type JobOptions, type Outcome, bytesOf, type Job } from './child.ts';
import type { Trade } from './fork-sandbox.ts';
import type { JobType } from './sandbox-messages.ts';
import { findIsolation, type SandboxMode } from './isolation.ts';

/** How long a job with a waiting client may wait for a sandbox. */
const patienceMilliseconds = 60_000;

/** The outcome of a completed job. Others reject. */
export type Ended<T extends JobType = JobType> = Exclude<Outcome<T>, { lost: string }>;

export interface PoolOptions {
  /**
   * The number of concurrent sandboxes, besides an extra one for short work that readers wait for.
   * Each starts when first needed and is kept running.
   */
  children: number;
  /**
   * Starts the next sandbox when the last idle one is taken, so that the next job does not wait for
   * it. Makes a missing snapshot at once. For processes that run long. Default: it does not.
   */
  hasSpare?: boolean;
  /** Whether its sandboxes keep the priority of this process. Default: they give way to it. */
  isForeground?: boolean;
  mode: SandboxMode;
  /** Where a build keeps the snapshots that sandboxes start from (`start-snapshot.ts`); null to keep none. */
  codeFolder: string | null;
  /** Default: `all`. */
  trade?: Trade;
}

/** See `createPool`. */
export type Pool = ReturnType<typeof createPool>;

/** Creates a pool of sandboxed processes that do jobs for all organizations. Starts nothing yet. */
export function createPool({
  children,
  hasSpare = false,
  isForeground = false,
  mode,
  codeFolder,
  trade = 'all',
}: PoolOptions) {
  const queue = createFairQueue(children);
  const snapshot = openStartSnapshot(codeFolder, { makesNow: hasSpare, trade: trade === 'functions' ? 'all' : trade });
  /** Those that wait for a job, also while they start. */
  const idle: Promise<Child>[] = [];
  let working = 0;
  const workingFor = new Map<string, number>();
  const closing = new AbortController();

  /**
   * Does a job in a sandbox. If the sandbox is lost, does it once more in a new one; likewise if
   * its memory was full and other documents had used it before. `newLoad` makes the loader of each
   * attempt. Rejects with `unavailable` if both attempts are lost or one hung, and as the queue does.
   */
  async function run<T extends JobType>(
    job: Job<T>,
    limits: CompileLimits,
    { org = '', lane = 'publish', isAwaited = false, signal: calledOff }: Turn = {},
    newLoad: () => JobOptions['load'] = () => async () => [],
  ): Promise<Ended<T>> {
    const signal = AbortSignal.any([closing.signal, ...(calledOff ? [calledOff] : [])]);
    const attempt = async (child: Child, isMore: boolean): Promise<Outcome<T>> => {
      if (hasSpare && idle.length === 0 && working < children) addIdle(start(limits.memoryMegabytes));
      try {
        return await child.run(job, { load: newLoad(), signal, seconds: limits.seconds, isMore });
      } finally {
        if (child.isUsable()) idle.push(Promise.resolve(child));
        else child.kill();
      }
    };
    const task = async (): Promise<Ended<T>> => {
      working++;
      const others = workingFor.get(org) ?? 0;
      workingFor.set(org, others + 1);
      const isMore = org !== '' && others > 0;
      try {
        const child = await takeChild(limits.memoryMegabytes);
        const wasFresh = child.isFresh();
        const first = await attempt(child, isMore);
        if ('answer' in first) return first;
        if ('died' in first && wasFresh) return first;
        if ('lost' in first && first.isHung) throw sandboxLost(first.lost, true);
        const second = await attempt(await start(limits.memoryMegabytes, true), isMore);
        if ('lost' in second) throw sandboxLost(second.lost, second.isHung);
        return second;
      } finally {
        working--;
        workingFor.set(org, workingFor.get(org)! - 1);
        if (workingFor.get(org) === 0) workingFor.delete(org);
      }
    };
    const patience = isAwaited ? patienceMilliseconds : undefined;
    // The size of a publish is unknown before it runs.
    const isShort = lane === 'read' && isShortWork(bytesOf(job));
    return queue.add({ owner: org, lane: `${lane} ${org}`, patience, isShort, signal }, task);
  }

  /** Starts a sandbox. `again`: without the snapshot, which may be why the first was lost. */
  async function start(memoryMegabytes: number, again = false): Promise<Child> {
    const isolation = await findIsolation(mode);
    const from = again ? null : await snapshot.find();
    return startChild(memoryMegabytes, isolation, { snapshot: from, trade, isForeground });
  }

  function addIdle(child: Promise<Child>): void {
    // The next job says what is wrong.
    child.catch(() => undefined);
    idle.push(child);
  }

  async function takeChild(memoryMegabytes: number): Promise<Child> {
    // Popped before anything is awaited, or two jobs would take the same one.
    for (let next = idle.pop(); next !== undefined; next = idle.pop()) {
      const child = await next.catch(() => null);
      if (child?.isUsable() && child.memoryMegabytes === memoryMegabytes) return child;
      child?.kill();
    }
    return start(memoryMegabytes);
  }

  return {
    run,
    /** Starts a sandbox for the next job, unless there is one. */
    prepare(memoryMegabytes: number): void {
      if (idle.length === 0) addIdle(start(memoryMegabytes));
    },
    /** Starts a sandbox that does this job before the next one. Resolves when it has, or cannot. */
    async prepareWith(first: Job, { memoryMegabytes, seconds }: CompileLimits): Promise<void> {
      const child = start(memoryMegabytes).then(async (started) => {
        closing.signal.addEventListener('abort', started.kill, { once: true });
        await started.run(first, { load: async () => [], signal: closing.signal, seconds });
        return started;
      });
      addIdle(child);
      await child.catch(() => undefined);
    },
    /** Rejects new and running jobs, and ends the sandboxes. */
    async close(): Promise<void> {
      closing.abort(unavailable('The compiler is shutting down.'));
      await queue.onIdle();
      snapshot.close();
      for (const child of idle.splice(0)) (await child.catch(() => null))?.kill();
    },
  };
}
