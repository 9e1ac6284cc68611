import { isWell, type RunDocument } from '../model/connection.ts';
import type { HistoryCommit } from '../source/source.ts';
import { fileIn, isSince, publishPast, type ImportWork } from './import-past.ts';
import { findPaths, type PastPaths } from './past-paths.ts';

/** How far an import of every change has come: the value of one ref. */
interface Imported {
  /** Of which file. */
  repository: string;
  path: string;
  /** From when on. */
  since: string | null;
  /** The commit that was looked at last; null: the next import begins at the beginning, since something was refused. */
  commit: string | null;
  hasRefused: boolean;
}

const commitsPerNote = 20;
const blobsPerFetch = 200;

/**
 * Publishes every commit of the branch that changed the document or what it refers to, oldest first. Notes every few commits how far it is, and
 * goes on from there the next time; once it is through, only what was refused is a reason to begin again.
 */
export async function importChanges(work: ImportWork): Promise<RunDocument[]> {
  const { registry, connected, remote, history, since, onProgress, signal } = work;
  const paths = findPaths(history, connected.connection.path);
  const ref = `imports/${connected.org}/${connected.type}/${connected.slug}`;
  const before = (await registry.refs.read<Imported>(ref))?.value ?? null;
  const reached = before !== null && coversAll(before, work) ? before : null;
  const start = history.findIndex(({ commit }) => commit === reached?.commit) + 1;
  const rest = history.slice(start).filter(({ committedAt }) => isSince(committedAt, since));
  const documents: RunDocument[] = [];
  // What the last look read. After a start in the middle nobody knows: the first commit is looked at, whatever it changed.
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
        const { document, read } = await publishPast(work, { commit, path, version: null }, snapshot);
        inputs = read ?? inputs;
        documents.push(document);
        hasRefused ||= !isWell(document);
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

/** Brings the document's own blobs of the next commits here by one fetch. Answers the index up to which they are here. */
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

/** Whether an earlier import looked at all of this one, as far as it came. */
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
