import { readFile, copyFile, cp, lstat, mkdir, readdir, realpath, rename, rm } from 'node:fs/promises';
import { join, basename, dirname, resolve, sep } from 'node:path';
import { digestOf, isDigest, type Digest } from '../../model/digest.ts';
import { copyFileSync, linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { codeOf, ignoring, unavailable, conflict } from '../../model/errors.ts';
import { isTaken } from '../../store/process.ts';

/** The file name of a build's manifest. */
export const manifestName = '.stele-build.json';

/** A file of a build. */
export interface BuiltFile {
  /** Relative to the build's folder, separated by `/`. */
  path: string;
  size: number;
  /** Of a document, where it is the entity tag too, and of a plain file of the search index: the digest of its bytes. */
  digest?: Digest;
  /** Its own `Content-Security-Policy`. */
  policy?: string;
}

/** The paths of a unit's files. */
export function pathsOf({ files }: Pick<BuiltUnit, 'files'>): string[] {
  return files.map(({ path }) => path);
}

/** Files with the same inputs, built again when those change. */
export interface BuiltUnit {
  /** Digest of all inputs of the files. */
  inputs: Digest;
  files: BuiltFile[];
}

/** Header fields by lower-case name, as the server sends them. */
export type Fields = Readonly<Record<string, string>>;

/** The manifest of a build. */
export interface BuildManifest {
  format: 1;
  units: Record<string, BuiltUnit>;
  /** The header fields for each kind of file, without those of single files. */
  headers: Record<string, Fields>;
}

function manifestIn(folder: string): Promise<string | null> {
  return readFile(join(folder, manifestName), 'utf8').catch(() => null);
}

/** Parses a manifest. Null if it is invalid, for example with paths that leave the folder. */
function parseBuildManifest(text: string): BuildManifest | null {
  try {
    const manifest = JSON.parse(text) as BuildManifest;
    const files = Object.values(manifest.units).flatMap((unit) => unit.files);
    const isSound = manifest.format === 1 && typeof manifest.headers === 'object' && files.every(isBuiltFile);
    return isSound && Object.values(manifest.units).every(({ inputs }) => isDigest(inputs)) ? manifest : null;
  } catch {
    return null;
  }
}

function isBuiltFile({ path, size }: BuiltFile): boolean {
  if (typeof size !== 'number' || typeof path !== 'string' || path.includes('\0')) return false;
  return path.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..');
}

/** The target folder of a build. */
export type BuildFolder = Awaited<ReturnType<typeof openBuildFolder>>;

/**
 * An unfinished build. Files are made one after the other: nothing else waits, and a thread for each
 * of a hundred thousand costs more than the file.
 */
export type Beginnings = Awaited<ReturnType<typeof begin>>;

/**
 * Opens the target folder. It must be absent, empty, or contain only a previous build; otherwise
 * rejects with `conflict`. Removes the remains of killed builds.
 */
export async function openBuildFolder(out: string) {
  const target = await realpath(out).catch(() => resolve(out));
  await sweep(target);
  const before = await manifestIn(target);
  return {
    /** The manifest of the previous build, without what has since been removed or changed. Null if there is none. */
    old: await inspect(target, before),
    /** Starts a build in a temporary folder beside the target. */
    begin: () => begin(target, before),
    /** Whether another build has replaced the previous one since. */
    isReplaced: async () => (await manifestIn(target)) !== before,
  };
}

async function inspect(target: string, text: string | null): Promise<BuildManifest | null> {
  const stats = await lstat(target).catch(ignoringAbsence);
  if (stats === null) return null;
  if (!stats.isDirectory()) throw conflict(`${target} is not a folder. Choose another --out.`);
  const all = await readdir(target, { recursive: true, withFileTypes: true });
  const isTie = (entry: (typeof all)[number]) =>
    entry.name === worktreeFile && entry.parentPath === target && entry.isFile();
  const isTools = ({ name, parentPath }: (typeof all)[number]) =>
    toolFolders.some((tool) => (name === tool && parentPath === target) || isWithin(join(target, tool), parentPath));
  const entries = all.filter((entry) => !isTie(entry) && !isTools(entry));
  if (entries.length === 0) return null;
  const manifest = text === null ? null : parseBuildManifest(text);
  if (manifest === null) {
    const message = `${target} contains files that are not from a build. Choose a folder that is empty or does not exist.`;
    throw conflict(message);
  }
  const paths = new Set(Object.values(manifest.units).flatMap(pathsOf));
  const there = new Set<string>();
  for (const entry of entries) {
    if (entry.isDirectory()) continue;
    const path = `${entry.parentPath.slice(target.length)}/${entry.name}`.split(sep).join('/').slice(1);
    if (!entry.isFile() || (path !== manifestName && !paths.has(path))) {
      const message = `${target} contains ${path}, which is not from a build and would be removed. Move it away.`;
      throw conflict(message);
    }
    there.add(path);
  }
  const { mtimeMs: builtAt } = statSync(join(target, manifestName));
  const isIntact = ({ path, size, digest }: BuiltFile): boolean => {
    if (!there.has(path)) return false;
    const place = join(target, path);
    const found = statSync(place);
    // A checkout of a branch is newer than its build, too.
    const isDoubtful = digest !== undefined && found.mtimeMs > builtAt;
    return found.size === size && (!isDoubtful || digestOf(readFileSync(place)) === digest);
  };
  const whole = Object.entries(manifest.units).filter(([, { files }]) => files.every(isIntact));
  return { ...manifest, units: Object.fromEntries(whole) };
}

/** What ties a git worktree to its repository: a file, which the next build keeps. In a clone it is a folder. */
const worktreeFile = '.git';

/** Folders that the hosts' tools keep beside what they deploy. The next build keeps them, too. */
const toolFolders = ['.netlify', '.wrangler'];

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}${sep}`);
}

/** `before`: the manifest of the previous build, from which files are kept. */
async function begin(target: string, before: string | null) {
  const mark = `${process.pid}-${process.hrtime.bigint().toString(36)}`;
  const folder = beside(target, `new-${mark}`);
  const former = beside(target, `old-${mark}`);
  await mkdir(dirname(target), { recursive: true }).catch(explain);
  await mkdir(folder).catch(explain);
  const folders = new Set<string>();

  function at<T>(path: string, work: (place: string) => T): T {
    const place = join(folder, path);
    const parent = dirname(place);
    try {
      if (!folders.has(parent)) mkdirSync(parent, { recursive: true });
      folders.add(parent);
      return work(place);
    } catch (error) {
      explain(error);
    }
  }

  return {
    write: (path: string, bytes: Uint8Array | string): void =>
      at(path, (place) => writeFileSync(place, bytes, { flag: 'wx' })),
    /** Keeps a file of the previous build, as a hard link if possible. Returns false if it no longer exists. */
    keep: (path: string): boolean => at(path, (place) => share(join(target, path), place)),
    /** Adds a second name for a file of this build. */
    repeat(from: string, to: string): void {
      at(to, (place) => share(join(folder, from), place));
    },
    /**
     * Replaces the previous build, which stays in place until this one is complete. False: another build did so before,
     * and stays.
     */
    async publish(): Promise<boolean> {
      await copyFile(join(target, worktreeFile), join(folder, worktreeFile)).catch(ignoringAbsence).catch(explain);
      for (const name of toolFolders)
        await cp(join(target, name), join(folder, name), { recursive: true }).catch(ignoringAbsence).catch(explain);
      // Whatever was kept until now is of the build that this one began with.
      if ((await manifestIn(target)) !== before) return false;
      const isThere = (await rename(target, former).catch(ignoringAbsence).catch(explain)) !== null;
      const isFirst = await rename(folder, target)
        .catch(ignoringAnother)
        .catch(async (error: unknown) => {
          if (isThere) await rename(former, target);
          explain(error);
        });
      rmSync(former, { recursive: true, force: true });
      return isFirst !== null;
    },
    /** Discards this build. The previous one stays. */
    discard: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Creates a hard link, or a copy if the file system has no hard links. Returns false if there is no such file. */
function share(from: string, to: string): boolean {
  try {
    linkSync(from, to);
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    if (!['EXDEV', 'EPERM', 'EMLINK', 'ENOTSUP'].includes(codeOf(error))) throw error;
    copyFileSync(from, to);
  }
  return true;
}

/** `site` → `.site.stele-new-123-abc`, in the same folder and therefore on the same file system. */
function beside(target: string, what: string): string {
  return join(dirname(target), `.${basename(target)}.stele-${what}`);
}

/** Removes the remains of dead builds. Undoes a build that died between its two final renames. */
async function sweep(target: string): Promise<void> {
  const prefix = basename(beside(target, ''));
  const names = (await readdir(dirname(target)).catch(ignoringAbsence)) ?? [];
  for (const name of names) {
    const [, what, pid] =
      /^(new|old)-(\d+)-[0-9a-z]+$/.exec(name.startsWith(prefix) ? name.slice(prefix.length) : '') ?? [];
    if (what === undefined || isTaken(Number(pid))) continue;
    const path = join(dirname(target), name);
    if (what === 'old' && (await lstat(target).catch(ignoringAbsence)) === null) await rename(path, target);
    else await rm(path, { recursive: true, force: true });
  }
}

/** Rethrows the error, explained if the reader can do something about it. */
function explain(error: unknown): never {
  const reason = reasons.get(codeOf(error));
  if (reason === undefined) throw error;
  throw unavailable(`${reason} The previous build is unchanged.`, { cause: error });
}

const reasons = new Map([
  ['ENOSPC', 'The disk is full.'],
  ['EDQUOT', 'The disk is full.'],
  ['EFBIG', 'A file exceeds the size limit of this process (ulimit -f).'],
  ['EACCES', 'Permission denied in the parent folder, where the new build is written before it replaces the old one.'],
  ['EBUSY', 'The folder is a mount point and cannot be replaced. Choose a folder inside it.'],
  ['EROFS', 'The file system is read-only.'],
]);

const ignoringAbsence = ignoring('ENOENT');
/** Where another build just put its folder. */
const ignoringAnother = ignoring('ENOTEMPTY', 'EEXIST');
