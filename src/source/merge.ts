import { join } from 'node:path';
import { onRefusal, tooLarge } from '../model/errors.ts';
import { bringBlobs, bringHistory, type Bringing, mending } from './bring.ts';
import { runGit, type GitResult } from './command.ts';
import type { SnapshotLimits } from './commit-snapshot.ts';
import { parseCommit, parseTree } from './git-format.ts';
import { createGitObjects } from './git-objects.ts';
import { deepen } from './history.ts';
import type { MirrorOptions, FetchTarget } from './mirror-repository.ts';
import { withScratch } from './scratch.ts';
import { filesOf, type Snapshot, type SnapshotEntry, type SnapshotFile } from './snapshot.ts';
import type { Merge } from './source.ts';
import { readFile } from 'node:fs/promises';
import type { Transport } from './transport.ts';
import {
  findPaths,
  listEntries,
  listOnce,
  type LookupResult,
  type ListTree,
  fileTooLarge,
  lfsPointer,
} from './lookup.ts';

export interface MergeOptions {
  mirrors: MirrorOptions;
  limits: SnapshotLimits;
  /** Opens the snapshot of a commit of this repository. */
  open(target: FetchTarget): Promise<Snapshot>;
}

/** One side of a merge, with the blob ids of its files by path. */
interface Side {
  target: FetchTarget;
  snapshot: Snapshot;
  files: ReadonlyMap<string, string>;
}

const maxPaths = 20;
/** Bytes of all files that both sides changed. */
const maxMergedBytes = 64 * 2 ** 20;

/** Implements `Source.merge`, with `git merge-tree` in a scratch repository over the mirror. */
export async function mergeCommits(
  bringing: Bringing,
  ours: FetchTarget,
  theirs: FetchTarget,
  options: MergeOptions,
): Promise<Merge> {
  const { repository, mirror, call } = bringing;
  const { mirrors, limits, open } = options;
  const base = await findMergeBase(await call.connect(), ours, theirs, mirrors);
  if (base === null) return { outcome: 'unrelated' };
  if (base === ours.commit) return { outcome: 'merged', snapshot: await open(theirs) };
  if (base === theirs.commit) return { outcome: 'merged', snapshot: await open(ours) };

  async function sideOf(target: FetchTarget): Promise<Side> {
    const snapshot = await open(target);
    return { target, snapshot, files: filesOf(await snapshot.entries()) };
  }

  /** The common ancestor. A server that provides only tips provides it with its history. */
  async function baseSide(): Promise<Side> {
    const target = { commit: base!, ref: ours.ref };
    const again = onRefusal('unreachable', async () => {
      await bringHistory(bringing, ours, { searchPath: mirrors.searchPath, max: Number.MAX_SAFE_INTEGER - 1 });
      return sideOf(target);
    });
    return sideOf(target).catch(again);
  }

  async function attempt(): Promise<Merge> {
    const sides = { base: await baseSide(), ours: await sideOf(ours), theirs: await sideOf(theirs) };
    const over = { objects: join(mirror.folder, 'objects'), commits: [], isShallow: false };
    return withScratch(mirrors, over, async (folder) => {
      const at = { folder, searchPath: mirrors.searchPath, signal: call.signal };
      const git = (args: string[], more: { input?: string; config?: Record<string, string> } = {}) =>
        runGit({ ...at, args, protocols: 'none', ...more });

      /** A commit with this tree, so that git need not know the history. */
      async function commitOf({ target }: Side, parent: string | null): Promise<string> {
        const bytes = (await mirror.readObjects([target.commit], call.signal)).get(target.commit);
        const tree = bytes && parseCommit(bytes)?.tree;
        if (!tree) throw new Error(`Commit ${target.commit} cannot be read.`);
        const who = 'Stele <stele@localhost> 0 +0000';
        const input = `tree ${tree}\n${parent === null ? '' : `parent ${parent}\n`}author ${who}\ncommitter ${who}\n\n`;
        return outputOf(await git(['hash-object', '-t', 'commit', '-w', '--stdin'], { input })).trim();
      }

      const root = await commitOf(sides.base, null);
      const commits = [await commitOf(sides.ours, root), await commitOf(sides.theirs, root)];

      /** The merged tree, the files in conflict, or null when git needs more contents. */
      async function mergeTree(): Promise<{ tree: string } | { paths: string[] } | null> {
        const config = {
          'merge.directoryRenames': 'false',
          'merge.renameLimit': '400',
          'core.attributesFile': '/dev/null',
        };
        const args = ['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', ...commits];
        const { ok, stdout, stderr } = await git(args, { config });
        const [tree = '', ...paths] = stdout.toString().split('\0').filter(Boolean);
        if (/^[0-9a-f]{40}$/.test(tree)) return ok ? { tree } : { paths };
        if (/unable to read|not a valid object|bad object/.test(stderr)) return null;
        throw new Error(`git merge-tree failed: ${stderr}`);
      }

      await bring(bringing, sides, new Set([...changedByBoth(sides), ...moveCandidates(sides)]));
      let merged = await mergeTree();
      if (merged === null) {
        await bring(bringing, sides, addedOrDeleted(sides));
        merged = await mergeTree();
      }
      if (merged === null) throw new Error('git merge-tree needs contents that are missing.');
      if ('paths' in merged) return { outcome: 'conflict', paths: [...new Set(merged.paths)].slice(0, maxPaths) };
      const objects = createGitObjects();
      const list = listOnce(async (tree) => parseTree((await objects.read([tree], at)).get(tree)!));
      // Reads all trees: the scratch repository is gone when the snapshot is read.
      const entries = await listEntries(merged.tree, list, limits.entries);
      const fresh = new Set(filesOf(entries).values());
      for (const { files } of [sides.ours, sides.theirs]) for (const blob of files.values()) fresh.delete(blob);
      const contents = await objects.read([...fresh], at);
      if ([...contents.values()].reduce((sum, { length }) => sum + length, 0) > maxMergedBytes)
        throw tooLarge(`${repository} has files that are too large to be merged.`);
      const tree = { root: merged.tree, list, entries, contents, fileBytes: limits.fileBytes };
      const [mine, other] = [sides.ours.snapshot, sides.theirs.snapshot];
      return { outcome: 'merged', snapshot: await createMergedSnapshot({ ours: mine, theirs: other, ...tree }) };
    });
  }
  // The mirror may be deleted while git reads it.
  return mending(repository, call.signal, attempt, async () => undefined);
}

