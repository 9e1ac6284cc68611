import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { digestOf, hexOf } from '../model/digest.ts';
import { ignoring, isRegistryError, unreachable, type RegistryError, refused } from '../model/errors.ts';
import { fetchInto, indexPack, type FetchRequest } from './git-fetch.ts';
import { hasCommit, type GitObjects } from './git-objects.ts';
import { createBareRepository, isComplete, packBytes, withScratch, type Base, type ScratchOptions } from './scratch.ts';
import type { Transport } from './transport.ts';
import type { PackRequest } from './wire.ts';

/** See `createMirror`. */
export type Mirror = ReturnType<typeof createMirror>;

/** A commit, and the ref to fetch when the server provides only tips. */
export interface FetchTarget {
  commit: string;
  ref: string;
}

export interface MirrorOptions extends ScratchOptions {
  searchPath: string;
  /** Bytes. */
  sizeLimit: number;
  objects: GitObjects;
}

// A mirror with more packs is recreated at the next commit, because every pack slows down every
// read.
const maxPacks = 40;
// Commits whose whole history is known to be in the mirror: enough for the branches and tags that
// move.
const maxHistories = 20;
// Negotiation is useless for single objects.
const noNegotiation = { 'fetch.negotiationAlgorithm': 'noop' };
const blobNone = 'blob:none';
const withoutBlobs = `--filter=${blobNone}`;
// Files that come with the commit of a push, and the most bytes of them all. Larger ones are fetched
// when they are read.
const smallBlobs = 'blob:limit=2m';
const maxBytesWithCommit = 8 * 2 ** 20;

/**
 * The local mirror of the repository at this URL, in `mirrors/` of the cache folder: a bare repository of packs, with
 * only the blobs and history that were requested. Packs are added whole, by rename, so any number
 * of processes may share a mirror and any may delete it at any time: missing objects are fetched
 * again. It has no remote, so reading it contacts nobody. Creates nothing until it is used.
 */
export function createMirror(url: string, options: MirrorOptions) {
  const { searchPath, sizeLimit, objects } = options;
  const folder = join(options.folder, 'mirrors', `${hexOf(digestOf(url)).slice(0, 32)}.git`);
  const baseFile = join(folder, 'base');
  const historyFile = join(folder, 'histories');

  const limit = { sizeLimit, counted: [folder] };

  async function fetch(transport: Transport, request: Attempt): Promise<boolean> {
    try {
      if (request.pack && (await receive(transport, request.pack))) return true;
      return await withScratch(options, request.base, async (repository) => {
        const isHere = await fetchInto(repository, transport, request, limit);
        const { proves } = request;
        const at = { folder: repository, searchPath, signal: transport.signal };
        if (request.isWhole === true && !(await isComplete(repository))) throw cutOff(url);
        if (!isHere || (proves !== undefined && !(await hasCommit(proves, at)))) return false;
        await movePacks(repository, folder);
        return true;
      });
    } catch (error) {
      if (isRegistryError(error, 'too_large')) await remove();
      throw error;
    }
  }

  /** Fetches a pack without `git fetch`, where the server allows that. */
  async function receive(transport: Transport, request: PackRequest): Promise<boolean> {
    const over = new AbortController();
    const { signal, location } = transport;
    const pack = transport.receive(request, AbortSignal.any([signal, over.signal]));
    if (pack === null) return false;
    try {
      return await withScratch(options, null, async (repository) => {
        if (!(await indexPack({ folder: repository, searchPath, signal }, location, pack, limit))) return false;
        await movePacks(repository, folder);
        // The server does not send commits that are in the base's history.
        const here = await objects.look(request.wants, { folder, searchPath, signal });
        return request.wants.every((id) => here.has(id));
      });
    } finally {
      over.abort();
    }
  }

  async function fetchFirst(transport: Transport, target: FetchTarget, attempts: readonly Attempt[]): Promise<void> {
    for (const attempt of attempts) {
      if (await fetch(transport, attempt)) return;
    }
    throw notProvided(transport.location.url, [target.commit]);
  }

  async function remove(): Promise<void> {
    const aside = join(options.folder, 'scratch', `0-${randomUUID()}`);
    await mkdir(join(options.folder, 'scratch'), { recursive: true, mode: 0o700 });
    await rename(folder, aside).catch(ignoringAbsence);
    await rm(aside, { recursive: true, force: true, maxRetries: 3 });
  }

  async function removeWorn(): Promise<void> {
    const names = await readdir(join(folder, 'objects', 'pack')).catch(ignoringAbsence);
    const packs = (names ?? []).filter((name) => name.endsWith('.pack')).length;
    if (packs > maxPacks || (await packBytes(folder)) > sizeLimit / 2) await remove();
  }

  /** The commits listed in a file of the mirror, as a base for a fetch. Null when there are none. */
  async function readBase(file: string, isShallow: boolean): Promise<Base | null> {
    const text = (await readFile(file, 'utf8').catch(ignoringAbsence)) ?? '';
    const commits = text.split('\n').filter((line) => /^[0-9a-f]{40}$/.test(line));
    return commits.length === 0 ? null : { objects: join(folder, 'objects'), commits, isShallow };
  }

  /** Writes by rename, because other processes may be reading the file. */
  async function write(file: string, commits: readonly string[]): Promise<void> {
    const temporary = `${file}-${randomUUID()}`;
    await writeFile(temporary, commits.map((commit) => `${commit}\n`).join(''), { mode: 0o600 }).catch(ignoringAbsence);
    await rename(temporary, file).catch(ignoringAbsence);
  }

  return {
    /** The bare repository. */
    folder,

    /** Those of these objects that are in the mirror, by id. `isFresh`: asks a new process of git. */
    look: (ids: readonly string[], signal: AbortSignal, isFresh?: boolean) =>
      objects.look(ids, { folder, searchPath, signal }, isFresh),

    /** Fetches a commit and its trees. */
    async fetchCommit(transport: Transport, target: FetchTarget) {
      await removeWorn();
      const shallow = { options: ['--depth=1', withoutBlobs], base: null };
      const base = await readBase(baseFile, true);
      const wants = [target.commit];
      // What a push changes is small, and read soon. A whole tree may be large. Of the commits since the
      // base, because a server that cuts at the newest one sends what the base has, too.
      const pack: PackRequest =
        base === null
          ? { wants, haves: [], depth: 1, filter: blobNone, maxBytes: sizeLimit }
          : { wants, haves: base.commits, filter: smallBlobs, maxBytes: maxBytesWithCommit };
      await fetchFirst(transport, target, [
        ...onBase(base, { ...shallow, wants, pack }),
        { ...shallow, wants, ...(base === null && { pack }) },
        { ...shallow, wants: [target.ref], proves: target.commit },
      ]);
      await write(baseFile, [target.commit]);
    },

    /** Fetches these commits and their trees in one request. False when the server does not provide all of them. */
    async fetchCommits(transport: Transport, ids: readonly string[]) {
      const some = { options: ['--depth=1', withoutBlobs, '--stdin'], wants: [], input: linesOf(ids), base: null };
      const attempts = [...onBase(await readBase(baseFile, true), some), some];
      for (const attempt of attempts) if (await fetch(transport, attempt)) return true;
      return false;
    },

    /** Fetches the tip of this ref and of every tag, with their trees. */
    async fetchTips(transport: Transport, ref: string) {
      const wants = [ref, 'refs/tags/*:refs/tags/*'];
      return fetch(transport, { options: ['--depth=1', withoutBlobs], wants, base: null });
    },

    /** Fetches a commit, its history and their trees. Only what is new since the last time is transferred. */
    async fetchHistory(transport: Transport, target: FetchTarget) {
      await removeWorn();
      const base = await readBase(historyFile, false);
      const whole = { options: ['--update-shallow', withoutBlobs], isWhole: true, base: null };
      await fetchFirst(transport, target, [
        ...onBase(base, { ...whole, wants: [target.commit] }),
        { ...whole, wants: [target.commit] },
        { ...whole, wants: [target.ref], proves: target.commit },
      ]);
      const others = (base?.commits ?? []).filter((commit) => commit !== target.commit);
      await write(historyFile, [target.commit, ...others].slice(0, maxHistories));
    },

    /** Fetches these blobs in one request, or the whole commit when the server does not provide single objects. */
    async fetchBlobs(transport: Transport, ids: readonly string[], target: FetchTarget) {
      const whole = { options: ['--depth=1'], base: null };
      await fetchFirst(transport, target, [
        {
          options: [withoutBlobs, '--stdin'],
          wants: [],
          input: linesOf(ids),
          config: noNegotiation,
          base: null,
          pack: { wants: ids, haves: [], filter: blobNone, maxBytes: sizeLimit },
        },
        { ...whole, wants: [target.commit] },
        { ...whole, wants: [target.ref], proves: target.commit },
      ]);
    },

    /** The contents of these objects. All must be in the mirror, and none larger. */
    readObjects: (ids: readonly string[], signal: AbortSignal, maxBytes?: number) =>
      objects.read(ids, { folder, searchPath, signal }, maxBytes),

    delete: remove,
  };
}

