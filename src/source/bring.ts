import { RegistryError } from '../model/errors.ts';
import { readHistory } from './history.ts';
import { mending } from './mend.ts';
import type { Mirror, Target } from './mirror-repository.ts';
import type { HistoryCommit } from './source.ts';
import type { Call } from './transport.ts';

/** What to bring, and where to. */
export interface Bringing {
  /** URL of the repository, as people know it. */
  repository: string;
  mirror: Mirror;
  call: Call;
}

// Commits that are asked for by one request: 15 kB of it.
const mostWants = 300;

/** See Source. Contacts nobody when the history is here. */
export async function bringHistory(
  { repository, mirror, call }: Bringing,
  target: Target,
  options: { searchPath: string; most: number },
): Promise<HistoryCommit[]> {
  const { searchPath, most } = options;
  const { signal } = call;
  // One more shows that there are too many.
  const read = (): Promise<HistoryCommit[] | null> =>
    readHistory(mirror.folder, target.commit, { searchPath, most: most + 1, signal });

  async function attempt(): Promise<HistoryCommit[]> {
    // Also makes the mirror, where there is none.
    const isHere = (await mirror.objects(signal)).has(target.commit);
    const known = isHere ? await read() : null;
    if (known !== null) return known;
    await mirror.fetchHistory(await call.connect(), target);
    const fetched = await read();
    if (fetched === null) throw new Error('The mirror lost what was fetched.');
    return fetched;
  }

  const history = await mending(repository, signal, attempt, () => mirror.delete());
  if (history.length === 0) throw new RegistryError('refused', `${target.commit} in ${repository} is no commit.`);
  if (history.length > most) {
    throw new RegistryError(
      'too_large',
      `${repository} has more than ${most} commits up to ${target.commit}, which is over the limit.`,
    );
  }
  return history;
}

/** See Source. What the server does not hand out is left to whoever reads it. */
export async function bringCommits({ mirror, call }: Bringing, commits: readonly string[], ref: string): Promise<void> {
  const wanted = await absentOf(mirror, commits, call.signal);
  if (wanted.length === 0) return;
  const transport = await call.connect();
  for (let start = 0; start < wanted.length; start += mostWants) {
    if (await mirror.fetchCommits(transport, wanted.slice(start, start + mostWants))) continue;
    await mirror.fetchTips(transport, ref);
    return;
  }
}

/** See Source. */
export async function bringBlobs({ mirror, call }: Bringing, blobs: readonly string[], target: Target): Promise<void> {
  const wanted = await absentOf(mirror, blobs, call.signal);
  if (wanted.length > 0) await mirror.fetchBlobs(await call.connect(), wanted, target);
}

async function absentOf(mirror: Mirror, ids: readonly string[], signal: AbortSignal): Promise<string[]> {
  if (ids.length === 0) return [];
  const known = await mirror.objects(signal);
  return [...new Set(ids)].filter((id) => !known.has(id));
}