function outputOf({ ok, stdout, stderr }: GitResult): string {
  if (!ok) throw new Error(`git failed: ${stderr}`);
  return stdout.toString();
}

interface Sides {
  base: Side;
  ours: Side;
  theirs: Side;
}

/** Files that both sides changed differently. Git needs their contents. */
function changedByBoth({ base, ours, theirs }: Sides): Set<string> {
  const paths = new Set<string>();
  for (const [path, id] of theirs.files) {
    const mine = ours.files.get(path);
    const before = base.files.get(path);
    if (mine !== undefined && mine !== id && mine !== before && id !== before) paths.add(path);
  }
  return paths;
}

/** Files that one side deleted and the other changed, and all that were added: one may be a move. */
function moveCandidates({ base, ours, theirs }: Sides): Set<string> {
  const paths = new Set<string>();
  for (const [from, to] of [
    [ours, theirs],
    [theirs, ours],
  ] as const) {
    const isMoved = [...base.files].some(([path, id]) => {
      const isRelevant = !from.files.has(path) && to.files.has(path) && to.files.get(path) !== id;
      if (isRelevant) paths.add(path);
      return isRelevant;
    });
    if (isMoved) for (const path of from.files.keys()) if (!base.files.has(path)) paths.add(path);
  }
  return paths;
}

/** Every file that may be one end of a move: git compares them when whole folders have moved. */
function addedOrDeleted({ base, ours, theirs }: Sides): Set<string> {
  const paths = [ours, theirs].flatMap(({ files }) => [
    ...[...files.keys()].filter((path) => !base.files.has(path)),
    ...[...base.files.keys()].filter((path) => !files.has(path)),
  ]);
  return new Set(paths);
}

async function bring(bringing: Bringing, sides: Sides, paths: ReadonlySet<string>): Promise<void> {
  for (const { target, files } of [sides.base, sides.ours, sides.theirs]) {
    const blobs = [...paths].flatMap((path) => files.get(path) ?? []);
    await bringBlobs(bringing, blobs, target);
  }
}

