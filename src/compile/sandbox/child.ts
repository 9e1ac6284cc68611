import { fork, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { LoadedFile } from '../collect.ts';
import { readChildMessage, type ChildMessage, type ParentMessage } from './sandbox-messages.ts';

export type Answer = Extract<
  ChildMessage,
  { type: 'compiled' | 'detected' | 'settings' | 'version' | 'outlined' | 'rendered' }
>;

/** How a job ended: with an answer, or with the sandbox. */
export type Outcome = { answer: Answer } | { died: 'sandbox-timeout' | 'sandbox-memory' | 'sandbox-crash' };

export interface JobOptions {
  /** Wall-clock seconds of the sandbox's own; waiting for `load` is not counted. */
  seconds: number;
  load: (paths: string[]) => Promise<LoadedFile[]>;
  signal: AbortSignal | undefined;
}

/** One sandboxed process. It does one job at a time and is dead after the first that it does not finish in order. */
export interface Child {
  readonly memoryMegabytes: number;
  readonly pid: number | undefined;
  /** False: it must not be given another job. */
  isUsable(): boolean;
  /** Rejects when `signal` aborts, when `load` rejects, and when the sandbox does not start at all; never because of a document. */
  run(job: ParentMessage, options: JobOptions): Promise<Outcome>;
  kill(): void;
}

const here = fileURLToPath(import.meta.url);
const worker = join(dirname(here), here.endsWith('.ts') ? 'worker.ts' : 'worker.js');
const startSeconds = 30;
const jobsPerChild = 500;

/** What the sandbox may read: the program's own code, its own content, and its packages. */
function readable(): string[] {
  const code = dirname(dirname(dirname(here)));
  const folders = [];
  for (let folder = dirname(code); ; folder = dirname(folder)) {
    const packages = join(folder, 'node_modules');
    if (existsSync(packages)) folders.push(join(packages, '*'));
    if (folder === dirname(folder)) break;
  }
  return [join(code, '*'), join(dirname(code), 'content', '*'), join(dirname(code), 'package.json'), ...folders];
}

/** Node's arguments for a sandbox: no network, files, processes, threads or addons, and a wall on memory. */
export function sandboxArguments(memoryMegabytes: number): string[] {
  return [
    '--permission',
    ...readable().map((path) => `--allow-fs-read=${path}`),
    `--max-old-space-size=${Math.floor(memoryMegabytes * 0.8)}`,
    '--disable-proto=delete',
    '--no-addons',
  ];
}

/** Starts a sandbox with an empty environment. */
export function startChild(memoryMegabytes: number): Child {
  const child = fork(worker, [], {
    execArgv: sandboxArguments(memoryMegabytes),
    env: {},
    cwd: dirname(here),
    serialization: 'advanced',
    // A process group of its own: Ctrl-C on a terminal is for the registry, which then lets its sandboxes finish or ends them.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4000);
  });
  const ready = whenReady(child, () => errors);
  ready.catch(() => {});
  let jobs = 0;
  let usable = true;

  function setIdle(idle: boolean): void {
    if (idle) child.unref();
    else child.ref();
    if (idle) child.channel?.unref();
    else child.channel?.ref();
  }

  function kill(): void {
    usable = false;
    child.kill('SIGKILL');
  }

  child.once('exit', () => (usable = false));
  // A channel that breaks in the middle of a message says so here; the exit that follows tells the rest.
  child.on('error', kill);

  return {
    memoryMegabytes,
    get pid() {
      return child.pid;
    },
    isUsable: () => usable && jobs < jobsPerChild,
    kill,
    async run(job, options) {
      setIdle(false);
      jobs++;
      await ready;
      const outcome = await runJob(child, job, memoryMegabytes, options, () => errors).catch((error: unknown) => {
        kill();
        throw error;
      });
      if ('died' in outcome) kill();
      // A heap that has grown this much is cheaper to throw away than to clean.
      else if (outcome.answer.rss > memoryMegabytes * 1024 * 1024 * 0.5) jobs = jobsPerChild;
      setIdle(true);
      return outcome;
    },
  };
}

function whenReady(child: ChildProcess, errors: () => string): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), startSeconds * 1000);
    timer.unref();
    child.once('exit', () => {
      clearTimeout(timer);
      reject(new Error(`The sandbox does not start: ${errors() || 'no reason given'}`));
    });
    child.once('message', (message) => {
      clearTimeout(timer);
      if (readChildMessage(message)?.type === 'ready') resolve();
      else reject(new Error('The sandbox does not start: it began with an unknown message.'));
    });
  });
}

function runJob(
  child: ChildProcess,
  job: ParentMessage,
  memoryMegabytes: number,
  { seconds, load, signal }: JobOptions,
  errors: () => string,
): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    let left = seconds * 1000;
    let since = performance.now();
    let died: Extract<Outcome, { died: string }>['died'] = 'sandbox-crash';
    let timer = setTimeout(expire, left);
    const watch = setInterval(() => void watchMemory(), 200);

    function end(settle: () => void): void {
      clearTimeout(timer);
      clearInterval(watch);
      signal?.removeEventListener('abort', abort);
      child.off('message', receive);
      child.off('exit', exit);
      settle();
    }
    function stop(why: typeof died): void {
      died = why;
      child.kill('SIGKILL');
    }
    function expire(): void {
      stop('sandbox-timeout');
    }
    function abort(): void {
      end(() => reject(signal!.reason as Error));
    }
    function exit(): void {
      if (died === 'sandbox-crash' && /heap out of memory|Allocation failed|Cannot create a string/.test(errors()))
        died = 'sandbox-memory';
      end(() => resolve({ died }));
    }
    async function watchMemory(): Promise<void> {
      const bytes = await residentBytes(child.pid);
      if (bytes !== null && bytes > memoryMegabytes * 1024 * 1024) stop('sandbox-memory');
    }
    function receive(raw: unknown): void {
      const message = readChildMessage(raw);
      if (message === null || message.type === 'ready') stop('sandbox-crash');
      else if (message.type !== 'load') end(() => resolve({ answer: message }));
      else void answerLoad(message.paths);
    }
    async function answerLoad(paths: string[]): Promise<void> {
      clearTimeout(timer);
      left -= performance.now() - since;
      try {
        const files = await load(paths);
        since = performance.now();
        timer = setTimeout(expire, Math.max(left, 0));
        if (child.connected) child.send({ type: 'files', files } satisfies ParentMessage);
      } catch (error) {
        end(() => reject(error as Error));
      }
    }

    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', abort);
    child.on('message', receive);
    child.once('exit', exit);
    if (child.exitCode !== null || child.signalCode !== null) return exit();
    child.send(job);
  });
}

/** Memory that a process holds, where the system tells (Linux); the wall of V8's heap holds everywhere. */
async function residentBytes(pid: number | undefined): Promise<number | null> {
  if (process.platform !== 'linux' || pid === undefined) return null;
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kilobytes === undefined ? null : Number(kilobytes) * 1024;
}
