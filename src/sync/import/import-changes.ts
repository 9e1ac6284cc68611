import { fileOf } from '../../model/view.ts';
import { isInStep, type RunDocument } from '../../model/connection.ts';
import type { HistoryCommit } from '../../source/source.ts';
import { fileIn, isSince, publishPast, readPast, type ImportWork } from './import-past.ts';
import { findPaths, type PastPaths } from './past-paths.ts';

/** The progress of an import: the value of one record. */
interface Imported {
  /** The file that is imported. */
  repository: string;
  path: string;
  /** Where the import starts. Null: the first commit. */
  since: string | null;
  /**
   * The last commit that was read. Null: something was rejected, so the next import starts over.
   */
  commit: string | null;
  hasRefused: boolean;
}

const commitsPerNote = 20;
const blobsPerFetch = 200;

/**
 * Publishes every commit of the branch that changed the document or a file that it refers to,
 * oldest first. Saves its progress every few commits and resumes there. After a complete import, it
 * starts over only when something was rejected.
 */
export async function importChanges(work: ImportWork): Promise<RunDocument[]> {
  const { registry, connected, remote, history, since, onProgress, signal } = work;
  const paths = await findPaths(history, fileOf(connected.connection), readPast(work));
  const ref = `imports/${connected.org}/${connected.type}/${connected.slug}`;
  const before = (await registry.refs.readFresh<Imported>(ref))?.value ?? null;
  const reached = before !== null && coversAll(before, work) ? before : null;
  const start = history.findIndex(({ commit }) => commit === reached?.commit) + 1;
  const hasBegun = ({ commit }: HistoryCommit) => paths.at(commit) !== null;
  const rest = history.slice(start).filter((each) => hasBegun(each) && isSince(each.committedAt, since));
  const documents: RunDocument[] = [];
  // The files that the last commit needed. Unknown after a resume, so the first commit is always
  // read.
  let inputs: readonly string[] = [];
  let isUnknown = rest.length < history.length;
  let brought = 0;
  let hasRefused = start > 0 && reached!.hasRefused;
  for (const [index, { commit, files }] of rest.entries()) {
    signal.throwIfAborted();
    const path = paths.at(commit)!;
    if (files.get(path) === null) inputs = [];
    const isTouched = [path, ...inputs].some((each) => files.has(each));
    if (files.get(path) !== null && (isTouched || isUnknown)) {
      if (index >= brought) brought = await bringAhead(work, rest, paths, index);
      const snapshot = await registry.source.snapshot(remote, commit, signal);
      if ((await fileIn(snapshot, [path])) !== null) {
        const { document, read } = await publishPast(work, { commit, path, tag: null }, snapshot);
        inputs = read ?? inputs;
        documents.push(document);
        hasRefused ||= !isInStep(document);
        onProgress?.({ done: index + 1, total: rest.length, document });
      }
      isUnknown = false;
    }
    const isLast = index === rest.length - 1;
    if ((index + 1) % commitsPerNote === 0 || isLast)
      await note(work, ref, { commit: isLast && hasRefused ? null : commit, hasRefused });
  }
  return documents;
}

/**
 * Fetches the document's blobs of the next commits in one request. Returns the index of the first
 * commit that is not covered.
 */
async function bringAhead(
  { registry, remote, signal }: ImportWork,
  commits: readonly HistoryCommit[],
  paths: PastPaths,
  from: number,
): Promise<number> {
  const blobs = new Set<string>();
  let index = from;
  for (; index < commits.length && blobs.size < blobsPerFetch; index++) {
    const { commit, files } = commits[index]!;
    const blob = files.get(paths.at(commit)!);
    if (blob) blobs.add(blob);
  }
  if (blobs.size > 1) await registry.source.bringBlobs(remote, commits[from]!.commit, [...blobs], signal);
  return index;
}

/** Whether an earlier import's progress covers this import. */
function coversAll(
  { repository, path, since }: Imported,
  { connected: { connection }, since: wanted }: Pick<ImportWork, 'connected' | 'since'>,
): boolean {
  if (repository !== connection.repository || path !== connection.path) return false;
  return since === null || (wanted !== null && Date.parse(wanted) >= Date.parse(since));
}

async function note(
  { registry, run, connected, since }: ImportWork,
  ref: string,
  progress: Pick<Imported, 'commit' | 'hasRefused'>,
): Promise<void> {
  const change = { actor: `sync:${run.org}`, origin: `run:${run.id}`, action: 'import' };
  const { repository, path } = connected.connection;
  await registry.refs.update<Imported>(ref, () => ({ value: { repository, path, since, ...progress }, change }));
}
