import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { RegistryError } from '../model/errors.ts';
import { untilAborted, within } from '../scheduling/waiting.ts';
import { assertGit, environmentOf, type GitSettings } from './git-environment.ts';

/** One run of git. */
export interface GitCommand extends GitSettings {
  /** Never contains a secret, because every user of the machine can read it. */
  args: readonly string[];
  /** Standard input. An error while it is read ends the input there. */
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

/**
 * Runs git with a minimal environment. A non-zero exit code is a result, not an error. When the
 * signal aborts, the whole process group gets SIGTERM, then SIGKILL a second later, and the call
 * rejects with the signal's reason.
 */
export async function runGit(command: GitCommand): Promise<GitResult> {
  const { args, input = '', outputBytes = 256 * 2 ** 20 } = command;
  const flood = new AbortController();
  const signal = AbortSignal.any([command.signal, flood.signal]);
  signal.throwIfAborted();
  const child = startGit(args, command);
  const ended = once(child, 'close') as Promise<[code: number | null]>;
  const onFlood = () => flood.abort(new RegistryError('too_large', `git printed more than ${outputBytes} bytes.`));
  const stdout = collect(child.stdout, outputBytes, onFlood);
  const stderr = collect(child.stderr, outputBytes, onFlood);
  // Git itself reports an input that ends early.
  pipeline(typeof input === 'string' ? [input] : input, child.stdin).catch(() => undefined);
  try {
    const [code] = await untilAborted(ended, signal);
    return { ok: code === 0, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() };
  } catch (error) {
    await endGroup(child, ended);
    throw error;
  }
}

/** Starts git as the leader of a process group, which the signals of a terminal do not reach. */
export function startGit(args: readonly string[], settings: GitSettings): ChildProcessWithoutNullStreams {
  assertGit(settings.searchPath);
  return spawn('git', args, { cwd: settings.folder, env: environmentOf(settings), detached: true });
}

/** The chunks of a stream, which are dropped when they have more than `max` bytes. */
function collect(stream: Readable, max: number, onMore: () => void): Buffer[] {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= max) return void chunks.push(chunk);
    chunks.length = 0;
    onMore();
  });
  return chunks;
}

/** Resolves when the processes are gone, at most two seconds after the first signal. */
async function endGroup({ pid }: ChildProcessWithoutNullStreams, ended: Promise<unknown>): Promise<void> {
  if (pid === undefined) return;
  signalGroup(pid, 'SIGTERM');
  const isOver = await within(1000, ended);
  signalGroup(pid, 'SIGKILL');
  if (!isOver) await within(1000, ended);
}

function signalGroup(leader: number, name: NodeJS.Signals): void {
  try {
    process.kill(-leader, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
