import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { unavailable } from '../../model/errors.ts';

/**
 * The configured sandbox: bwrap if it works, bwrap or an error, or only Node's permission model.
 */
export type SandboxMode = 'auto' | 'bwrap' | 'node';

/**
 * The isolation of a sandbox. `node`: only Node's permission model, which Node itself enforces;
 * `reason` says why. `bwrap`: also Linux namespaces, which the kernel enforces.
 */
export type Isolation = { kind: 'bwrap'; bwrap: string } | { kind: 'node'; reason: string };

/** bwrap writes the process id of the sandbox to this descriptor, as JSON. */
export const infoDescriptor = 4;

const bwrapPaths = ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap', '/run/current-system/sw/bin/bwrap'];
const probeSeconds = 60;
const here = fileURLToPath(import.meta.url);
const code = dirname(dirname(dirname(here)));

let probed: Promise<Isolation> | null = null;

/**
 * Finds the isolation that this machine supports. bwrap may be installed and not work, as in a
 * container without user namespaces, so it is tried once for each process. Rejects with
 * `unavailable` if the mode requires bwrap and it does not work, and if it does not answer: a slow
 * machine must not lower the wall.
 */
export async function findIsolation(mode: SandboxMode): Promise<Isolation> {
  if (mode === 'node') return { kind: 'node', reason: 'The configuration says so.' };
  const isolation = await (probed ??= probeBwrap().catch((error: unknown) => {
    probed = null;
    throw error;
  }));
  if (mode === 'bwrap' && isolation.kind === 'node')
    throw unavailable(`The configuration asks for the sandbox "bwrap". ${isolation.reason}`);
  return isolation;
}

/** Tries bwrap. */
export async function probeBwrap(paths = bwrapPaths, seconds = probeSeconds): Promise<Isolation> {
  if (process.platform !== 'linux') return { kind: 'node', reason: 'bwrap runs on Linux only.' };
  const bwrap = paths.find((path) => existsSync(path));
  if (bwrap === undefined) return { kind: 'node', reason: 'bwrap is not installed (Debian package bubblewrap).' };
  try {
    await promisify(execFile)(bwrap, [...bwrapArguments([]), '--', process.execPath, '--version'], {
      env: {},
      cwd: '/',
      timeout: seconds * 1000,
      killSignal: 'SIGKILL',
    });
    return { kind: 'bwrap', bwrap };
  } catch (error) {
    const { stderr = '', message, killed } = error as Error & { stderr?: string; killed?: boolean };
    if (killed) throw unavailable(`bwrap did not answer within ${seconds} seconds. Try again.`);
    return { kind: 'node', reason: `bwrap does not work here: ${(stderr || message).trim().split('\n')[0]}` };
  }
}

/** Files that a sandbox may use besides the program's code. */
export interface SandboxFiles {
  /** More files that it may read. */
  also: readonly string[];
  /** The startup snapshot that it starts from (`start-snapshot.ts`). */
  snapshot?: string | null;
  /** More arguments of Node. */
  more?: readonly string[];
}

/**
 * The shell around a sandbox, whose session it leads. A signal to the whole service must not end bwrap, and with it the
 * document's compilation: only Node handles these signals, so the shell ignores them. Standard input is a pipe that ends
 * with the registry, also when that is killed; then the whole session is. `--die-with-parent` alone leaves a bwrap that
 * waits for its other half for ever, if that dies between starting it and telling it to go on.
 */
const script = `trap "" HUP INT TERM
unset PWD OLDPWD SHLVL
exec 9<&0 </dev/null
(exec 2>&- 3>&- 4>&-; read _ <&9; kill -s KILL -- -$$) &
exec "$0" "$@" 9<&-`;

/** The command that starts Node in a sandbox, up to the script to run. */
export function sandboxCommand(
  isolation: Isolation,
  memoryMegabytes: number,
  { also, snapshot = null, more = [] }: SandboxFiles,
): { execPath: string; execArgv: string[] } {
  const start = snapshot === null ? [] : [snapshot];
  const readable = [...readableFolders(), join(dirname(code), 'package.json'), ...also, ...start];
  const node = [
    ...start.flatMap((file) => ['--snapshot-blob', file]),
    ...nodeArguments(readable, memoryMegabytes),
    ...more,
  ];
  // It has no such shell.
  if (process.platform === 'win32') return { execPath: process.execPath, execArgv: node };
  if (isolation.kind === 'node') return { execPath: '/bin/sh', execArgv: ['-c', script, process.execPath, ...node] };
  const bwrapFlags = ['--info-fd', `${infoDescriptor}`, ...bwrapArguments(readable)];
  return {
    execPath: '/bin/sh',
    execArgv: ['-c', script, isolation.bwrap, ...bwrapFlags, '--', process.execPath, ...node],
  };
}

function readableFolders(): string[] {
  const folders = [code, join(dirname(code), 'content')];
  for (let folder = dirname(code); ; folder = dirname(folder)) {
    folders.push(join(folder, 'node_modules'));
    if (folder === dirname(folder)) return folders.filter((each) => existsSync(each));
  }
}

/**
 * V8 options for all code in a sandbox. A startup snapshot needs the same ones, since some take
 * effect when a regular expression or a global object is created.
 */
export const languageArguments: readonly string[] = [
  '--disable-proto=delete',
  '--disable-sigusr1',
  '--no-addons',
  // Matches a pattern with excessive backtracking in linear time instead.
  '--enable-experimental-regexp-engine-on-excessive-backtracks',
  '--no-experimental-ffi',
  '--no-experimental-sqlite',
  '--no-experimental-webstorage',
  '--no-experimental-websocket',
  '--no-experimental-global-navigator',
];

/**
 * Forbids network, files, processes, threads and addons, limits memory, and disables modules that
 * the permission model does not cover.
 */
function nodeArguments(readable: readonly string[], memoryMegabytes: number): string[] {
  return [
    '--permission',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    `--max-old-space-size=${Math.floor(memoryMegabytes * 0.8)}`,
    ...languageArguments,
  ];
}

/**
 * New namespaces without privileges, and a read-only file system with only Node, its libraries and
 * the readable folders.
 */
function bwrapArguments(readable: readonly string[]): string[] {
  return [
    ...'--unshare-user --unshare-pid --unshare-net --unshare-ipc --unshare-uts --unshare-cgroup-try'.split(' '),
    ...'--disable-userns --cap-drop ALL --uid 65534 --gid 65534'.split(' '),
    ...'--new-session --die-with-parent --as-pid-1 --hostname sandbox'.split(' '),
    ...[process.execPath, ...(libraries ??= sharedLibraries()), ...readable].flatMap((path) => [
      '--ro-bind',
      path,
      path,
    ]),
    ...'--ro-bind-try /etc/ld.so.cache /etc/ld.so.cache'.split(' '),
    ...'--remount-ro /'.split(' '),
  ];
}

let libraries: readonly string[] | null = null;

function sharedLibraries(): readonly string[] {
  // Avoids host name lookups for the report. @types/node does not know the option.
  Object.assign(process.report, { excludeNetwork: true });
  const { sharedObjects } = process.report.getReport() as unknown as { sharedObjects: string[] };
  return sharedObjects.filter((path) => path.startsWith('/') && existsSync(path));
}
