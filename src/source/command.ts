import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { RegistryError } from '../model/errors.ts';
import { untilAborted, within } from '../scheduling/waiting.ts';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

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

/** What one run of git may use. */
interface GitSettings {
  /** The repository, which is also the working directory. */
  folder: string;
  /**
   * The transports that git may use, as in `GIT_ALLOW_PROTOCOL`. `none` for commands that only
   * read.
   */
  protocols: string;
  /** Git settings. Passed in the environment, so they may contain a secret. */
  config?: Readonly<Record<string, string>>;
  /** Additional environment variables. */
  environment?: Readonly<Record<string, string>>;
  /** Where to find git and ssh, as in `PATH`. */
  searchPath: string;
}

// Settings that protect this process. No repository and no user's configuration may change them (design §10).
const walls: Readonly<Record<string, string>> = {
  'core.hooksPath': '/dev/null',
  'core.fsmonitor': 'false',
  'core.askPass': '',
  'core.bigFileThreshold': '8m',
  // A mirror is a cache: what a crash of the machine damages is fetched again.
  'core.fsync': 'none',
  'credential.helper': '',
  'fetch.recurseSubmodules': 'false',
  'fetch.unpackLimit': '1',
  'gc.auto': '0',
  'http.followRedirects': 'false',
  'http.lowSpeedLimit': '1',
  'http.proxy': '',
  'maintenance.auto': 'false',
  'pack.threads': '1',
  'protocol.version': '2',
  'submodule.recurse': 'false',
  // Real repositories contain old mistakes that fsck rejects. Stele checks what it reads instead:
  // sizes, names and blob ids.
  'transfer.fsckObjects': 'false',
};

/** The whole environment of one run of git. It contains nothing of the server's own. */
function environmentOf({ protocols, config, environment, folder, searchPath }: GitSettings): Record<string, string> {
  const settings = Object.entries({ ...walls, ...config });
  return {
    PATH: searchPath,
    HOME: '/nonexistent',
    LC_ALL: 'C',
    GIT_DIR: folder,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_TERMINAL_PROMPT: '0',
    // git 2.39.4 or newer. Without it, git fetches objects that a server left out, and starts
    // itself endlessly for a shallow repository.
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: protocols,
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
    ...environment,
  };
}

/** Whether there is such a program in the folders of a `PATH`. */
function isProgram(name: string, searchPath: string): boolean {
  return searchPath.split(':').some((folder) => existsSync(join(folder, name)));
}

/** Rejects when there is no git. */
function assertGit(searchPath: string): void {
  if (isProgram('git', searchPath)) return;
  throw new RegistryError('unavailable', 'git is not installed, or not in a folder where the server looks for it.');
}
