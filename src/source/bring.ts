import { codeOf, isRegistryError, unavailable, unreachable, refused, tooLarge } from '../model/errors.ts';
import { readHistory, readWriters } from './history.ts';
import type { Mirror, FetchTarget } from './mirror-repository.ts';
import type { CommitPerson } from './snapshot.ts';
import type { HistoryCommit } from './source.ts';
import type { RemoteCall } from './transport.ts';

const maxAttempts = 5;

/**
 * Runs work on a mirror, which other processes may delete and a disk may damage. Except for a
 * RegistryError or an abort, a failure calls `mend` and runs the work again, up to five times. The
 * work gets the number of the attempt.
 */
export async function mending<T>(
  repository: string,
  signal: AbortSignal,
  work: (attempt: number) => Promise<T>,
  mend: () => Promise<void>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work(attempt);
    } catch (cause) {
      if (isRegistryError(cause) || signal.aborted) throw cause;
      if (['ENOSPC', 'EDQUOT'].includes(codeOf(cause))) throw unavailable('The disk of the cache folder is full.');
      if (attempt === maxAttempts) throw unreachable(`${repository} sent objects that cannot be read.`, { cause });
      await mend();
    }
  }
}

/** A repository to fetch from, and its mirror. */
export interface Bringing {
  /** URL of the repository, for messages. */
  repository: string;
  mirror: Mirror;
  call: RemoteCall;
}

// The most commits in one request, which is then 15 kB.
const maxWants = 300;

/** Reads what needs the history of a commit. Contacts nobody when the mirror has it. `read`: null when something is missing. */
async function readInHistory<T>(
  { repository, mirror, call }: Bringing,
  target: FetchTarget,
  read: () => Promise<T | null>,
): Promise<T> {
  async function attempt(): Promise<T> {
    // Also creates the mirror if it does not exist.
    const isHere = (await mirror.look([target.commit], call.signal)).has(target.commit);
    const here = isHere ? await read() : null;
    if (here !== null) return here;
    await mirror.fetchHistory(await call.connect(), target);
    const fetched = await read();
    if (fetched === null) throw new Error('The mirror lost fetched objects.');
    return fetched;
  }
  return mending(repository, call.signal, attempt, () => mirror.delete());
}

/** The most commits whose writers are read. */
const maxWritten = 1000;
/** Files in a request for writers. More are asked for as all files. */
const maxPaths = 1000;

/** Implements `Snapshot.writers`. */
export async function bringWriters(
  bringing: Bringing,
  target: FetchTarget,
  { since, paths, searchPath }: { since: string | null; paths: readonly string[]; searchPath: string },
): Promise<CommitPerson[] | null> {
  const { mirror, call } = bringing;
  const { signal } = call;
  const commits = await readInHistory(bringing, target, async () => {
    const isKnown = since !== null && (await mirror.look([since], signal)).has(since);
    const what = { commit: target.commit, since: isKnown ? since : null, paths: paths.length > maxPaths ? [] : paths };
    return readWriters(mirror.folder, what, { searchPath, max: maxWritten + 1, signal });
  }).catch((error: unknown) => {
    // Too large, or cut off: it stays so.
    if (isRegistryError(error, 'too_large') || isRegistryError(error, 'refused')) return null;
    throw error;
  });
  return commits === null || commits.length > maxWritten ? null : commits.flat();
}

/** Implements `Source.history`. */
export async function bringHistory(
  bringing: Bringing,
  target: FetchTarget,
  { searchPath, max }: { searchPath: string; max: number },
): Promise<HistoryCommit[]> {
  const { repository, mirror, call } = bringing;
  const { signal } = call;
  // One commit more than allowed shows that there are too many.
  const history = await readInHistory(bringing, target, () =>
    readHistory(mirror.folder, target.commit, { searchPath, max: max + 1, signal }),
  );
  if (history.length === 0) throw refused(`${target.commit} in ${repository} is not a commit.`);
  if (history.length > max) {
    throw tooLarge(`${repository} has more than ${max} commits up to ${target.commit}, which is the limit.`);
  }
  return history;
}

/** Implements `Source.bring`. Commits that the server does not provide are fetched when they are read. */
export async function bringCommits({ mirror, call }: Bringing, commits: readonly string[], ref: string): Promise<void> {
  const wanted = await absentOf(mirror, commits, call.signal);
  if (wanted.length === 0) return;
  const transport = await call.connect();
  for (let start = 0; start < wanted.length; start += maxWants) {
    if (await mirror.fetchCommits(transport, wanted.slice(start, start + maxWants))) continue;
    await mirror.fetchTips(transport, ref);
    return;
  }
}

/** Implements `Source.bringBlobs`. */
export async function bringBlobs(
  { mirror, call }: Bringing,
  blobs: readonly string[],
  target: FetchTarget,
): Promise<void> {
  const wanted = await absentOf(mirror, blobs, call.signal);
  if (wanted.length > 0) await mirror.fetchBlobs(await call.connect(), wanted, target);
}

async function absentOf(mirror: Mirror, ids: readonly string[], signal: AbortSignal): Promise<string[]> {
  if (ids.length === 0) return [];
  const objects = await mirror.look(ids, signal);
  return [...new Set(ids)].filter((id) => !objects.has(id));
}
