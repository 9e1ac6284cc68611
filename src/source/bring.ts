import { RegistryError } from '../model/errors.ts';
import { readHistory } from './history.ts';
import { mending } from './mend.ts';
import type { Mirror, Target } from './mirror-repository.ts';
import type { HistoryCommit } from './source.ts';
import type { Call } from './transport.ts';

/** A repository to fetch from, and its mirror. */
export interface Bringing {
  /** URL of the repository, for messages. */
  repository: string;
  mirror: Mirror;
  call: Call;
}

// The most commits in one request, which is then 15 kB.
const maxWants = 300;

/** Implements `Source.history`. Contacts nobody when the mirror has the history. */
export async function bringHistory(
  { repository, mirror, call }: Bringing,
  target: Target,
  options: { searchPath: string; max: number },
): Promise<HistoryCommit[]> {
  const { searchPath, max } = options;
  const { signal } = call;
  // One commit more than allowed shows that there are too many.
  const read = (): Promise<HistoryCommit[] | null> =>
    readHistory(mirror.folder, target.commit, { searchPath, max: max + 1, signal });

  async function attempt(): Promise<HistoryCommit[]> {
    // Also creates the mirror if it does not exist.
    const isHere = (await mirror.look([target.commit], signal)).has(target.commit);
    const history = isHere ? await read() : null;
    if (history !== null) return history;
    await mirror.fetchHistory(await call.connect(), target);
    const fetched = await read();
    if (fetched === null) throw new Error('The mirror lost what was fetched.');
    return fetched;
  }

  const history = await mending(repository, signal, attempt, () => mirror.delete());
  if (history.length === 0) throw new RegistryError('refused', `${target.commit} in ${repository} is not a commit.`);
  if (history.length > max) {
    throw new RegistryError(
      'too_large',
      `${repository} has more than ${max} commits up to ${target.commit}, which is the limit.`,
    );
  }
  return history;
}

/**
 * Implements `Source.bring`. Commits that the server does not provide are fetched when they are
 * read.
 */
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
export async function bringBlobs({ mirror, call }: Bringing, blobs: readonly string[], target: Target): Promise<void> {
  const wanted = await absentOf(mirror, blobs, call.signal);
  if (wanted.length > 0) await mirror.fetchBlobs(await call.connect(), wanted, target);
}

async function absentOf(mirror: Mirror, ids: readonly string[], signal: AbortSignal): Promise<string[]> {
  if (ids.length === 0) return [];
  const objects = await mirror.look(ids, signal);
  return [...new Set(ids)].filter((id) => !objects.has(id));
}
