import { execFile, fork, type ChildProcess, type ForkOptions } from 'node:child_process';
import { once } from 'node:events';
import { builtinModules } from 'node:module';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startChild } from '../../../src/compile/sandbox/child.ts';
import { forkSandbox, workerOf } from '../../../src/compile/sandbox/fork-sandbox.ts';
import {
  findIsolation,
  languageArguments,
  probeBwrap,
  sandboxCommand,
  type Isolation,
} from '../../../src/compile/sandbox/isolation.ts';
import { inputOf, memoryLoad } from './memory-load.ts';

const fixture = (name: string) => new URL(`../../fixtures/compile/${name}`, import.meta.url).pathname;
const cache = new URL('../../../node_modules/.cache', import.meta.url).pathname;
const node: Isolation = { kind: 'node', reason: '' };
const best = await findIsolation('auto');
const isolations = best.kind === 'bwrap' ? [node, best] : [node];
const isBwrapMissing = best.kind === 'node' && best.reason.includes('not installed');
if (best.kind === 'node') console.warn(`Not seen here: bwrap. ${best.reason}`);

let port: number;
let scratch: string;
const server = createServer((_, response) => response.end());
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ({ port } = server.address() as AddressInfo);
  // Not in /tmp, which a sandbox then has too.
  await mkdir(cache, { recursive: true });
  scratch = await mkdtemp(join(cache, 'isolation-'));
});
afterAll(async () => {
  server.close();
  await rm(scratch, { recursive: true, force: true });
});

/** What a script says that is run as a sandbox is. */
async function runInside(
  isolation: Isolation,
  name: string,
  ...more: readonly string[]
): Promise<Record<string, unknown>> {
  return firstWord(forkSandbox(fixture(name), isolation, 256, { args: [String(port), String(process.pid), ...more] }));
}

async function firstWord(child: ChildProcess): Promise<Record<string, unknown>> {
  try {
    return await new Promise((resolve, reject) => {
      child.once('exit', () => reject(new Error('It ended before it said anything.')));
      child.on('message', (message: Record<string, unknown>) => {
        if (message['type'] !== 'ready') resolve(message);
      });
    });
  } finally {
    child.kill('SIGKILL');
  }
}

/** The same behind bwrap alone: without Node's permission model. */
async function runBehindBwrap(name: string): Promise<Record<string, unknown>> {
  const { execPath, execArgv } = sandboxCommand(best, 256, { also: [fixture(name)] });
  const walls = execArgv.filter((each) => each !== '--permission' && !each.startsWith('--allow-fs-'));
  const stdio: ForkOptions['stdio'] = ['ignore', 'ignore', 'inherit', 'ipc', 'pipe'];
  return firstWord(
    fork(fixture(name), [String(port), String(process.pid)], { execPath, execArgv: walls, env: {}, stdio }),
  );
}

/** Every process that a service manager would signal: the sandbox, and bwrap around it. */
function processesOf(isolation: Isolation, pid: number): number[] {
  return isolation.kind === 'node' ? [pid] : [pid, Number(readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[3])];
}

/** Kills a sandbox so many milliseconds after its start. Resolves when nothing holds its pipes any more. */
async function killAfter(milliseconds: number): Promise<string> {
  const child = forkSandbox(fixture('probe.ts'), best, 256, { args: [String(port), String(process.pid)] });
  const closed = once(child, 'close');
  await delay(milliseconds);
  workerOf(child).kill();
  await closed;
  return 'gone';
}

/** Names, separated by spaces. */
const words = (...lines: string[]) => lines.flatMap((line) => line.split(' '));

