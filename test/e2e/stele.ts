import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

const ownCli = new URL('../../src/cli.ts', import.meta.url).pathname;

interface StartOptions {
  cwd?: string;
  env?: Record<string, string>;
  /** The program to run. Default: this one. */
  cli?: string;
  /** Files and sockets that the process may have open. Default: as many as this process. */
  descriptors?: number;
  /** A command that runs the rest of its arguments, such as bwrap with its options. */
  within?: readonly string[];
}

/** What a finished command printed, and how it ended. */
export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs one `stele` command to its end. */
export async function runStele(args: readonly string[], options: StartOptions = {}): Promise<Ended> {
  const child = start(args, options);
  let stdout = '';
  let stderr = '';
  child.stdout!.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr!.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

/** A `stele serve` that answers. */
export interface Serving {
  url: string;
  pid: number;
  /** The lines on its stdout so far. */
  printed: string[];
  /** Its log so far, an object per line. */
  log: Record<string, unknown>[];
  /** Resolves with the first log line that satisfies the question, past or future. */
  logged(question: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
  /** Ends it with the signal (default SIGTERM) and answers its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts `stele serve` on a port of its own and waits until it answers. */
export async function serveStele(args: readonly string[], options: StartOptions = {}): Promise<Serving> {
  const child = start(['serve', '--port', '0', ...args], options);
  const log: Record<string, unknown>[] = [];
  const printed: string[] = [];
  const waiting = new Set<() => void>();
  let stderr = '';
  createInterface({ input: child.stderr! }).on('line', (line) => {
    stderr += `${line}\n`;
    if (line.startsWith('{')) log.push(JSON.parse(line) as Record<string, unknown>);
    for (const wake of waiting) wake();
  });
  const ended = once(child, 'close') as Promise<[number | null]>;
  const url = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      printed.push(line);
      const match = /^(?:stele listening on |\{"url":")(http:[^\s"]+)(?:"\})?$/.exec(line);
      if (match) resolve(match[1]!);
    });
    void ended.then(([code]) => reject(new Error(`stele serve ended with ${code}:\n${stderr}`)));
  });
  return {
    url,
    pid: child.pid!,
    printed,
    log,
    async logged(question) {
      for (;;) {
        const line = log.find(question);
        if (line) return line;
        await new Promise<void>((resolve) => {
          const wake = () => {
            waiting.delete(wake);
            resolve();
          };
          waiting.add(wake);
        });
      }
    },
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      return (await ended)[0];
    },
  };
}

function start(
  args: readonly string[],
  { cwd, env, cli = ownCli, descriptors, within = [] }: StartOptions,
): ChildProcess {
  const limited = ['sh', '-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh'];
  const [command, ...before] = [...(descriptors === undefined ? [] : limited), ...within, process.execPath, cli];
  return spawn(command!, [...before, ...args], {
    ...(cwd !== undefined && { cwd }),
    env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
