import { fork, type ChildProcess } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { functionsArgument } from './functions-argument.ts';
import { infoDescriptor, sandboxCommand, type Isolation, type SandboxFiles } from './isolation.ts';

const here = fileURLToPath(import.meta.url);

/** Whether this is the build that is packed, and not the sources. */
export const isBuilt = here.endsWith('.js');

/**
 * What a sandbox can do. `code` renders pages and highlights the code in them, and does nothing else.
 * `functions` compiles as `all` does, with the functions of rulesets: only there is WebAssembly.
 */
export type Trade = 'all' | 'code' | 'functions';

/** The programs of sandboxes. */
export const scripts: Readonly<Record<Trade, string>> = {
  all: join(dirname(here), isBuilt ? 'worker.cjs' : 'worker.ts'),
  code: join(dirname(here), isBuilt ? 'code-worker.cjs' : 'code-worker.ts'),
  functions: join(dirname(here), isBuilt ? 'worker.cjs' : 'worker.ts'),
};

/** The interpreter's calls are on the stack of Node. */
const functionsStack = '--stack-size=3900';

/**
 * Starts a script in a sandbox, without an environment. It may read only itself, the program's code
 * and its packages.
 */
export function forkSandbox(
  script: string,
  isolation: Isolation,
  memoryMegabytes: number,
  { args = [], ...files }: Omit<SandboxFiles, 'also'> & { args?: readonly string[] } = {},
): ChildProcess {
  const runsFunctions = args.includes(functionsArgument);
  const child = fork(script, args, {
    ...sandboxCommand(isolation, memoryMegabytes, {
      ...files,
      also: [script],
      more: runsFunctions ? [functionsStack] : [],
    }),
    // The zone is the same everywhere, as functions of rulesets see it.
    env: runsFunctions ? { TZ: 'UTC' } : {},
    cwd: dirname(here),
    serialization: 'advanced',
    // Ctrl-C on a terminal must reach only the registry, which then lets its sandboxes finish or
    // ends them.
    detached: true,
    // The first is never written to: it ends with this process, and with it the sandbox.
    stdio: ['pipe', 'ignore', 'pipe', 'ipc', ...(isolation.kind === 'bwrap' ? (['pipe'] as const) : [])],
  });
  // Node also handles messages of its own on this channel. An unexpected one from a sandbox would
  // end this process.
  child.removeAllListeners('internalMessage');
  return child;
}

/** The process that does the work: the one started, or the one that bwrap started and reported. */
export interface Worker {
  pid(): number | undefined;
  /** Ends it, and bwrap. If bwrap has not reported it yet, as soon as it does. */
  kill(): void;
  /** The end of what it said went wrong. */
  errors(): string;
}

export function workerOf(child: ChildProcess): Worker {
  let inner: number | undefined;
  let info = '';
  let isUnwanted = false;
  let errors = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-4000);
  });
  const report = child.stdio[infoDescriptor];
  report?.on('data', (json: Buffer) => {
    info += json.toString();
    const pid = /"child-pid": *(\d+)\D/.exec(info)?.[1];
    if (pid !== undefined) inner ??= Number(pid);
    if (isUnwanted) kill();
  });

  /**
   * Kills the process inside bwrap: bwrap reaps it and exits. If bwrap itself is killed, that process
   * becomes a zombie if process 1 does not reap, or waits for bwrap forever if it has just started.
   */
  function kill(): void {
    if (child.exitCode !== null || child.signalCode !== null) return;
    isUnwanted = true;
    if (report && inner === undefined) return;
    if (inner === undefined || !tryKill(inner)) child.kill('SIGKILL');
  }

  return { pid: () => inner ?? child.pid, kill, errors: () => errors };
}

function tryKill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}
