import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { digestOf, hexOf } from '../../model/digest.ts';
import { forkSandbox, isBuilt, scripts, workerOf, type Worker } from './fork-sandbox.ts';
import type { Isolation } from './isolation.ts';
import { giveWay } from './priority.ts';

/**
 * Compiled code for sandboxes, in the form of Node's own (`NODE_COMPILE_CACHE`). A sandbox loads
 * some 800 modules, and compiling them is more than half of its start. Sandboxes only read the
 * folder: a process that gets no documents writes it, so that no document changes what runs later.
 */
export interface CodeCache {
  /** The folder for sandboxes with this isolation, complete or not; null without a cache. */
  folderFor(isolation: Isolation): Promise<string | null>;
  /** Ends the process that writes it. */
  close(): void;
}

const writerMegabytes = 1000;
const code = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const completeMark = 'complete';
let key: Promise<string> | undefined;

/** A folder beside the compiled code of this process; null if this process caches none. */
export function besideOwnCode(): string | null {
  const folder = getCompileCacheDir();
  return folder === undefined ? null : join(dirname(folder), 'sandbox');
}

/** Opens the cache in a folder; null for none. `fills`: writes what is missing, in the background. */
export function openCodeCache(root: string | null, { fills }: { fills: boolean }): CodeCache {
  const folders = new Map<Isolation['kind'], Promise<string | null>>();
  const writers = new Set<Worker>();

  async function open(isolation: Isolation): Promise<string | null> {
    // In a build they start from a snapshot.
    if (root === null || isBuilt || !mayRead(process.versions.node)) return null;
    // By isolation, since Node reads only what the same user wrote, and bwrap has one of its own.
    const folder = join(root, `${isolation.kind}-${await (key ??= codeKey())}`);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if (fills && !existsSync(join(folder, completeMark))) fill(folder, isolation).catch(() => undefined);
    return folder;
  }

  async function fill(folder: string, isolation: Isolation): Promise<void> {
    if (!(await write(folder, isolation))) return;
    for (const name of await readdir(folder)) await chmod(join(folder, name), 0o700);
    await writeFile(join(folder, completeMark), '', { mode: 0o600 });
    await removeUnused(root!, (name) => name.startsWith(`${isolation.kind}-`) && name !== basename(folder));
  }

  /** Whether it ended well. */
  function write(folder: string, isolation: Isolation): Promise<boolean> {
    const options = { args: ['write-code'], compiledCode: folder, writesCode: true };
    const child = forkSandbox(scripts.all, isolation, writerMegabytes, options);
    const writer = workerOf(child);
    giveWay(writer.pid(), 'start');
    writers.add(writer);
    child.unref();
    child.channel?.unref();
    return new Promise((resolve) => {
      child.once('error', () => resolve(false));
      child.once('exit', (status) => {
        writers.delete(writer);
        resolve(status === 0);
      });
    });
  }

  return {
    folderFor(isolation) {
      const { kind } = isolation;
      // Without a folder sandboxes start all the same, only later.
      if (!folders.has(kind))
        folders.set(
          kind,
          open(isolation).catch(() => null),
        );
      return folders.get(kind)!.then(noteUse);
    },
    close() {
      for (const writer of writers) writer.kill();
    },
  };
}

/** Notes that a sandbox starts from a file or folder of the cache, so that no other program removes it. Returns the path. */
export async function noteUse(path: string | null): Promise<string | null> {
  if (path !== null) await utimes(path, new Date(), new Date()).catch(() => undefined);
  return path;
}

/** Another program may start sandboxes from what is not this one's: during an upgrade, or beside it. */
const unusedHours = 1;

/** Removes from a folder of the cache what no program has used for an hour. */
export async function removeUnused(folder: string, isOther: (name: string) => boolean): Promise<void> {
  for (const name of (await readdir(folder)).filter(isOther)) {
    const path = join(folder, name);
    const { mtimeMs } = await stat(path);
    if (mtimeMs < Date.now() - unusedHours * 3_600_000) await rm(path, { recursive: true, force: true });
  }
}

/** Node reads only with the permission to write, which a process can give up since version 26.3. */
function mayRead(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 26 || (major === 26 && minor >= 3);
}

/** Changes with the program and its packages. Node itself checks that each file is of the same code. */
async function codeKey(): Promise<string> {
  const names = await readdir(code, { recursive: true });
  const packages = [join(dirname(code), 'package.json'), join(dirname(code), 'node_modules', '.package-lock.json')];
  const paths = [...names.sort().map((name) => join(code, name)), ...packages];
  const times = await Promise.all(
    paths.map((path) =>
      stat(path).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  return hexOf(digestOf(JSON.stringify([process.version, paths, times]))).slice(0, 16);
}
