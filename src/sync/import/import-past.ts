import type { HistoryCommit, Remote } from '../../source/source.ts';
import { formatCoordinate } from '../../model/address.ts';
import { holdIn } from '../../model/problem.ts';
import { chooseLatest } from '../../model/resource.ts';
import { unyanked } from '../../registry/gate/compatibility.ts';
import type { RunDocument } from '../../model/connection.ts';
import type { Digest } from '../../model/digest.ts';
import { hasDied } from '../../compile/compile.ts';
import { filesOf, type Snapshot } from '../../source/snapshot.ts';
import { documentName } from '../../plan/find-documents.ts';
import { shareOf } from '../../plan/find-twins.ts';
import { plannedFor, type Connected } from '../../plan/plan.ts';
import { endOf, noteOnTag, publishDocument, refusable, type End } from '../publish-document.ts';
import type { Publishing } from '../runs.ts';

/** The paths of a document through its history. */
export type PastPaths = Awaited<ReturnType<typeof findPaths>>;

/** Reads a file of a commit. Null: it is not there, or too large. */
type ReadPast = (commit: string, path: string) => Promise<string | null>;

const maxCompared = 10;

/**
 * Follows a document back through its history (oldest first). A file that was moved counts as the
 * same document, and as for git one that replaces a removed file and has half of its lines. So does
 * one that was removed and is back, but not a file that had its path before.
 */
export async function findPaths(history: readonly HistoryCommit[], newest: string, read: ReadPast) {
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
  return {
    /** The path it had in that commit, if it existed. Null for a commit before it began, undefined for one outside the history. */
    at: (commit: string) => paths.get(commit),
    /** Every path it had, newest first. */
    all: [...all],
  };
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
  const changed = [...files].flatMap(([each, blob]) => (blob !== null && documentName.test(each) ? [each] : []));
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
  const removed = [...files].flatMap(([each, blob]) => (blob === null && documentName.test(each) ? [each] : []));
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

function isThere(history: readonly HistoryCommit[], path: string): boolean {
  const last = history.findLast(({ files }) => files.has(path));
  return last !== undefined && last.files.get(path) !== null;
}

/**
 * Whether an imported version that is older than the latest may become latest: `keep`: no; `rule`:
 * as the rules of design §7 say; `ask`: the import is refused if that makes a difference.
 */
export type ImportLatest = 'keep' | 'rule' | 'ask';

/** An import that is running. */
export interface ImportWork extends Publishing {
  connected: Connected;
  remote: Remote;
  /** Commits of the branch, oldest first. */
  history: readonly HistoryCommit[];
  /** Skips commits before this time. ISO 8601; null: none. */
  since: string | null;
  latest: ImportLatest;
  onProgress: ((progress: ImportProgress) => void) | undefined;
}

/** Reported after each imported commit or tag. */
export interface ImportProgress {
  /** Commits or tags that need nothing more, including those of earlier imports. */
  done: number;
  total: number;
  /** What was imported. Null at the start: `done` were imported before. */
  document: RunDocument | null;
}

/** A past commit to import, from a tag or from the branch. */
export interface Past {
  commit: string;
  path: string;
  /** The tag, and the label that it gives. Null: the document's own version. */
  tag: { name: string; label: string } | null;
}

/** The result for a past commit. */
export interface PublishedPast {
  document: RunDocument;
  /** The paths of all files that it needed. Null when that is unknown. */
  read: string[] | null;
  /** The ruleset that the document was checked with, when it was rejected for what it says. Null also for what waits. */
  refusal: { ruleset: Digest | null } | null;
}

/** Publishes the document as of a past commit. `dryRun`: decides, but writes nothing. */
export async function publishPast(
  { registry, repository, connected, run, latest, signal }: ImportWork,
  { commit, path, tag }: Past,
  snapshot: Snapshot,
  { dryRun = false } = {},
): Promise<PublishedPast> {
  signal.throwIfAborted();
  const { view, ...plain } = plannedFor(connected);
  const planned = { ...plain, path, ...(view && { view: { ...view, file: path } }) };
  const floor = chooseLatest({ ...unyanked(connected), latestPinned: false });
  const how = {
    version: tag?.label ?? null,
    isPast: true,
    floor,
    latest: latest === 'rule' || ('newer' as const),
    dryRun,
  };
  const result = await refusable(() => publishDocument({ registry, repository, run, signal }, snapshot, planned, how));
  if ('refusal' in result) return { document: refuse(connected, commit, result.refusal), read: null, refusal: null };
  const end = await endOf(registry, result);
  const note = 'version' in result && tag !== null ? noteOnTag(tag.name, tag.label, result) : null;
  const isRefused = result.outcome === 'rejected' && !hasDied(result.report) && holdIn(result.report) === null;
  return {
    document: documentOf(connected, commit, { ...end, detail: note ?? end.detail }),
    read: result.compiled.files.map((file) => file.path),
    refusal: isRefused ? { ruleset: result.ruleset } : null,
  };
}

/** The result for a past commit that cannot be published. */
export function refuse(connected: Connected, commit: string, detail: string): RunDocument {
  return documentOf(connected, commit, { outcome: 'conflict', label: null, report: null, detail });
}

function documentOf({ org, type, slug, connection }: Connected, commit: string, end: End): RunDocument {
  return { path: connection.path, resource: formatCoordinate({ org, type, slug }), commit, ...end };
}

/** The first of the paths that exists in the snapshot, with its blob id. Null when none does. */
export async function fileIn(
  snapshot: Snapshot,
  paths: readonly string[],
): Promise<{ path: string; blob: string } | null> {
  const files = filesOf(await snapshot.entries());
  const path = paths.find((each) => files.has(each));
  return path === undefined ? null : { path, blob: files.get(path)! };
}

/** Bytes of a file that is compared with another one. */
const maxBytesRead = 4 * 2 ** 20;

/** Reads files of past commits as text. */
export function readPast({ registry, remote, signal }: ImportWork): ReadPast {
  return async (commit, path) => {
    const outcome = await refusable(async () => {
      const snapshot = await registry.source.snapshot(remote, commit, signal);
      return (await snapshot.read([path]))[0]!;
    });
    if ('refusal' in outcome || !outcome.found || outcome.bytes.byteLength > maxBytesRead) return null;
    return Buffer.from(outcome.bytes).toString();
  };
}

/** Whether a commit is new enough to import. */
export function isSince(committedAt: string | null, since: string | null): boolean {
  return since === null || (committedAt !== null && Date.parse(committedAt) >= Date.parse(since));
}