describe('the walls of a sandbox', () => {
  const denied = 'ERR_ACCESS_DENIED';
  const unknown = 'ERR_UNKNOWN_BUILTIN_MODULE';

  it('are what Node’s permission model refuses: files, network, processes, threads', async () => {
    expect(await runInside(node, 'probe.ts')).toEqual({
      outcomes: {
        readFile: denied,
        readRoot: denied,
        writeFile: denied,
        writeCode: denied,
        spawn: denied,
        thread: denied,
        connect: denied,
        fetch: denied,
        sqlite: unknown,
        ffi: unknown,
        // Nobody but the kernel can refuse these two.
        kill: 'done',
        become: process.getuid!() === 0 ? 'done' : 'EPERM',
      },
      environment: [],
      proto: false,
    });
  });

  it.skipIf(isBwrapMissing)(
    `are, with bwrap, also what the kernel refuses${isBwrapMissing ? ' (skipped: bwrap is not installed)' : ''}`,
    async () => {
      if (best.kind === 'node') return expect(best.reason).toMatch(/^bwrap does not work here: ./);
      const both = await runInside(best, 'probe.ts');
      expect(both['outcomes']).toMatchObject({ readFile: denied, connect: denied, kill: 'ESRCH', become: 'EINVAL' });
      expect((await runBehindBwrap('probe.ts'))['outcomes']).toMatchObject({
        readFile: 'ENOENT',
        // A checkout under /tmp is there with its folder.
        writeFile: cache.startsWith('/tmp/') ? 'EROFS' : 'ENOENT',
        writeCode: 'EROFS',
        spawn: 'ENOENT',
        connect: 'ECONNREFUSED',
        fetch: 'ECONNREFUSED',
        kill: 'ESRCH',
        become: 'EINVAL',
      });
    },
  );

  it('leave nothing behind when a sandbox is ended while it starts: no process waits for bwrap', async () => {
    for (let round = 0; round < 4; round++)
      expect(await Promise.all(Array.from({ length: 8 }, (_, n) => killAfter(n)))).toEqual(Array(8).fill('gone'));
  });

  it('leave nothing behind when the registry is killed while they start', async () => {
    const mark = `killed-${process.pid}-${Date.now()}`;
    const marked = () =>
      readdirSync('/proc').filter((name) => {
        try {
          return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(mark) && /^\d+$/.test(name);
        } catch {
          return false;
        }
      });
    for (let round = 0; round < 6; round++) {
      const parent = fork(new URL('killed-parent.ts', import.meta.url), ['4', mark]);
      await once(parent, 'message');
      await delay(round * 4);
      parent.kill('SIGKILL');
      await once(parent, 'exit');
    }
    await expect.poll(marked).toEqual([]);
  });

  it.each(isolations)('stand around what starts from a snapshot, too ($kind)', async (isolation) => {
    const snapshot = join(scratch, `${isolation.kind}.blob`);
    const build = [...languageArguments, '--snapshot-blob', snapshot, '--build-snapshot'];
    await promisify(execFile)(process.execPath, [...build, fixture('snapshot-probe.cjs')]);
    expect(await firstWord(forkSandbox(fixture('probe.ts'), isolation, 256, { snapshot }))).toEqual({
      readFile: denied,
      writeFile: denied,
      connect: denied,
      // A pattern that was made before, and would run for years.
      isQuick: true,
      proto: false,
    });
  });

  it('are bwrap’s wherever bwrap has namespaces: a mistake in its arguments is no missing bwrap', async () => {
    const plain = '--unshare-all --unshare-user --disable-userns --ro-bind / / -- /bin/true'.split(' ');
    const hasNamespaces = await promisify(execFile)('bwrap', plain).then(
      () => true,
      () => false,
    );
    expect(best.kind === 'bwrap' || !hasNamespaces).toBe(true);
  });

  it('are on bwrap’s line where nothing inside can tell whether they are there', () => {
    const line = sandboxCommand({ kind: 'bwrap', bwrap: '/usr/bin/bwrap' }, 256, { also: [] }).execArgv.join(' ');
    for (const wall of ['--disable-userns', '--cap-drop ALL', '--uid 65534 --gid 65534']) expect(line).toContain(wall);
    expect(line).not.toContain(' --bind ');
  });

  it('are those that the configuration asks for, or none', async () => {
    const hangs = join(scratch, 'bwrap');
    await writeFile(hangs, '#!/bin/sh\nexec sleep 60\n', { mode: 0o700 });
    await expect(probeBwrap([hangs], 0.1)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await findIsolation('node')).toEqual({ kind: 'node', reason: 'The configuration says so.' });
    if (best.kind === 'bwrap') expect(await findIsolation('bwrap')).toBe(best);
    else await expect(findIsolation('bwrap')).rejects.toMatchObject({ code: 'unavailable' });
  });
});

