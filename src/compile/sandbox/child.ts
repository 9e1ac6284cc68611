import type { CompileInput } from '../compile.ts';
import { type Gives, type JobMessage, type JobType, type ParentMessage, readChildMessage } from './sandbox-messages.ts';
import type { ChildProcess } from 'node:child_process';
import { setImmediate as turn } from 'node:timers/promises';
import { isShortWork } from '../../scheduling/fair-queue.ts';
import type { LoadFiles } from '../collect.ts';
import { functionsArgument } from './functions-argument.ts';
import { forkSandbox, scripts, workerOf, type Trade, type Worker } from './fork-sandbox.ts';
import type { Isolation, SandboxFiles } from './isolation.ts';
import { createAssembler, inPieces, isPiece } from './pieces.ts';
import { giveWay, readTitle } from './process-usage.ts';
import { ruleIn } from '../ruleset/rule-at-work.ts';
import { ruleSeconds, watchLimits, type Breach } from './watch-limits.ts';

/** The files of a compilation are asked of `load`. */
export type Job<T extends JobType = JobType> = T extends 'compile' | 'check'
  ? { type: T; input: CompileInput }
  : JobMessage<T>;

/** Bytes of documents that come with a job. The files of a compilation come later. */
export function bytesOf(job: Job): number {
  if (job.type === 'outline' || job.type === 'excerpt' || job.type === 'render') return job.document.json.byteLength;
  if (job.type === 'compare')
    return job.before.json.byteLength + (job.before.told?.byteLength ?? 0) + job.after.json.byteLength;
  return 0;
}

/**
 * How a job ended: with an answer (`rss`: the memory of the sandbox then, in bytes), at its limit of memory (`title`: of its process then), or without
 * a sandbox. `lost` says why in a sentence: something else killed it, it failed, or, with `isHung`, it
 * was stopped because it worked or waited for too long.
 */
export type Outcome<T extends JobType = JobType> =
  { answer: Gives<T>; rss: number } | { died: 'sandbox-memory'; title: string } | { lost: string; isHung: boolean };

export interface JobOptions {
  /** Seconds of CPU time after which it is stopped. */
  seconds: number;
  load: LoadFiles;
  signal: AbortSignal | undefined;
  /** Whether its organization has other running jobs. They give way to those of others. */
  isMore?: boolean;
}

/**
 * A sandboxed process. It does one job at a time, and is ended after the first job that does not
 * finish normally.
 */
export interface Child {
  readonly memoryMegabytes: number;
  readonly pid: number | undefined;
  /** Whether it has not done a job yet: then its memory holds only this document's data. */
  isFresh(): boolean;
  /** If false, it must not get another job. */
  isUsable(): boolean;
  /** Rejects if `signal` aborts or `load` rejects, but never because of a document. */
  run<T extends JobType>(job: Job<T>, options: JobOptions): Promise<Outcome<T>>;
  kill(): void;
}

/** Seconds of CPU time. It takes one, on a slow machine six. */
const startSeconds = 60;
/** CPU time after which a job gives way to shorter ones. Most documents need less, and most pages. */
const longSeconds = { document: 0.3, page: 10 };
/** Starting a process costs as much as some 100 small documents. */
const jobsPerChild = 5000;

/** A page does not give way because its document is long: readers ask for it as soon as it is published. */
function nicenessOf({ isMore, isPage, bytes, seconds }: Work): 'long' | 'more' | 'first' {
  if (seconds > longSeconds[isPage ? 'page' : 'document'] || (!isPage && !isShortWork(bytes))) return 'long';
  return isMore ? 'more' : 'first';
}

interface Work {
  isMore: boolean;
  isPage: boolean;
  bytes: number;
  seconds: number;
}

/** How a sandbox is started. */
export interface ChildOptions extends Pick<SandboxFiles, 'snapshot'> {
  /** Default: `all`. */
  trade?: Trade;
  /** Whether it keeps the priority of this process. Default: it gives way. */
  isForeground?: boolean;
}

/** Starts a sandbox that waits for jobs. */
export function startChild(
  memoryMegabytes: number,
  isolation: Isolation,
  { snapshot = null, trade = 'all', isForeground = false }: ChildOptions = {},
): Child {
  const args = trade === 'functions' ? [functionsArgument] : [];
  const child = forkSandbox(scripts[trade], isolation, memoryMegabytes, { args, snapshot });
  const worker = workerOf(child);
  const ready = whenReady(child, worker);
  let priority: Parameters<typeof giveWay>[1] | null = null;
  const giveWayTo = (to: NonNullable<typeof priority>) => {
    if (!isForeground && to !== priority) priority = giveWay(worker.pid(), to) ? to : null;
  };
  // Now, because starting takes most of the time, and again for the process that bwrap may start.
  giveWayTo('start');
  ready.then(
    () => {
      priority = null;
      giveWayTo('start');
    },
    () => {},
  );
  let jobs = 0;
  let usable = true;

  function setIdle(idle: boolean): void {
    const how = idle ? 'unref' : 'ref';
    child[how]();
    child.channel?.[how]();
  }

  function kill(): void {
    usable = false;
    worker.kill();
  }

  child.once('exit', () => (usable = false));
  // Handles a channel that breaks in the middle of a message. The exit event follows.
  child.on('error', kill);

  return {
    memoryMegabytes,
    get pid() {
      return worker.pid();
    },
    isFresh: () => jobs === 0,
    isUsable: () => usable && jobs < jobsPerChild,
    kill,
    async run<T extends JobType>(given: Job<T>, options: JobOptions): Promise<Outcome<T>> {
      const job: Job = given;
      setIdle(false);
      jobs++;
      const failure = await ready.then(
        () => null,
        (error: Error) => error,
      );
      if (failure !== null) {
        kill();
        return { lost: failure.message, isHung: false };
      }
      const isPage = job.type === 'outline' || job.type === 'render' || job.type === 'excerpt';
      const work: Work = { isMore: options.isMore === true, isPage, bytes: bytesOf(job), seconds: 0 };
      const used = (seconds: number) => {
        work.seconds = seconds;
        giveWayTo(nicenessOf(work));
      };
      used(0);
      const load: JobOptions['load'] = async (paths) => {
        const files = await options.load(paths);
        work.bytes += files.reduce((sum, file) => sum + ('bytes' in file ? file.bytes.byteLength : 0), 0);
        giveWayTo(nicenessOf(work));
        return files;
      };
      try {
        // With the entry of a compilation, which saves a round trip.
        const message = 'input' in job ? { ...job, files: await load([job.input.entry]) } : job;
        const outcome = await runJob(child, worker, message, { ...options, memoryMegabytes, load, used });
        if (!('answer' in outcome)) kill();
        // After this much growth of the heap, a new process is cheaper than collecting the garbage.
        else if (outcome.rss > memoryMegabytes * 1024 * 1024 * 0.5) jobs = jobsPerChild;
        setIdle(true);
        return outcome as Outcome<T>;
      } catch (error) {
        kill();
        throw error;
      }
    },
  };
}

