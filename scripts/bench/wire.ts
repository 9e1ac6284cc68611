/** What the benchmarks of reads share: servers on cores of their own, and wrk on another. Needs wrk and taskset. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { $, retry } from 'zx';
import { loadConfig } from '../../src/config/load-config.ts';
import { openRegistry } from '../../src/open.ts';
import type { Registry } from '../../src/registry/registry.ts';
import { freePort } from '../../test/servers/ports.ts';

export interface Server {
  name: string;
  url: string;
  /** The process, and those that it started. */
  pids: number[];
}

/** A request whose rate is measured. */
export interface Ask {
  url: string;
  headers?: readonly string[];
  /** How many connections ask at once. Default: 64. */
  connections?: number;
  /** A script for wrk. */
  script?: string;
}

export interface Rate {
  /** Requests in a second. */
  wall: number;
  /** Microseconds of the server's own processor time for each. */
  own: number;
  /** Microseconds within which half of them were answered. */
  half: number;
}

export const root = new URL('../..', import.meta.url).pathname;
const cli = `${root}/src/cli.ts`;

/** A folder and processes that are gone at the end. */
export interface Wire {
  folder: string;
  /** Runs a command in the folder. */
  run: (parts: TemplateStringsArray, ...values: unknown[]) => Promise<{ stdout: string }>;
  /** Starts a command on these cores and waits until the URL answers. `cores`: as for taskset. */
  serve(
    name: string,
    command: readonly string[],
    url: string,
    options?: { cores?: string; env?: NodeJS.ProcessEnv },
  ): Promise<Server>;
  /** Runs `stele` with the data of this benchmark. */
  stele(...args: string[]): Promise<string>;
  /** Opens the registry with it here, and closes it after the work. */
  inRegistry(work: (registry: Registry) => Promise<void>): Promise<void>;
  /** Starts `stele serve` with it. */
  serveStele(options?: { cores?: string; args?: readonly string[]; env?: NodeJS.ProcessEnv }): Promise<Server>;
  stop(server: Server): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** `config`: the configuration of `stele`. */
export async function openWire(config: object): Promise<Wire> {
  const folder = await mkdtemp(join(tmpdir(), 'stele-bench-'));
  // nginx's worker may be another user.
  await chmod(folder, 0o755);
  const run: Wire['run'] = (parts, ...values) => $({ cwd: folder, quiet: true })(parts, ...values);
  const running = new Map<number, ChildProcess>();
  const file = join(folder, 'config.mjs');
  await writeFile(file, `export default ${JSON.stringify(config)};`);
  const common = ['--config', file, '--data', join(folder, 'data')];

  async function serve(
    name: string,
    command: readonly string[],
    url: string,
    { cores = '0', env = {} }: { cores?: string; env?: NodeJS.ProcessEnv } = {},
  ): Promise<Server> {
    const child = spawn('taskset', ['-c', cores, ...command], {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    running.set(child.pid!, child);
    await retry(150, '200ms', () => run`curl -sf -o /dev/null ${url}`);
    const { stdout } = await $({ quiet: true, nothrow: true })`pgrep -P ${child.pid!}`;
    return { name, url: new URL(url).origin, pids: [child.pid!, ...stdout.split('\n').filter(Boolean).map(Number)] };
  }

  async function stop({ pids: [pid] }: Server): Promise<void> {
    const child = running.get(pid!)!;
    running.delete(pid!);
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }

  return {
    folder,
    run,
    serve,
    stop,
    async stele(...args) {
      return (await run`${process.execPath} ${cli} ${args} ${common}`).stdout;
    },
    async inRegistry(work) {
      const registry = await openRegistry(await loadConfig(file, join(folder, 'data')), () => undefined);
      await work(registry);
      await registry.close();
    },
    async serveStele({ cores, args = [], env = {} } = {}) {
      const port = await freePort();
      const command = [process.execPath, cli, 'serve', '--port', String(port), ...common, ...args];
      return serve('stele', command, `http://127.0.0.1:${port}/readyz`, { env, ...(cores !== undefined && { cores }) });
    },
    async [Symbol.asyncDispose]() {
      for (const pid of running.keys()) await stop({ name: '', url: '', pids: [pid] });
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Asks for as long as a round lasts, on core 1. Throws when any answer is something else than success. */
export async function measure(
  { name, pids }: Server,
  { url, headers = [], connections = 64, script }: Ask,
  { seconds, cores = '1' }: { seconds: number; cores?: string },
): Promise<Rate> {
  const more = [...headers.flatMap((field) => ['-H', field]), ...(script === undefined ? [] : ['-s', script])];
  const before = await ownSeconds(pids);
  const { stdout } = await $({
    quiet: true,
  })`taskset -c ${cores} wrk -t1 -c${connections} -d${seconds}s --latency ${more} ${url}`;
  const used = sumSince(before, await ownSeconds(pids));
  if (/Non-2xx|Socket errors/.test(stdout)) throw new Error(`${name}, ${url}: ${stdout}`);
  const requests = Number(/(\d+) requests in/.exec(stdout)![1]);
  const [, half, unit] = /50%\s+([\d.]+)(us|ms|s)/.exec(stdout)!;
  return {
    wall: Math.round(Number(/Requests\/sec:\s+([\d.]+)/.exec(stdout)![1])),
    own: (used * 1e6) / requests,
    half: Number(half) * { us: 1, ms: 1000, s: 1e6 }[unit as 'us' | 'ms' | 's'],
  };
}

/** Processor time that each process has used, of user and system (proc(5), `stat`: hundredths of a second). */
async function ownSeconds(pids: readonly number[]): Promise<Map<number, number>> {
  const found = new Map<number, number>();
  for (const pid of pids) {
    // A sandbox that nobody needs any more has ended.
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
    const fields = stat?.replace(/^.*\) /s, '').split(' ');
    if (fields) found.set(pid, (Number(fields[11]) + Number(fields[12])) / 100);
  }
  return found;
}

/** Processor time that these processes have used, in seconds. */
export async function processorSeconds(pids: readonly number[]): Promise<number> {
  return sumSince(new Map(pids.map((pid) => [pid, 0])), await ownSeconds(pids));
}

/** Of the processes that still run. */
function sumSince(before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>): number {
  return [...after].reduce((sum, [pid, seconds]) => sum + seconds - before.get(pid)!, 0);
}

export function mediansOf(rates: readonly Rate[]): Rate {
  const median = (values: number[]) => values.sort((a, b) => a - b)[values.length >> 1]!;
  return {
    wall: median(rates.map(({ wall }) => wall)),
    own: median(rates.map(({ own }) => own)),
    half: median(rates.map(({ half }) => half)),
  };
}

export function showRate({ wall, own, half }: Rate): string {
  return `${wall}/s ${own.toFixed(1)} µs (p50 ${half})`;
}

/** An OpenAPI document of about this many bytes, the same each time, that packs about as well as real ones do. */
export function makeDocument(bytes: number, title = `Benchmark ${bytes}`): string {
  const words =
    'amount account balance card charge customer dispute event invoice ledger mandate order payment refund'.split(' ');
  const word = (n: number) => words[Math.floor(Math.abs(Math.sin(n) * 1e6)) % words.length]!;
  const sentence = (n: number) => Array.from({ length: 12 }, (_, i) => word(n * 31 + i)).join(' ');
  const operation = (n: number) => ({
    operationId: `get${n}`,
    summary: sentence(n),
    responses: {
      200: {
        description: sentence(n + 1000),
        content: {
          'application/json': {
            schema: { type: 'object', properties: { [word(n)]: { type: 'string' }, id: { type: 'integer' } } },
          },
        },
      },
    },
  });
  const count = Math.ceil(bytes / 426);
  const paths = Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`/${word(n)}/${n}`, { get: operation(n) }]),
  );
  return JSON.stringify({ openapi: '3.1.0', info: { title, version: '1.0.0' }, paths });
}