// Code is highlighted in a process of its own, which is closed alike.
const closed = [
  ...isolations.map((isolation) => ({ kind: isolation.kind, isolation, worker: 'worker' })),
  { kind: best.kind, isolation: best, worker: 'code-worker' },
];

describe.each(closed)('inside a sandbox, once it works ($kind, $worker)', ({ isolation, worker }) => {
  let told: Record<string, string[]> & { tried: number };
  beforeAll(async () => {
    told = (await runInside(isolation, 'inside.ts', worker)) as typeof told;
  });

  it('no builtin module can be had, by import, require, the loader, or text that is run', () => {
    expect(told.tried).toBeGreaterThanOrEqual(builtinModules.length);
    expect(told['opened']).toEqual([]);
  });

  it('a module that the program itself had loaded is empty', () => {
    expect(told['fs']).toEqual(['constants', 'default', 'existsSync', 'readFileSync']);
    expect(told['read']).toEqual(['ERR_ACCESS_DENIED', 'ERR_ACCESS_DENIED']);
  });

  it('no file can be written', () => {
    expect(told['writes']).toEqual(['false']);
  });

  it('the process object describes itself, and cannot affect others', () => {
    expect(told['process']!.toSorted()).toEqual(
      words(
        'version versions arch platform release features argv0 env cwd permission',
        '_events _eventsCount _maxListeners domain',
        'Symbol(shapeMode) Symbol(kCapture) Symbol(Symbol.toStringTag)',
        'exit reallyExit exitCode _exiting _fatalException emitWarning _rawDebug',
        'nextTick _tickCallback hrtime uptime stdout stderr',
        'memoryUsage resourceUsage cpuUsage threadCpuUsage',
        // It writes to the memory of its own arguments.
        'title',
        'channel connected disconnect _handleQueue _pendingMessage',
      ).toSorted(),
    );
  });

  it('of the globals that Node adds to the language, none reaches out', () => {
    const language = new Set(runInNewContext('Reflect.ownKeys(globalThis).map(String)') as string[]);
    const added = told['globals']!.filter((name) => !language.has(name));
    expect(added.toSorted()).toEqual(
      words(
        'AbortController AbortSignal Blob Buffer CustomEvent DOMException ErrorEvent Event',
        'EventTarget File MessageEvent QuotaExceededError URL URLPattern URLSearchParams',
        'Performance PerformanceEntry PerformanceMark PerformanceMeasure PerformanceObserver',
        'PerformanceObserverEntryList PerformanceResourceTiming performance',
        'ByteLengthQueuingStrategy CountQueuingStrategy CompressionStream DecompressionStream',
        'ReadableByteStreamController ReadableStream ReadableStreamBYOBReader ReadableStreamBYOBRequest',
        'ReadableStreamDefaultController ReadableStreamDefaultReader TransformStream',
        'TransformStreamDefaultController WritableStream WritableStreamDefaultController',
        'WritableStreamDefaultWriter TextDecoder TextDecoderStream TextEncoder TextEncoderStream',
        'Crypto CryptoKey SubtleCrypto crypto atob btoa structuredClone global process',
        'clearImmediate clearInterval clearTimeout queueMicrotask',
        'setImmediate setInterval setTimeout Symbol(Symbol.toStringTag)',
      ).toSorted(),
    );
    for (const name of ['WebAssembly', 'SharedArrayBuffer', 'Atomics']) expect(told['globals']).not.toContain(name);
  });

  if (worker !== 'worker') return;
  it('a signal to every process of a service ends no work', async () => {
    const child = startChild(256, isolation, { isForeground: true });
    const files = {
      'a.yaml': 'openapi: 3.1.0\ninfo: {title: Pets, version: "1"}\npaths: {/a: {$ref: b.yaml}}\n',
      'b.yaml': 'get: {responses: {"200": {description: A.}}}\n',
    };
    const load = async (paths: string[]) => {
      // While it works.
      if (paths.includes('b.yaml'))
        for (const pid of processesOf(isolation, child.pid!))
          for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.kill(pid, signal);
      return memoryLoad(files)(paths);
    };
    const job = { type: 'compile', input: inputOf('a.yaml') } as const;
    const outcome = await child.run(job, { seconds: 60, load, signal: undefined });
    expect(outcome).toMatchObject({ answer: { report: { problems: [] } } });
    child.kill();
  });
});
