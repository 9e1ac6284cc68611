import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { RegistryError } from '../../model/errors.ts';

/** What is asked for: bwrap where it works, bwrap or nothing, or Node's permission model alone. */
export type SandboxMode = 'auto' | 'bwrap' | 'node';

/**
 * The walls around a sandbox. `node`: Node's permission model, which Node itself enforces; `reason`
 * says why there is no more. `bwrap`: Linux namespaces around that, which the kernel enforces.
 */
export type Isolation = { kind: 'bwrap'; bwrap: string } | { kind: 'node'; reason: string };

/** A program and its arguments up to the script that it is to run. */
export interface NodeCommand {
  execPath: string;
  execArgv: string[];
}

/** On this descriptor bwrap tells the process id of the sandbox, as JSON. */
export const infoDescriptor = 4;

const bwrapPaths = ['/usr/bin/bwrap', '/bin/bwrap', '/usr/local/bin/bwrap', '/run/current-system/sw/bin/bwrap'];
const probeSeconds = 20;
const here = fileURLToPath(import.meta.url);
const code = dirname(dirname(dirname(here)));

let probed: Promise<Isolation> | null = null;

/**
 * Which walls there are on this machine. Bwrap may be installed and yet not work, as in a container
 * without user namespaces, so it is tried, once a process. Rejects with `unavailable` where the
 * mode asks for bwrap and it does not work.
 */
export async function findIsolation(mode: SandboxMode): Promise<Isolation> {
  if (mode === 'node') return { kind: 'node', reason: 'The configuration says so.' };
  const found = await (probed ??= probeBwrap());
  if (mode === 'bwrap' && found.kind === 'node')
    throw new RegistryError('unavailable', `The configuration asks for the sandbox "bwrap". ${found.reason}`);
  return found;
}

async function probeBwrap(): Promise<Isolation> {
  if (process.platform !== 'linux') return { kind: 'node', reason: 'bwrap runs on Linux only.' };
  const bwrap = bwrapPaths.find((path) => existsSync(path));
  if (bwrap === undefined) return { kind: 'node', reason: 'bwrap is not installed (Debian package bubblewrap).' };
  try {
    await promisify(execFile)(bwrap, [...bwrapArguments([]), '--', process.execPath, '--version'], {
      env: {},
      cwd: '/',
      timeout: probeSeconds * 1000,
    });
    return { kind: 'bwrap', bwrap };
  } catch (error) {
    const { stderr = '', message } = error as Error & { stderr?: string };
    return { kind: 'node', reason: `bwrap does not work here: ${(stderr || message).trim().split('\n')[0]}` };
  }
}

/**
 * How to start Node as a sandbox. `also`: further files that it may read. A signal to a whole
 * service must not end bwrap, or it would take the document's work along: Node alone has handlers
 * for it, so the shell makes bwrap ignore it.
 */
export function sandboxCommand(isolation: Isolation, memoryMegabytes: number, also: readonly string[]): NodeCommand {
  const readable = [...readableFolders(), join(dirname(code), 'package.json'), ...also];
  const node = nodeArguments(readable, memoryMegabytes);
  if (isolation.kind === 'node') return { execPath: process.execPath, execArgv: node };
  const walls = ['--info-fd', `${infoDescriptor}`, ...bwrapArguments(readable)];
  const script = 'trap "" HUP INT TERM; exec "$0" "$@"';
  return { execPath: '/bin/sh', execArgv: ['-c', script, isolation.bwrap, ...walls, '--', process.execPath, ...node] };
}

/** The program's own code and content, and its packages. */
function readableFolders(): string[] {
  const folders = [code, join(dirname(code), 'content')];
  for (let folder = dirname(code); ; folder = dirname(folder)) {
    folders.push(join(folder, 'node_modules'));
    if (folder === dirname(folder)) return folders.filter((each) => existsSync(each));
  }
}

/**
 * No network, files, processes, threads or addons, a wall on memory, and without the modules that
 * the permission model forgets.
 */
function nodeArguments(readable: readonly string[], memoryMegabytes: number): string[] {
  return [
    '--permission',
    ...readable.map((path) => `--allow-fs-read=${path}`),
    `--max-old-space-size=${Math.floor(memoryMegabytes * 0.8)}`,
    '--disable-proto=delete',
    '--disable-sigusr1',
    '--no-addons',
    // A pattern of a ruleset that backtracks without end is matched in linear time instead.
    '--enable-experimental-regexp-engine-on-excessive-backtracks',
    '--no-experimental-ffi',
    '--no-experimental-sqlite',
    '--no-experimental-webstorage',
    '--no-experimental-websocket',
    '--no-experimental-global-navigator',
  ];
}

/**
 * Namespaces of its own, no rights in them, and a read-only file system of nothing but Node, its
 * libraries and what is readable.
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

/** The files that Node is linked to, as it names them itself. */
function sharedLibraries(): readonly string[] {
  // Looks up no host names for the report; @types/node does not know it.
  Object.assign(process.report, { excludeNetwork: true });
  const { sharedObjects } = process.report.getReport() as unknown as { sharedObjects: string[] };
  return sharedObjects.filter((path) => path.startsWith('/') && existsSync(path));
}
