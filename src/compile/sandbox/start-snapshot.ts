import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, stat, utimes } from 'node:fs/promises';
import { getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cachedDataVersionTag } from 'node:v8';
import { digestOf, hexOf } from '../../model/digest.ts';
import { isBuilt, scripts, type Trade } from './fork-sandbox.ts';

/** A folder beside the compiled code of this process; null if this process caches none. */
export function besideOwnCode(): string | null {
  const folder = getCompileCacheDir();
  return folder === undefined ? null : join(dirname(folder), 'sandbox');
}

/**
 * Opens the startup snapshot of a build in a folder (null: none): the memory of a sandbox that has loaded its
 * program, so that others start from it in a fifth of the time. It holds for one version of Node and one kind of
 * processor, so it is made where it is used, by a process that gets no documents. `makesNow`: does not wait until it is
 * closed.
 */
export function openStartSnapshot(root: string | null, { makesNow, trade }: { makesNow: boolean; trade: Trade }) {
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
    /** The file, or null: there is none yet, or another user could have written it. */
    async find(): Promise<string | null> {
      if (root === null || !isBuilt) return null;
      // Without it sandboxes start all the same, only later.
      snapshot ??= await look(root).catch(() => null);
      // A program of another version deletes what is long unused.
      if (snapshot === null || !existsSync(snapshot)) return null;
      await utimes(snapshot, new Date(), new Date()).catch(() => undefined);
      return snapshot;
    },
    /** Has it made in the background if it was missed. Does not wait for it. */
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
