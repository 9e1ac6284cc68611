import type { HistoryCommit } from '../source/source.ts';

/** Where a document was in each commit of a history. */
export interface PastPaths {
  /** Its path in that commit, if it was there; null for a commit that is not of the history. */
  at(commit: string): string | null;
  /** Every path that it ever had, the newest first. */
  all: readonly string[];
}

/** Follows a document back through its history (oldest first): where a file came from another by a move without change, it was that one. */
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