/**
 * The best common ancestor of two commits (git-merge-base(1)); null when they have none. Fetches
 * commits without trees, and only as many as prove the answer. Of several best ones, which only
 * criss-cross merges have, it is the first that git names.
 */
async function findMergeBase(
  transport: Transport,
  ours: FetchTarget,
  theirs: FetchTarget,
  options: MirrorOptions,
): Promise<string | null> {
  const { searchPath } = options;
  const { signal } = transport;
  return withScratch(options, null, async (folder) => {
    const git = (...args: string[]) => runGit({ args, folder, protocols: 'none', searchPath, signal });

    /** Whether every commit that is reachable from one side only has all its parents here. */
    async function isProven(): Promise<boolean> {
      const cut = await readFile(join(folder, 'shallow'), 'utf8').catch(() => '');
      if (cut.trim() === '') return true;
      const boundary = new Set(cut.split('\n'));
      const reachable = outputOf(await git('rev-list', `${ours.commit}...${theirs.commit}`)).split('\n');
      return !reachable.filter(Boolean).some((commit) => boundary.has(commit));
    }

    for await (const _ of deepen(folder, transport, [ours, theirs], options)) if (await isProven()) break;
    const { stdout } = await git('merge-base', ours.commit, theirs.commit);
    return stdout.toString().trim() || null;
  });
}

interface Merged {
  /** The commit that was merged, and its snapshot. */
  theirs: Snapshot;
  /** The commit that it was merged into. */
  ours: Snapshot;
  /** The id of the merged tree, what lists it and those in it, and all that is in it, ordered by path. */
  root: string;
  list: ListTree;
  entries: readonly SnapshotEntry[];
  /** Contents that neither side has: files that both changed. By blob id. */
  contents: ReadonlyMap<string, Uint8Array>;
  /** Bytes per file. */
  fileBytes: number;
}

/**
 * The files of a merge that is not committed: a snapshot that reads each file from the side that
 * has it. Its origin and date are those of the commit that would be merged.
 */
async function createMergedSnapshot(merged: Merged): Promise<Snapshot> {
  const { ours, theirs, root, list, entries, contents, fileBytes } = merged;
  const places = new Map<string, { side: Snapshot; path: string }>();
  for (const side of [ours, theirs]) {
    for (const { path, kind, id } of await side.entries()) if (kind === 'file') places.set(id, { side, path });
  }

  async function readFrom(
    side: Snapshot,
    lookups: readonly Extract<LookupResult, { found: true }>[],
  ): Promise<SnapshotFile[]> {
    const wanted = lookups.flatMap((each) => {
      const place = places.get(each.blob);
      return place?.side === side && !contents.has(each.blob) ? [{ ...each, from: place.path }] : [];
    });
    if (wanted.length === 0) return [];
    const files = await side.read(wanted.map(({ from }) => from));
    return files.map((file, index) => renamed(file, wanted[index]!.path));
  }

  return {
    origin: theirs.origin,
    committedAt: theirs.committedAt,
    note: theirs.note ?? null,
    async writers(since, paths) {
      const sides = await Promise.all([ours, theirs].map((side) => side.writers!(since, paths)));
      return sides.includes(null) ? null : sides.flatMap((people) => people!);
    },
    entries: async () => [...entries],
    async read(paths) {
      const looked = await findPaths(root, paths, list);
      const present = looked.flatMap((each) => (each.found ? [each] : []));
      const files = [...(await readFrom(ours, present)), ...(await readFrom(theirs, present))];
      const read = new Map(files.map((file) => [file.path, file]));
      return looked.map((each) => {
        if (!each.found) return each;
        const { path, blob } = each;
        const bytes = contents.get(blob);
        if (bytes === undefined) return read.get(path)!;
        if (bytes.byteLength > fileBytes) return fileTooLarge(path, bytes.byteLength, fileBytes);
        return lfsPointer(path, bytes) ?? { path, found: true, bytes, blob };
      });
    },
  };
}

/** A file that was read under another name: one side moved it. */
function renamed(file: SnapshotFile, path: string): SnapshotFile {
  if (file.path === path) return file;
  return file.found ? { ...file, path } : { ...file, path, problem: { ...file.problem, file: path } };
}
