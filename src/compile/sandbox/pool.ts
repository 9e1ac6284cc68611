import { RegistryError } from '../../model/errors.ts';
import { createFairQueue, isShortWork } from '../../scheduling/fair-queue.ts';
import type { LoadedFile } from '../collect.ts';
import { type CompileLimits, type Turn, sandboxLost } from '../compile.ts';
import { openCodeCache, openStartSnapshot } from './code-cache.ts';
import { startChild, type Child, type JobOptions, type Outcome, bytesOf, type Job } from './child.ts';
import type { Trade } from './fork-sandbox.ts';
import type { JobType } from './sandbox-messages.ts';
import { findIsolation, type Isolation, type SandboxMode } from './isolation.ts';

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
   * it. Also keeps compiled code for later ones. For processes that run long.
   */
  hasSpare: boolean;
  /** Whether its sandboxes keep the priority of this process. Default: they give way to it. */
  isForeground?: boolean;
  mode: SandboxMode;
  /**
   * Where the compiled code of sandboxes is kept (`code-cache.ts`), or in a build the snapshot that
   * they start from (`code-cache.ts`); null to keep none.
   */
  codeFolder: string | null;
  /** Default: `all`. */
  trade?: Trade;
}

/** Sandboxed processes that do jobs for all organizations. */
export interface Pool {
  /**
   * Does a job in a sandbox. If the sandbox is lost, does it once more in a new one; likewise if
   * its memory was full and other documents had used it before. `newLoad` makes the loader of each
   * attempt. Rejects with `unavailable` if both attempts are lost or one hung, and as the queue does.
   */
  run<T extends JobType>(
    job: Job<T>,
    limits: CompileLimits,
    turn: Turn,
    newLoad?: () => JobOptions['load'],
  ): Promise<Ended<T>>;
  /**
   * Starts a sandbox for the next job, unless there is one. Rejects if the configured isolation
   * does not work.
   */
  prepare(memoryMegabytes: number): Promise<void>;
  /** Starts as many sandboxes as jobs of one organization can use, at most `wanted`, so that they find them ready. */
  warm(memoryMegabytes: number, wanted: number): Promise<void>;
  /** Rejects new and running jobs, and ends the sandboxes. */
  close(): Promise<void>;
}

/** Creates a pool. Starts nothing yet. */
export function createPool({
  children,
  hasSpare,
  isForeground = false,
  mode,
  codeFolder,
  trade = 'all',
}: PoolOptions): Pool {
  const queue = createFairQueue(children);
  const compiledCode = openCodeCache(trade === 'all' ? codeFolder : null, { fills: hasSpare });
  const snapshot = openStartSnapshot(codeFolder, { makesNow: hasSpare, trade: trade === 'functions' ? 'all' : trade });
  const idle: Child[] = [];
  let working = 0;
  const workingFor = new Map<string, number>();
  const closing = new AbortController();
  let preparing: Promise<Child | undefined> | undefined;

  async function run<T extends JobType>(
    job: Job<T>,
    limits: CompileLimits,
    { org = '', lane = 'publish', isAwaited = false, signal: calledOff }: Turn,
    newLoad: () => JobOptions['load'] = () => noFiles,
  ): Promise<Ended<T>> {
    const signal = AbortSignal.any([closing.signal, ...(calledOff ? [calledOff] : [])]);
    const attempt = async (child: Child): Promise<Outcome<T>> => {
      working++;
      const others = workingFor.get(org) ?? 0;
      workingFor.set(org, others + 1);
      if (hasSpare) await startSpare(limits.memoryMegabytes);
      try {
        return await child.run(job, {
          load: newLoad(),
          signal,
          seconds: limits.seconds,
          isMore: org !== '' && others > 0,
        });
      } finally {
        working--;
        workingFor.set(org, workingFor.get(org)! - 1);
        if (workingFor.get(org) === 0) workingFor.delete(org);
        if (child.isUsable()) idle.push(child);
        else child.kill();
      }
    };
    const task = async (): Promise<Ended<T>> => {
      const child = await takeChild(limits.memoryMegabytes);
      const wasFresh = child.isFresh();
      const first = await attempt(child);
      if ('answer' in first) return first;
      if ('died' in first && wasFresh) return first;
      if ('lost' in first && first.isHung) throw sandboxLost(first.lost, true);
      const second = await attempt(await startAgain(limits.memoryMegabytes));
      if ('lost' in second) throw sandboxLost(second.lost, second.isHung);
      return second;
    };
    const patience = isAwaited ? patienceMilliseconds : undefined;
    // The size of a publish is unknown before it runs.
    const isShort = lane === 'read' && isShortWork(bytesOf(job));
    return queue.add({ owner: org, lane: `${lane} ${org}`, patience, isShort, signal }, task);
  }

  async function startSpare(memoryMegabytes: number): Promise<void> {
    const surroundings = await findSurroundings();
    if (idle.length === 0 && working < children) idle.push(startIn(surroundings, memoryMegabytes));
  }

  async function findSurroundings(): Promise<Surroundings> {
    const isolation = await findIsolation(mode);
    return { isolation, compiledCode: await compiledCode.folderFor(isolation), snapshot: await snapshot.find() };
  }

  function startIn(surroundings: Surroundings, memoryMegabytes: number): Child {
    return startChild(memoryMegabytes, surroundings.isolation, { ...surroundings, trade, isForeground });
  }

  async function start(memoryMegabytes: number): Promise<Child> {
    return startIn(await findSurroundings(), memoryMegabytes);
  }

  /** Starts without the snapshot, which may be why the first was lost. */
  async function startAgain(memoryMegabytes: number): Promise<Child> {
    return startIn({ ...(await findSurroundings()), snapshot: null }, memoryMegabytes);
  }

  async function takeChild(memoryMegabytes: number): Promise<Child> {
    for (let child = idle.pop(); child !== undefined; child = idle.pop()) {
      if (child.isUsable() && child.memoryMegabytes === memoryMegabytes) return child;
      child.kill();
    }
    const starting = preparing;
    // Before anything is awaited, or two jobs would take the same one.
    preparing = undefined;
    const prepared = await starting;
    if (prepared?.isUsable() && prepared.memoryMegabytes === memoryMegabytes) return prepared;
    prepared?.kill();
    return start(memoryMegabytes);
  }

  return {
    run,
    async prepare(memoryMegabytes) {
      if (idle.length > 0 || preparing !== undefined) return;
      const child = start(memoryMegabytes);
      preparing = child.catch(() => undefined);
      await child;
    },
    async warm(memoryMegabytes, wanted) {
      const surroundings = await findSurroundings();
      const limit = Math.min(wanted, Math.max(1, children - 1));
      while (!closing.signal.aborted && idle.length + working < limit)
        idle.push(startIn(surroundings, memoryMegabytes));
    },
    async close() {
      closing.abort(new RegistryError('unavailable', 'The compiler is shutting down.'));
      await queue.onIdle();
      (await preparing)?.kill();
      compiledCode.close();
      snapshot.close();
      for (const child of idle.splice(0)) child.kill();
    },
  };
}

interface Surroundings {
  isolation: Isolation;
  compiledCode: string | null;
  snapshot: string | null;
}

async function noFiles(): Promise<LoadedFile[]> {
  return [];
}
