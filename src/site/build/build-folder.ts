import { copyFile, link, lstat, mkdir, readdir, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { RegistryError } from '../../model/errors.ts';
import { manifestName, readBuildManifest, type BuildManifest } from './build-manifest.ts';

/** The folder that a build is for. */
export interface BuildFolder {
  /** What the build there wrote; null where there is none. Files of it that are no longer there are not in it. */
  old: BuildManifest | null;
  /** Begins a build in a folder beside. */
  begin(): Promise<Beginnings>;
}

/** A build that nobody sees yet. */
export interface Beginnings {
  write(path: string, bytes: Uint8Array | string): Promise<void>;
  /** Takes over a file of the old build, its bytes shared where the file system can; false where it is gone. */
  keep(path: string): Promise<boolean>;
  /** Gives a file that was written here a second name. */
  repeat(from: string, to: string): Promise<void>;
  /** Puts it in place of the old build: until it is all there, the old one stands, and after it, this. */
  publish(): Promise<void>;
  /** Removes all of it. The old build stands. */
  discard(): Promise<void>;
}

/**
 * Opens the folder that a build is to be in: it is absent, empty, or holds an earlier build and nothing else; anything else is refused with
 * `conflict`. What builds that were killed left beside it is removed.
 */
export async function openBuildFolder(out: string): Promise<BuildFolder> {
  const target = await realpath(out).catch(() => resolve(out));
  await sweep(target);
  const old = await inspect(target);
  return { old, begin: () => begin(target) };
}

/** What is written there, checked against what is said of it. */
async function inspect(target: string): Promise<BuildManifest | null> {
  const found = await lstat(target).catch(ignoringAbsence);
  if (found === null) return null;
  if (!found.isDirectory()) throw new RegistryError('conflict', `${target} is no folder.`);
  const entries = await readdir(target, { recursive: true, withFileTypes: true });
  if (entries.length === 0) return null;
  const manifest = await readBuildManifest(target);
  if (manifest === null) {
    const message = `${target} holds something else than an earlier build. Name a folder that is empty or not there yet.`;
    throw new RegistryError('conflict', message);
  }
  const said = new Set(Object.values(manifest.units).flatMap(({ files }) => files.map(({ path }) => path)));
  const there = new Set<string>();
  for (const entry of entries) {
    if (entry.isDirectory()) continue;
    const path = `${entry.parentPath.slice(target.length)}/${entry.name}`.split(sep).join('/').slice(1);
    if (!entry.isFile() || (path !== manifestName && !said.has(path))) {
      const message = `${target} holds ${path}, which no build wrote and the next would remove. Move it away.`;
      throw new RegistryError('conflict', message);
    }
    there.add(path);
  }
  const whole = Object.entries(manifest.units).filter(([, { files }]) => files.every(({ path }) => there.has(path)));
  return { ...manifest, units: Object.fromEntries(whole) };
}

async function begin(target: string): Promise<Beginnings> {
  const mark = `${process.pid}-${process.hrtime.bigint().toString(36)}`;
  const folder = beside(target, `new-${mark}`);
  const former = beside(target, `old-${mark}`);
  await mkdir(dirname(target), { recursive: true }).catch(explain);
  await mkdir(folder).catch(explain);
  const made = new Map<string, Promise<unknown>>();

  async function placeFor(path: string): Promise<string> {
    const place = join(folder, path);
    const parent = dirname(place);
    const making = made.get(parent) ?? mkdir(parent, { recursive: true }).catch(explain);
    made.set(parent, making);
    await making;
    return place;
  }

  return {
    async write(path, bytes) {
      await writeFile(await placeFor(path), bytes, { flag: 'wx' }).catch(explain);
    },
    async keep(path) {
      const kept = await share(join(target, path), await placeFor(path)).catch(ignoringAbsence);
      return kept !== null;
    },
    async repeat(from, to) {
      await share(join(folder, from), await placeFor(to)).catch(explain);
    },
    async publish() {
      const isThere = (await rename(target, former).catch(ignoringAbsence).catch(explain)) !== null;
      try {
        await rename(folder, target);
      } catch (error) {
        if (isThere) await rename(former, target);
        explain(error);
      }
      await rm(former, { recursive: true, force: true });
    },
    discard: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Makes one file of two names; a copy where the file system has no such thing. */
async function share(from: string, to: string): Promise<true> {
  try {
    await link(from, to);
  } catch (error) {
    if (!['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP'].includes(codeOf(error))) throw error;
    await copyFile(from, to).catch(explain);
  }
  return true;
}

/** `site` → `.site.stele-new-123-abc`, in the same folder and so on the same file system. */
function beside(target: string, what: string): string {
  return join(dirname(target), `.${basename(target)}.stele-${what}`);
}

/** Removes what dead builds left. One that died between the two renames of its end is undone. */
async function sweep(target: string): Promise<void> {
  const prefix = basename(beside(target, ''));
  const names = (await readdir(dirname(target)).catch(ignoringAbsence)) ?? [];
  for (const name of names) {
    const [, what, pid] =
      /^(new|old)-(\d+)-[0-9a-z]+$/.exec(name.startsWith(prefix) ? name.slice(prefix.length) : '') ?? [];
    if (what === undefined || isAlive(Number(pid))) continue;
    const path = join(dirname(target), name);
    if (what === 'old' && (await lstat(target).catch(ignoringAbsence)) === null) await rename(path, target);
    else await rm(path, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}

/** Throws what happened, in words where the reader can do something about it. */
function explain(error: unknown): never {
  const reason = reasons.get(codeOf(error));
  if (reason === undefined) throw error;
  throw new RegistryError('unavailable', `${reason} What was built before still stands.`, { cause: error });
}

const reasons = new Map([
  ['ENOSPC', 'The disk is full.'],
  ['EDQUOT', 'The disk is full.'],
  ['EFBIG', 'A file is larger than this process may write.'],
  ['EACCES', 'The folder may not be written beside: a build is made next to the one that it takes the place of.'],
  ['EBUSY', 'The folder is where a file system is mounted, and cannot be renamed: name a folder within it.'],
  ['EROFS', 'The file system cannot be written to.'],
]);

function ignoringAbsence(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null;
  throw error;
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? '';
}
