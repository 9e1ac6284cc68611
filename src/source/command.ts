import { AsyncLocalStorage } from 'node:async_hooks';
import type { ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect } from 'node:util';
import { simpleGit } from 'simple-git';
import { RegistryError } from '../model/errors.ts';
import { assertGit, environmentOf, isProgram, type GitSettings } from './git-environment.ts';

/** One run of git. */
export interface GitCommand extends GitSettings {
  /** Never contains a secret, because every user of the machine can read it. */
  args: readonly string[];
  /** Standard input. What fails while it comes ends the input there. */
  input?: string | AsyncIterable<Uint8Array>;
  /** The most bytes that git may print before it is stopped. Default: 256 MiB. */
  outputBytes?: number;
  /** Stops git and every process that it started. */
  signal: AbortSignal;
}

/** The result of a run of git. */
export interface GitResult {
  ok: boolean;
  stdout: Buffer;
  stderr: string;
}

// simple-git does not expose its process, and its own abort leaves git-remote-https running. Node
// announces each process here.
const started = new AsyncLocalStorage<Run>();
subscribe('child_process', (message) => {
  const run = started.getStore();
  if (run) run.child ??= (message as { process: ChildProcess }).process;
});

interface Run {
  child: ChildProcess | null;
}

/**
 * Runs git through simple-git with a minimal environment. A non-zero exit code is a result, not an
 * error. When the signal aborts, the whole process group gets SIGTERM, then SIGKILL a second later,
 * and the call rejects with the signal's reason.
 */
export async function runGit(command: GitCommand): Promise<GitResult> {
  const { args, folder, input, searchPath, outputBytes = 256 * 2 ** 20 } = command;
  const flood = new AbortController();
  const signal = AbortSignal.any([command.signal, flood.signal]);
  signal.throwIfAborted();
  assertGit(searchPath);
  const environment = {
    ...environmentOf(command),
    // simple-git prints what it spawns when DEBUG says so.
    [inspect.custom]: () => '(not shown: it may hold a credential)',
  };
  let code = 0;
  const run: Run = { child: null };
  const stopFlood = () => flood.abort(new RegistryError('too_large', `git printed more than ${outputBytes} bytes.`));
  const stdout = createCollector(outputBytes, stopFlood);
  const stderr = createCollector(outputBytes, stopFlood);
  const git = simpleGit({
    baseDir: folder,
    // setsid makes the process the leader of its group.
    binary: isProgram('setsid', searchPath) ? ['setsid', 'git'] : 'git',
    allowEnvironment: Object.keys(environment),
    unsafe: {
      allowUnsafeAskPass: true,
      allowUnsafeConfigEnvCount: true,
      allowUnsafeConfigPaths: true,
      allowUnsafeCredentialHelper: true,
      allowUnsafeFsMonitor: true,
      allowUnsafeHooksPath: true,
      allowUnsafePack: true,
      allowUnsafeSshCommand: true,
    },
    ...(typeof input === 'string' ? { input: () => input } : {}),
    errors: (_error, { exitCode }) => {
      code = exitCode;
      return undefined;
    },
  })
    .env(environment)
    .outputHandler((_command, out, err) => {
      stdout.collect(out);
      stderr.collect(err);
      // What fails while it comes ends the input there. Git says itself what it makes of that.
      if (typeof input === 'object') pipeline(input, run.child!.stdin!).catch(() => undefined);
    });

  const [task = '', ...rest] = args;
  const done = started.run(run, async () => {
    await (task === 'cat-file' ? git.binaryCatFile(rest) : git.raw([task, ...rest]));
  });
  try {
    await untilAborted(done, signal, () => endGroup(run.child, done));
    const output = Promise.all([stdout.end, stderr.end]);
    const [bytes, said] = await untilAborted(output, signal, async () => undefined);
    return { ok: code === 0, stdout: bytes, stderr: said.toString() };
  } finally {
    run.child = null;
  }
}

/**
 * Collects a stream to its end. simple-git's own collection may stop 50 ms after the process ends,
 * before everything is read; with `onExit: false` it waits for the end, but never frees what it has
 * read.
 */
function createCollector(
  most: number,
  onMore: () => void,
): { collect(stream: NodeJS.ReadableStream): void; end: Promise<Buffer> } {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  return {
    collect(stream) {
      let chunks: Buffer[] = [];
      let bytes = 0;
      stream.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes <= most) return void chunks.push(chunk);
        chunks = [];
        onMore();
      });
      stream.on('close', () => resolve(Buffer.concat(chunks)));
    },
    end: promise,
  };
}

async function untilAborted<T>(work: Promise<T>, signal: AbortSignal, end: () => Promise<void>): Promise<T> {
  const { promise: aborted, resolve: onAbort } = Promise.withResolvers<'aborted'>();
  const listener = (): void => onAbort('aborted');
  signal.addEventListener('abort', listener, { once: true });
  try {
    const first = await Promise.race([work.then((value) => ({ value })), aborted]);
    if (first !== 'aborted') return first.value;
    await end();
    throw signal.reason;
  } finally {
    signal.removeEventListener('abort', listener);
  }
}

/** Resolves when the processes are gone, at most two seconds after the first signal. */
async function endGroup(child: ChildProcess | null, output: Promise<unknown>): Promise<void> {
  const over = output.then(
    () => true,
    () => true,
  );
  for (const name of ['SIGTERM', 'SIGKILL'] as const) {
    signalGroup(child, name);
    if (await Promise.race([over, sleep(1000, false, { ref: false })])) break;
  }
  signalGroup(child, 'SIGKILL');
}

function signalGroup(child: ChildProcess | null, name: NodeJS.Signals): void {
  if (child?.pid === undefined) return;
  try {
    process.kill(child.spawnfile === 'setsid' ? -child.pid : child.pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
