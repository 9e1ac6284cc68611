import { isPlainPath } from '../path.ts';
import type { SnapshotEntry } from '../snapshot.ts';

/** What became of one path. `entry` is null when it was removed. */
export interface PathChange {
  path: string;
  entry: SnapshotEntry | null;
}

/**
 * Parses the output of `git diff-tree -r -z --raw --no-renames`: `:<mode> <mode> <id> <id> <status>`
 * NUL and the path NUL, for each change. Skips the paths that `parseTree` skips.
 */
export function parseChanges(output: string): PathChange[] {
  const tokens = output.split('\0');
  const changes: PathChange[] = [];
  for (let index = 0; index + 1 < tokens.length; index += 2) {
    const [, mode = '', , id = ''] = tokens[index]!.split(' ');
    const path = tokens[index + 1]!;
    if (!isPlainPath(path) || path.includes('\ufffd')) continue;
    const kind = kindOf(mode);
    changes.push({ path, entry: kind === null ? null : { path, kind, id } });
  }
  return changes;
}

/** The entries with the changes applied, ordered by path. */
export function applyChanges(entries: readonly SnapshotEntry[], changes: readonly PathChange[]): SnapshotEntry[] {
  const result = new Map(entries.map((entry) => [entry.path, entry]));
  for (const { path, entry } of changes) {
    if (entry === null) result.delete(path);
    else result.set(path, entry);
  }
  const keyed = [...result.values()].map((entry) => ({ entry, key: Buffer.from(entry.path) }));
  return keyed.sort((a, b) => Buffer.compare(a.key, b.key)).map(({ entry }) => entry);
}

function kindOf(mode: string): SnapshotEntry['kind'] | null {
  if (mode === '120000') return 'symlink';
  if (mode === '160000') return 'submodule';
  return mode.startsWith('100') ? 'file' : null;
}
