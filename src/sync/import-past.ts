import { formatCoordinate } from '../model/address.ts';
import type { Repository, Run, RunDocument } from '../model/connection.ts';
import { filesOf, type Snapshot } from '../source/snapshot.ts';
import type { HistoryCommit, Remote } from '../source/source.ts';
import { plannedFor, type Connected } from '../plan/plan.ts';
import { publishDocument, refusable } from './publish-document.ts';
import type { PublishResult } from '../registry/publish.ts';
import type { Registry } from '../registry/registry.ts';

/** An import that is running. */
export interface ImportWork {
  registry: Registry;
  repository: Repository;
  connected: Connected;
  remote: Remote;
  /** Commits of the branch, oldest first. */
  history: readonly HistoryCommit[];
  run: Run;
  /** Skips commits before this time. ISO 8601; null: none. */
  since: string | null;
  onProgress: ((progress: ImportProgress) => void) | undefined;
  signal: AbortSignal;
}

/** Reported after each imported commit or tag. */
export interface ImportProgress {
  done: number;
  total: number;
  document: RunDocument;
}

/** A past commit to import, from a tag or from the branch. */
export interface Past {
  commit: string;
  /** The document's path in that commit. */
  path: string;
  /** The label that the tag gives. Null: the document's own version. */
  version: string | null;
}

type End = Pick<RunDocument, 'outcome' | 'label' | 'detail'>;

/**
 * Publishes the document as of a past commit. `read`: the paths of all files that it needed, or
 * null when that is unknown.
 */
export async function publishPast(
  { registry, repository, connected, run, signal }: ImportWork,
  { commit, path, version }: Past,
  snapshot: Snapshot,
): Promise<{ document: RunDocument; read: string[] | null }> {
  signal.throwIfAborted();
  const planned = { ...plannedFor(connected), path };
  const result = await refusable(() =>
    publishDocument({ registry, repository, run, signal }, snapshot, planned, { version, isPast: true }),
  );
  if ('refusal' in result) return { document: refuse(connected, commit, result.refusal), read: null };
  return { document: tell(connected, commit, endOf(result)), read: result.compiled.files.map((file) => file.path) };
}

/** The result for a past commit that cannot be published. */
export function refuse(connected: Connected, commit: string, detail: string): RunDocument {
  return tell(connected, commit, { outcome: 'conflict', label: null, detail });
}

function tell({ org, type, slug, connection }: Connected, commit: string, end: End): RunDocument {
  return { path: connection.path, resource: formatCoordinate({ org, type, slug }), commit, report: null, ...end };
}

function endOf(result: PublishResult): End {
  if (result.outcome === 'conflict') return { outcome: 'conflict', label: null, detail: result.detail };
  if (result.outcome !== 'rejected') return { outcome: result.outcome, label: result.version.label, detail: null };
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

/** Whether a commit is new enough to import. */
export function isSince(committedAt: string | null, since: string | null): boolean {
  return since === null || (committedAt !== null && Date.parse(committedAt) >= Date.parse(since));
}
