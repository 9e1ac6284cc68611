import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { digestOf, hexOf } from '../model/digest.ts';
import { RegistryError, isRegistryError } from '../model/errors.ts';
import { runGit } from './command.ts';
import { fetchInto, type FetchRequest } from './fetch.ts';
import { createBareRepository, packBytes, withScratch, type Base, type ScratchOptions } from './scratch.ts';
import type { Transport } from './transport.ts';

/** What is known of an object without reading it. */
export interface ObjectInfo {
  type: string;
  size: number;
}

/**
 * What is kept of one remote repository: a bare repository of packs in the cache folder, shallow and without the blobs that nobody asked for.
 * Packs come in whole and by rename, so any number of processes may use one mirror, and any of them may delete it at any time: what is
 * missing is fetched again. It has no remote, so that reading it contacts nobody.
 */
export interface Mirror {
  /** The bare repository. */
  readonly folder: string;
  /** Every object that is here, by id. */
  objects(signal: AbortSignal): Promise<Map<string, ObjectInfo>>;
  /** Brings a commit and its trees here. */
  fetchCommit(transport: Transport, target: Target): Promise<void>;
  /** Brings these blobs here, by one request. Falls back to the whole commit with servers that hand out no single objects. */
  fetchBlobs(transport: Transport, ids: readonly string[], target: Target): Promise<void>;
  /** The contents of these objects, all of which must be here. */
  readObjects(ids: readonly string[], signal: AbortSignal): Promise<Map<string, Buffer>>;
  delete(): Promise<void>;
}

/** A commit, and the full name of the ref to ask for where a server hands out nothing but tips. */
export interface Target {
  commit: string;
  ref: string;
}

export interface MirrorOptions extends ScratchOptions {
  searchPath: string;
  /** Bytes. */
  sizeLimit: number;
}

// A mirror of more packs is begun anew at the next commit: every pack costs on every read.
const mostPacks = 40;

/** The mirror of the repository at this URL, in `mirrors/` of the cache folder. Creates nothing yet. */
export function createMirror(url: string, options: MirrorOptions): Mirror {
  const { searchPath, sizeLimit } = options;
  const folder = join(options.folder, 'mirrors', `${hexOf(digestOf(url)).slice(0, 32)}.git`);
  const baseFile = join(folder, 'base');

  async function fetch(transport: Transport, request: Attempt): Promise<boolean> {
    return withScratch(options, request.base, async (repository) => {
      try {
        const isHere = await fetchInto(repository, transport, request, { sizeLimit, counted: [folder] });
        if (!isHere || !(await hasCommit(repository, request.proves, transport.signal))) return false;
        await movePacks(repository, folder);
        return true;
      } catch (error) {
        if (isRegistryError(error, 'too_large')) await remove();
        throw error;
      }
    });
  }

  async function fetchFirst(transport: Transport, target: Target, attempts: readonly Attempt[]): Promise<void> {
    for (const attempt of attempts) {
      if (await fetch(transport, attempt)) return;
    }
    throw new RegistryError(
      'unreachable',
      `${transport.location.url} does not hand out commit ${target.commit}: it is gone from the repository.`,
    );
  }

  async function hasCommit(repository: string, commit: string | undefined, signal: AbortSignal): Promise<boolean> {
    if (commit === undefined) return true;
    const args = ['cat-file', '-e', `${commit}^{commit}`];
    return (await runGit({ args, folder: repository, protocols: 'none', searchPath, signal })).ok;
  }

  async function remove(): Promise<void> {
    const aside = join(options.folder, 'scratch', `0-${randomUUID()}`);
    await mkdir(join(options.folder, 'scratch'), { recursive: true });
    await rename(folder, aside).catch(ignoringAbsence);
    await rm(aside, { recursive: true, force: true, maxRetries: 3 });
  }

  async function isWorn(): Promise<boolean> {
    const names = await readdir(join(folder, 'objects', 'pack')).catch(ignoringAbsence);
    const packs = (names ?? []).filter((name) => name.endsWith('.pack')).length;
    return packs > mostPacks || (await packBytes(folder)) > sizeLimit / 2;
  }

  async function readBase(): Promise<Base | null> {
    const commit = (await readFile(baseFile, 'utf8').catch(ignoringAbsence))?.trim();
    return commit !== undefined && /^[0-9a-f]{40}$/.test(commit) ? { objects: join(folder, 'objects'), commit } : null;
  }

  async function cat(args: readonly string[], signal: AbortSignal, input?: string): Promise<Buffer> {
    const command = { args: ['cat-file', ...args], folder, protocols: 'none', searchPath, signal };
    const { ok, stdout, stderr } = await runGit(input === undefined ? command : { ...command, input });
    if (!ok) throw new Error(`git cat-file failed: ${stderr}`);
    return stdout;
  }

  return {
    folder,

    async objects(signal) {
      await createBareRepository(folder);
      return parseObjects(await cat(['--batch-check', '--batch-all-objects', '--unordered'], signal));
    },

    async fetchCommit(transport, target) {
      if (await isWorn()) await remove();
      const base = await readBase();
      const shallow = { options: ['--depth=1', '--filter=blob:none'], base: null };
      await fetchFirst(transport, target, [
        ...(base === null ? [] : [{ ...shallow, base, wants: [target.commit], expects: isBaseBroken }]),
        { ...shallow, wants: [target.commit] },
        { ...shallow, wants: [target.ref], proves: target.commit },
      ]);
      await writeFile(baseFile, target.commit).catch(ignoringAbsence);
    },

    async fetchBlobs(transport, ids, target) {
      const whole = { options: ['--depth=1'], base: null };
      await fetchFirst(transport, target, [
        {
          options: ['--filter=blob:none', '--stdin'],
          wants: [],
          input: ids.map((id) => `${id}\n`).join(''),
          // There is nothing to negotiate about.
          config: { 'fetch.negotiationAlgorithm': 'noop' },
          base: null,
        },
        { ...whole, wants: [target.commit] },
        { ...whole, wants: [target.ref], proves: target.commit },
      ]);
    },

    async readObjects(ids, signal) {
      return parseBatch(await cat(['--batch'], signal, ids.map((id) => `${id}\n`).join('')));
    },

    delete: remove,
  };
}

