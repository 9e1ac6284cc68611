import { formatCoordinate, type Coordinate } from '../../model/address.ts';
import {
  repositoryId,
  repositoryRef,
  trustedCommit,
  type Repository,
  type Run,
  type RunDocument,
  isInStep,
} from '../../model/connection.ts';
import { isRegistryError, RegistryError } from '../../model/errors.ts';
import { assertAccepted } from '../guard.ts';
import { resourceRef, type Resource } from '../../model/resource.ts';
import {
  type ImportLatest,
  type ImportProgress,
  type ImportWork,
  fileIn,
  isSince,
  publishPast,
  readPast,
  findPaths,
  type PastPaths,
} from './import-past.ts';
import { importTags } from './import-tags.ts';
import { withLease } from '../lease.ts';
import type { Registry } from '../../registry/registry.ts';
import { remoteOf } from '../../registry/remote.ts';
import { findResource } from '../../registry/lives.ts';
import { newRun, recordRun } from '../runs.ts';
import { fileOf } from '../../model/artifact.ts';
import type { HistoryCommit } from '../../source/source.ts';

/** Which part of the history to import. */
export interface ImportOptions {
  /** Glob of tag names. Each matching tag becomes a version with that name. Null: no tags. */
  tags: string | null;
  /**
   * Whether to import every commit of the branch that changed the document or a file that it refers
   * to.
   */
  eachChange: boolean;
  /** Skips commits before this time. ISO 8601; null: none. */
  since: string | null;
  /** Default: `ask`. */
  latest?: ImportLatest;
  onProgress?: (progress: ImportProgress) => void;
}

const maxCommits = 20_000;

/**
 * Imports the history of a connected document, oldest first. Each version gets its commit's date
 * and its place in the list by that date. Published versions do not change. An import can be
 * interrupted at any time and resumes when it is repeated. It fetches only the trees of the history
 * and the document's own files. Syncs of the repository run meanwhile; another import of the same
 * document waits.
 */
export async function importHistory(
  registry: Registry,
  coordinate: Coordinate,
  { tags, eachChange, since, latest = 'ask', onProgress }: ImportOptions,
  signal: AbortSignal,
): Promise<Run> {
  const resource = await findResource(registry, coordinate);
  const name = formatCoordinate(coordinate);
  if (resource === null) throw new RegistryError('not_found', `${name} does not exist.`);
  const { connection } = resource;
  if (connection === null)
    throw new RegistryError('not_found', `${name} is not connected to a repository. Connect it, and run stele sync.`);
  const id = repositoryId(connection.repository, connection.branch);
  const repository = (await registry.refs.read<Repository>(repositoryRef(coordinate.org, id)))?.value;
  // One that is followed again, or otherwise, has to be read again from the commit that it had.
  const tip = repository && (repository.commit ?? trustedCommit(repository));
  if (!tip) throw new RegistryError('conflict', `${name} was never synced. Run stele sync first.`);
  const run: Run = { ...newRun(registry, repository, id, 'import'), state: 'running', to: tip };
  const lease = { org: coordinate.org, name: `${coordinate.type}/${coordinate.slug}` };
  return withLease(registry, lease, signal, async ({ registry: fenced, signal: held }) => {
    await recordRun(registry, run);
    const end = async (documents: RunDocument[], detail: string | null): Promise<Run> => {
      const state = detail === null ? 'succeeded' : 'failed';
      return recordRun(registry, { ...run, state, documents, detail, finishedAt: registry.now().toISOString() });
    };
    try {
      await assertAccepted(registry, repository, held);
      const remote = await remoteOf(registry, repository);
      const history = await registry.source.history(remote, tip, maxCommits, held);
      // Read again: another import of the document may have just ended.
      const newest = await registry.refs.readFresh<Resource>(resourceRef(coordinate));
      const connected = { ...(newest?.value ?? resource), connection };
      const work: ImportWork = {
        registry: fenced,
        repository,
        connected,
        remote,
        history,
        run,
        since,
        latest,
        onProgress,
        signal: held,
      };
      const documents = tags === null ? [] : await importTags(work, tags);
      if (eachChange) documents.push(...(await importChanges(work)));
      return await end(documents, null);
    } catch (error) {
      const isAsked = isRegistryError(error, 'conflict');
      await end([], isAsked ? error.message : 'The import was interrupted. Run it again to continue.');
      throw error;
    }
  });
}

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
async function importChanges(work: ImportWork): Promise<RunDocument[]> {
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