interface Attempt extends FetchRequest {
  base: Base | null;
  /** The same without a process, where the server allows that. */
  pack?: PackRequest;
  /** A commit that must be fetched too. A ref may have moved to another one. */
  proves?: string;
  /** Whether to reject a history that is cut off. */
  isWhole?: boolean;
}

/** The same attempt with a base, which another process may delete meanwhile. */
function onBase(base: Base | null, attempt: Attempt): Attempt[] {
  return base === null ? [] : [{ ...attempt, base, expects: isBaseBroken }];
}

function isBaseBroken(stderr: string): boolean {
  return /bad object|not a valid object|Could not read|unable to (?:find|read)|missing (?:blob|tree|commit)|alternate|unresolved delta/.test(
    stderr,
  );
}

/** The error for commits that a server does not provide. */
export function notProvided(url: string, commits: readonly string[]): RegistryError {
  const [what, gone] =
    commits.length === 1 ? ['commit', 'it is no longer in the repository'] : ['commits', 'a branch has moved on'];
  return unreachable(`${url} does not provide ${what} ${commits.join(' and ')}: ${gone}.`);
}

/** The error for a repository whose history is cut off. */
export function cutOff(url: string): RegistryError {
  const advice = 'Follow the repository that it was cloned from, or complete it with `git fetch --unshallow`.';
  return refused(`${url} is a shallow clone: its history is cut off. ${advice}`);
}

function linesOf(ids: readonly string[]): string {
  return ids.map((id) => `${id}\n`).join('');
}

/** Moves packs into the mirror. The index goes last, because git finds a pack by its index. */
async function movePacks(from: string, to: string): Promise<void> {
  await createBareRepository(to);
  const names = await readdir(join(from, 'objects', 'pack'));
  for (const ending of ['.pack', '.rev', '.idx']) {
    for (const name of names.filter((each) => each.startsWith('pack-') && each.endsWith(ending))) {
      await rename(join(from, 'objects', 'pack', name), join(to, 'objects', 'pack', name));
    }
  }
}

const ignoringAbsence = ignoring('ENOENT', 'ENOTDIR');
