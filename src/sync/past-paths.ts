import type { HistoryCommit } from '../source/source.ts';

/** The paths of a document through its history. */
export interface PastPaths {
  /** The path it had in that commit, if it existed. Null for a commit outside the history. */
  at(commit: string): string | null;
  /** Every path it had, newest first. */
  all: readonly string[];
}

/**
 * Follows a document back through its history (oldest first). A file that was moved without a
 * change counts as the same document.
 */
export function findPaths(history: readonly HistoryCommit[], newest: string): PastPaths {
  const paths = new Map<string, string>();
  const all = new Set([newest]);
  let path = newest;
  for (const { commit, moves } of history.toReversed()) {
    paths.set(commit, path);
    path = moves.get(path) ?? path;
    all.add(path);
  }
  return { at: (commit) => paths.get(commit) ?? null, all: [...all] };
}
