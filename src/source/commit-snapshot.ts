import { refused } from '../model/errors.ts';
import { inGroups } from '../scheduling/turns.ts';
import { bringWriters, mending } from './bring.ts';
import { parseCommit, type Commit, parseTree, type TreeEntry } from './git-format.ts';
import { findPaths, listEntries, type ListTree, fileTooLarge, lfsPointer } from './lookup.ts';
import type { Mirror, FetchTarget } from './mirror-repository.ts';
import type { ObjectInfo } from './git-objects.ts';
import type { Snapshot, SnapshotFile } from './snapshot.ts';
import type { RemoteCall } from './transport.ts';

/** The limits of a snapshot. */
export interface SnapshotLimits {
  /** Bytes per file. */
  fileBytes: number;
  /** Names in a tree, including folders. */
  entries: number;
}

export interface CommitSnapshotOptions {
  /** URL of the repository, for messages. */
  repository: string;
  target: FetchTarget;
  mirror: Mirror;
  limits: SnapshotLimits;
  searchPath: string;
  begin: () => RemoteCall;
}

// The most bytes of a commit or tree object, and of blobs read at once.
const maxObjectBytes = 64 * 2 ** 20;

/**
 * Opens a snapshot of a commit in a mirror. Reads objects with `git cat-file`, which
 * reports sizes first. Fetches what the mirror lacks, and recreates a mirror that was deleted or
 * damaged meanwhile.
 */
export async function openCommitSnapshot(options: CommitSnapshotOptions): Promise<Snapshot> {
  const { repository, target, mirror, limits, searchPath, begin } = options;
  const trees = new Map<string, TreeEntry[]>();
  const objects = new Map<string, ObjectInfo>();

  async function look(ids: readonly string[], signal: AbortSignal, isFresh = false): Promise<void> {
    const looked = await mirror.look(ids, signal, isFresh);
    for (const id of ids) objects.delete(id);
    for (const [id, info] of looked) objects.set(id, info);
  }

  /** Runs work that reads the mirror. If the mirror fails, repairs it and runs the work again. */
  function reading<T>(call: RemoteCall, work: () => Promise<T>): Promise<T> {
    async function attempt(count: number): Promise<T> {
      if (count > 1) objects.clear();
      if (!objects.has(target.commit)) await look([target.commit], call.signal, count > 1);
      if (!objects.has(target.commit)) {
        await mirror.fetchCommit(await call.connect(), target);
        await look([target.commit], call.signal);
        if (!objects.has(target.commit)) throw new Error('The mirror lost fetched objects.');
      }
      return work();
    }
    return mending(repository, call.signal, attempt, () => mend(call));
  }

  /** Deletes a mirror that exists but cannot be read. The next reader fetches a missing one. */
  async function mend(call: RemoteCall): Promise<void> {
    const here = await mirror.look([target.commit], call.signal, true).catch(() => null);
    if (here === null || here.has(target.commit)) await mirror.delete();
  }

  async function readCommit({ signal }: RemoteCall): Promise<Commit> {
    const refusal = `${target.commit} in ${repository} is not a commit.`;
    if (objects.get(target.commit)?.type !== 'commit') throw refused(refusal);
    const bytes = (await mirror.readObjects([target.commit], signal, maxObjectBytes)).get(target.commit);
    const commit = bytes && parseCommit(bytes);
    if (!commit) throw new Error(`Commit ${target.commit} cannot be read.`);
    return commit;
  }

  function createLister({ signal }: RemoteCall): ListTree {
    return async (tree) => {
      signal.throwIfAborted();
      const listed = trees.get(tree);
      if (listed) return listed;
      const bytes = (await mirror.readObjects([tree], signal, maxObjectBytes)).get(tree)!;
      const entries = parseTree(bytes);
      trees.set(tree, entries);
      return entries;
    };
  }

  async function bringBlobs(call: RemoteCall, ids: readonly string[]): Promise<void> {
    const absent = (): string[] => ids.filter((id) => !objects.has(id));
    if (absent().length > 0) await look(absent(), call.signal);
    if (absent().length === 0) return;
    const wanted = absent();
    await mirror.fetchBlobs(await call.connect(), wanted, target);
    await look(wanted, call.signal);
    if (absent().length > 0) throw new Error('The mirror lost fetched objects.');
  }

  async function readBlobs(call: RemoteCall, ids: readonly string[]): Promise<Map<string, Buffer>> {
    const contents = new Map<string, Buffer>();
    for (const batch of inGroups(ids, { bytes: maxObjectBytes }, (id) => objects.get(id)?.size ?? 0)) {
      for (const [id, bytes] of await mirror.readObjects(batch, call.signal)) {
        contents.set(id, bytes);
      }
    }
    return contents;
  }

  async function readPaths(call: RemoteCall, paths: readonly string[]): Promise<SnapshotFile[]> {
    const files = await findPaths(root, paths, createLister(call));
    const ids = [...new Set(files.flatMap((each) => (each.found ? [each.blob] : [])))];
    await bringBlobs(call, ids);
    const sizeOf = (id: string): number => objects.get(id)?.size ?? 0;
    const contents = await readBlobs(
      call,
      ids.filter((id) => sizeOf(id) <= limits.fileBytes),
    );
    return files.map((each) => {
      if (!each.found) return each;
      const { path, blob } = each;
      const bytes = contents.get(blob);
      if (bytes === undefined) return fileTooLarge(path, sizeOf(blob), limits.fileBytes);
      return lfsPointer(path, bytes) ?? { path, found: true, bytes, blob };
    });
  }

  const opening = begin();
  const { tree: root, ...commit } = await reading(opening, () => readCommit(opening));

  return {
    origin: { repository, commit: target.commit },
    ...commit,
    entries: () => {
      const call = begin();
      return reading(call, () => listEntries(root, createLister(call), limits.entries));
    },
    writers: (since, paths) =>
      bringWriters({ repository, mirror, call: begin() }, target, { since, paths, searchPath }),
    read: (paths) => {
      const call = begin();
      return reading(call, () => readPaths(call, paths));
    },
  };
}
