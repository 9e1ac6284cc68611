import { formatCoordinate } from '../../model/address.ts';
import { chooseLatest } from '../../model/resource.ts';
import { unyanked } from '../../registry/gate/latest-gate.ts';
import type { RunDocument } from '../../model/connection.ts';
import type { Digest } from '../../model/digest.ts';
import { hasDied } from '../../compile/sandbox-lost.ts';
import { filesOf, type Snapshot } from '../../source/snapshot.ts';
import type { HistoryCommit, Remote } from '../../source/source.ts';
import { plannedFor, type Connected } from '../../plan/plan.ts';
import type { ReadPast } from './past-paths.ts';
import { noteOnTag, publishDocument, refusable } from '../publish-document.ts';
import type { PublishResult } from '../../registry/publish.ts';
import type { Syncing } from '../syncing.ts';

/**
 * Whether an imported version that is older than the latest may become latest: `keep`: no; `rule`:
 * as the rules of design §7 say; `ask`: the import is refused if that makes a difference.
 */
export type ImportLatest = 'keep' | 'rule' | 'ask';

/** An import that is running. */
export interface ImportWork extends Omit<Syncing, 'onProgress'> {
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
  /** The document's path in that commit. */
  path: string;
  /** The tag, and the label that it gives. Null: the document's own version. */
  tag: { name: string; label: string } | null;
}

type End = Pick<RunDocument, 'outcome' | 'label' | 'detail'>;

/** The result for a past commit. */
export interface PublishedPast {
  document: RunDocument;
  /** The paths of all files that it needed. Null when that is unknown. */
  read: string[] | null;
  /** The ruleset that the document was checked with, when it was rejected for what it says. */
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
  const isRefused = result.outcome === 'rejected' && !hasDied(result.report);
  return {
    document: documentOf(connected, commit, endOf(result, tag)),
    read: result.compiled.files.map((file) => file.path),
    refusal: isRefused ? { ruleset: result.ruleset } : null,
  };
}

/** The result for a past commit that cannot be published. */
export function refuse(connected: Connected, commit: string, detail: string): RunDocument {
  return documentOf(connected, commit, { outcome: 'conflict', label: null, detail });
}

function documentOf({ org, type, slug, connection }: Connected, commit: string, end: End): RunDocument {
  return { path: connection.path, resource: formatCoordinate({ org, type, slug }), commit, report: null, ...end };
}

function endOf(result: PublishResult, tag: Past['tag']): End {
  if (result.outcome === 'conflict') return { outcome: 'conflict', label: null, detail: result.detail };
  if (result.outcome !== 'rejected') {
    const detail = tag === null ? null : noteOnTag(tag.name, tag.label, result);
    return { outcome: result.outcome, label: result.version.label, detail };
  }
  const [first] = result.report.problems;
  const detail = first ? `${first.file}:${first.line}:${first.column} ${first.message}` : null;
  return { outcome: 'rejected', label: null, detail };
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