function whenReady(child: ChildProcess, worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    const watch = watchLimits(
      worker.pid,
      { seconds: startSeconds, memoryMegabytes: Infinity },
      { exceeded: () => worker.kill() },
    );
    const fail = (error?: Error) => {
      watch.end();
      reject(new Error(`The sandbox does not start: ${error?.message || worker.errors() || 'no reason given'}`));
    };
    child.once('error', fail);
    child.once('exit', () => fail());
    child.once('message', (message) => {
      watch.end();
      if (readChildMessage(message)?.type === 'ready') resolve();
      else reject(new Error('The sandbox does not start: it began with an unknown message.'));
    });
  });
}

function runJob(
  child: ChildProcess,
  worker: Worker,
  job: JobMessage,
  how: JobOptions & { memoryMegabytes: number; used: (seconds: number) => void },
): Promise<Outcome> {
  const { seconds, memoryMegabytes, load, signal, used } = how;
  return new Promise((resolve, reject) => {
    let breach: Breach | null = null;
    let title = '';
    // A sandbox has no larger answer than its memory.
    const assembler = createAssembler(memoryMegabytes * 1024 * 1024);
    const stop = (why: Breach | null) => {
      breach = why;
      title = readTitle(worker.pid()!);
      worker.kill();
    };
    const watch = watchLimits(worker.pid, { seconds, memoryMegabytes }, { exceeded: stop, used });

    function end(settle: () => void): void {
      watch.end();
      signal?.removeEventListener('abort', abort);
      child.off('message', receive);
      child.off('exit', exit);
      settle();
    }
    function abort(): void {
      end(() => reject(signal!.reason as Error));
    }
    function exit(): void {
      end(() => resolve(explainDeath(child, breach, { title, seconds, errors: worker.errors() })));
    }
    function receive(raw: unknown): void {
      const part = readChildMessage(raw);
      if (part !== null && isPiece(part) && assembler.take(part)) return;
      const message = part === null || isPiece(part) ? null : assembler.complete(part);
      if (message === null || message.type === 'ready') stop(null);
      else if (message.type === 'load')
        answerLoad(message.paths).catch((error: unknown) => end(() => reject(error as Error)));
      else if (message.type === job.type) {
        const { type: _, rss, ...answer } = message;
        end(() => resolve({ answer, rss }));
      } else stop(null);
    }
    async function answerLoad(paths: string[]): Promise<void> {
      watch.pause();
      const files = await load(paths);
      watch.resume();
      await send({ type: 'files', files });
    }
    /** Sends a message, its large bytes in turns of their own. */
    async function send(message: ParentMessage): Promise<void> {
      for (const part of inPieces(message)) {
        if (!child.connected) return;
        child.send(part);
        if (part.type === 'piece') await turn();
      }
    }

    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', abort);
    child.on('message', receive);
    child.once('exit', exit);
    if (child.exitCode !== null || child.signalCode !== null) return exit();
    send(job).catch((error: unknown) => end(() => reject(error as Error)));
  });
}

/** V8 aborts a process whose heap is full. No memory of the machine for the heap is a different failure. */
const heapIsFull = /heap out of memory|Cannot create a string/;
const machineIsFull = /Committing semi space failed|Failed to (?:reserve|commit)/;

function explainDeath(
  { exitCode, signalCode }: ChildProcess,
  breach: Breach | null,
  { title, seconds, errors }: { title: string; seconds: number; errors: string },
): Outcome {
  if (breach === 'processor' || breach === 'rule') {
    const what =
      breach === 'rule'
        ? `Patterns and schemas of its ruleset took more than ${ruleSeconds} seconds of CPU time.`
        : `Its process was stopped after ${seconds} seconds of CPU time.`;
    return { lost: what + hintAt(title), isHung: true };
  }
  if (breach === 'memory' || (heapIsFull.test(errors) && !machineIsFull.test(errors)))
    return { died: 'sandbox-memory', title };
  if (breach === 'stalled') return { lost: 'Its process did nothing any more and was stopped.', isHung: true };
  return { lost: `It ended with ${signalCode ?? `code ${exitCode}`}. ${errors}`.trim(), isHung: false };
}

/** Names the rule that was at work when a process had this title. */
export function hintAt(title: string): string {
  const rule = ruleIn(title);
  return rule === null ? '' : ` The rule ${JSON.stringify(rule)} of its ruleset was at work: make it simpler.`;
}