interface Attempt extends FetchRequest {
  base: Base | null;
  /** A commit that must have come along: what a ref names may be another by now. */
  proves?: string;
}

/** Whether a fetch stumbled over the commit it was to build on: another process has deleted the mirror meanwhile. */
function isBaseBroken(stderr: string): boolean {
  return /bad object|not a valid object|Could not read|unable to (?:find|read)|missing (?:blob|tree|commit)|alternate/.test(
    stderr,
  );
}

/** An index goes last: a pack is seen by its index. */
async function movePacks(from: string, to: string): Promise<void> {
  await createBareRepository(to);
  const names = await readdir(join(from, 'objects', 'pack'));
  for (const ending of ['.pack', '.rev', '.idx']) {
    for (const name of names.filter((each) => each.startsWith('pack-') && each.endsWith(ending))) {
      await rename(join(from, 'objects', 'pack', name), join(to, 'objects', 'pack', name));
    }
  }
}

/** Reads the lines of `git cat-file --batch-check`: `<id> <type> <size>`. */
function parseObjects(output: Buffer): Map<string, ObjectInfo> {
  const found = new Map<string, ObjectInfo>();
  for (const line of output.toString('latin1').split('\n')) {
    const [id, type, size] = line.split(' ');
    if (id && type && size) found.set(id, { type, size: Number(size) });
  }
  return found;
}

/** Reads what `git cat-file --batch` prints: `<id> <type> <size>`, a newline, the content, a newline. */
function parseBatch(output: Buffer): Map<string, Buffer> {
  const contents = new Map<string, Buffer>();
  for (let position = 0; position < output.length;) {
    const end = output.indexOf(10, position);
    const [id = '', , size] = output.toString('latin1', position, end).split(' ');
    if (size === undefined) throw new Error(`The mirror lost object ${id}.`);
    const start = end + 1;
    position = start + Number(size) + 1;
    contents.set(id, output.subarray(start, position - 1));
  }
  return contents;
}

function ignoringAbsence(error: unknown): null {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') return null;
  throw error;
}
