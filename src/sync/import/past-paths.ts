import type { HistoryCommit } from '../../source/source.ts';

/** The paths of a document through its history. */
export interface PastPaths {
  /**
   * The path it had in that commit, if it existed. Null for a commit before it began, undefined for
   * one outside the history.
   */
  at(commit: string): string | null | undefined;
  /** Every path it had, newest first. */
  all: readonly string[];
}

/** Reads a file of a commit. Null: it is not there, or too large. */
export type ReadPast = (commit: string, path: string) => Promise<string | null>;

/** The most removed files that are compared with one that was added. */
const maxCompared = 10;

/**
 * Follows a document back through its history (oldest first). A file that was moved counts as the
 * same document, and as for git one that replaces a removed file and has half of its lines. So does
 * one that was removed and is back, but not a file that had its path before.
 */
export async function findPaths(history: readonly HistoryCommit[], newest: string, read: ReadPast): Promise<PastPaths> {
  const paths = new Map<string, string | null>();
  const all = new Set([newest]);
  let path: string | null = newest;
  for (let at = history.length - 1; at >= 0; at--) {
    paths.set(history[at]!.commit, path);
    if (path === null) continue;
    const before = await cameFrom(history, at, path, read);
    path = before ?? ((await wasLeft(history, at, path, read)) ? null : path);
    if (path !== null) all.add(path);
  }
  return { at: (commit) => paths.get(commit), all: [...all] };
}

/** The path that the file at this path had before the commit, or null when the commit did not move it there. */
async function cameFrom(
  history: readonly HistoryCommit[],
  at: number,
  path: string,
  read: ReadPast,
): Promise<string | null> {
  return history[at]!.moves.get(path) ?? replacedBy(history, at, path, read);
}

/** Whether a commit added the file at a path that another document had, which moved away. */
async function wasLeft(history: readonly HistoryCommit[], at: number, path: string, read: ReadPast): Promise<boolean> {
  if (!history[at]!.files.get(path)) return false;
  const last = history.slice(0, at).findLastIndex(({ files }) => files.has(path));
  if (last < 0 || history[last]!.files.get(path) !== null) return false;
  const { files, moves } = history[last]!;
  if ([...moves.values()].includes(path)) return true;
  const changed = [...files].flatMap(([each, blob]) => (blob !== null && isDocument(each) ? [each] : []));
  for (const each of changed.slice(0, maxCompared)) {
    if ((await cameFrom(history, last, each, read)) === path) return true;
  }
  return false;
}

/** The file that a commit removed and replaced by one at this path, or null. */
async function replacedBy(
  history: readonly HistoryCommit[],
  at: number,
  path: string,
  read: ReadPast,
): Promise<string | null> {
  const { commit, files } = history[at]!;
  const before = history[at - 1]?.commit;
  if (before === undefined || !files.get(path)) return null;
  const removed = [...files].flatMap(([each, blob]) => (blob === null && isDocument(each) ? [each] : []));
  if (removed.length === 0 || isThere(history.slice(0, at), path)) return null;
  const nameOf = (each: string) => each.slice(each.lastIndexOf('/') + 1);
  const likely = removed.toSorted((a, b) => Number(nameOf(b) === nameOf(path)) - Number(nameOf(a) === nameOf(path)));
  const atPath = await read(commit, path);
  let best: { path: string; share: number } | null = null;
  for (const each of atPath === null ? [] : likely.slice(0, maxCompared)) {
    const text = await read(before, each);
    const share = text === null ? 0 : shareOf(atPath!, text);
    if (share >= 0.5 && share > (best?.share ?? 0)) best = { path: each, share };
  }
  return best?.path ?? null;
}

function isDocument(path: string): boolean {
  return /\.(?:json|ya?ml)$/i.test(path);
}

/** Whether a file is there after these commits. */
function isThere(history: readonly HistoryCommit[], path: string): boolean {
  const last = history.findLast(({ files }) => files.has(path));
  return last !== undefined && last.files.get(path) !== null;
}

/** The share of lines that two texts have in common, of the longer one. */
function shareOf(one: string, other: string): number {
  const lines = (text: string) => text.split('\n').filter((line) => line.trim() !== '');
  const [own, old] = [lines(one), lines(other)];
  const left = new Map<string, number>();
  for (const line of old) left.set(line, (left.get(line) ?? 0) + 1);
  let common = 0;
  for (const line of own) {
    const count = left.get(line) ?? 0;
    if (count === 0) continue;
    left.set(line, count - 1);
    common++;
  }
  return common / Math.max(own.length, old.length, 1);
}
