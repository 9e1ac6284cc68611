import { findPath, type LookupResult, type ListTree } from '../lookup.ts';
import { fileTooLarge, lfsPointer } from '../refusal.ts';
import type { Snapshot, SnapshotEntry, SnapshotFile } from '../snapshot.ts';
import type { TreeEntry } from '../objects/tree.ts';

/** The parts of a merge. */
export interface Merged {
  /** The commit that was merged, and its snapshot. */
  theirs: Snapshot;
  /** The commit that it was merged into. */
  ours: Snapshot;
  /** The merged tree, ordered by path. */
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
export async function createMergedSnapshot({ ours, theirs, entries, contents, fileBytes }: Merged): Promise<Snapshot> {
  const list = listerOf(entries);
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
      const looked: LookupResult[] = [];
      for (const path of paths) looked.push(await findPath('', path, list));
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

/** Lists folders from their paths. The id of a folder is its path. */
function listerOf(entries: readonly SnapshotEntry[]): ListTree {
  const folders = new Map<string, Map<string, TreeEntry>>([['', new Map()]]);
  for (const { path, kind, id } of entries) {
    let folder = '';
    const segments = path.split('/');
    for (const [index, name] of segments.entries()) {
      const at = folder === '' ? name : `${folder}/${name}`;
      const isLast = index === segments.length - 1;
      const names = folders.get(folder)!;
      if (!names.has(name)) names.set(name, isLast ? { name, kind, id } : { name, kind: 'folder', id: at });
      if (!isLast && !folders.has(at)) folders.set(at, new Map());
      folder = at;
    }
  }
  return async (folder) => [...(folders.get(folder)?.values() ?? [])];
}
