import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { digestOf, hexOf } from '../../model/digest.ts';
import { forkSandbox, isBuilt, scripts, workerOf, type Worker, type Trade } from './fork-sandbox.ts';
import type { Isolation } from './isolation.ts';
import { giveWay } from './process-usage.ts';
import { spawn } from 'node:child_process';
import { cachedDataVersionTag } from 'node:v8';

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
async function noteUse(path: string | null): Promise<string | null> {
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

/**
 * The startup snapshot of a build: the memory of a sandbox that has loaded its program, so that others
 * start from it in a fifth of the time. It holds for one version of Node and one kind of processor, so
 * it is made where it is used, by a process that gets no documents.
 */
export interface StartSnapshot {
  /** The file, or null: there is none yet, or another user could have written it. */
  find(): Promise<string | null>;
  /** Has it made in the background if it was missed. Does not wait for it. */
  close(): void;
}

/** Opens the snapshot in a folder; null for none. `makesNow`: does not wait until it is closed. */
export function openStartSnapshot(
  root: string | null,
  { makesNow, trade }: { makesNow: boolean; trade: Trade },
): StartSnapshot {
  let snapshot: string | null = null;
  let missed: string | null = null;
  let isMaking = false;

  async function look(folder: string): Promise<string | null> {
    const file = join(folder, `${trade}-${await snapshotKey(trade)}.blob`);
    if (await isOurs(file)) return file;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    if ((await isOurs(folder)) && !(await failedLately(file))) missed = file;
    if (makesNow) make();
    return null;
  }

  function make(): void {
    if (missed === null || isMaking) return;
    isMaking = true;
    const script = join(dirname(fileURLToPath(import.meta.url)), 'make-snapshot.js');
    // Detached, since a command ends before it is made.
    const options = { cwd: '/', detached: true, env: {}, stdio: 'ignore' } as const;
    spawn(process.execPath, [script, trade, missed], options)
      .on('error', () => undefined)
      .unref();
  }

  return {
    async find() {
      if (root === null || !isBuilt) return null;
      // Without it sandboxes start all the same, only later.
      snapshot ??= await look(root).catch(() => null);
      // A program of another version deletes what is long unused.
      return snapshot !== null && existsSync(snapshot) ? noteUse(snapshot) : null;
    },
    close: make,
  };
}

/** How long it is not tried again where it could not be made. */
const pauseHours = 24;

async function failedLately(file: string): Promise<boolean> {
  const failed = await stat(`${file}.failed`).catch(() => null);
  return failed !== null && Date.now() - failed.mtimeMs < pauseHours * 3_600_000;
}

/** Whether only this user can have written it. */
async function isOurs(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => null);
  return stats !== null && (stats.mode & 0o022) === 0 && stats.uid === (process.getuid?.() ?? stats.uid);
}

/** Changes with the program, with Node and with what V8 knows of the processor. */
async function snapshotKey(trade: Trade): Promise<string> {
  // Packages keep no times of their files, so it is the time of their installation.
  const { size, ctimeMs } = await stat(scripts[trade]);
  const madeOf = [process.version, process.arch, cachedDataVersionTag(), scripts[trade], size, ctimeMs];
  return hexOf(digestOf(JSON.stringify(madeOf))).slice(0, 16);
}
