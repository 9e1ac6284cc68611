import { trustedCommit, type Repository } from '../model/connection.ts';
import { isRegistryError, conflict } from '../model/errors.ts';
import type { Registry } from '../registry/registry.ts';
import { remoteOf } from '../registry/remote.ts';

/** Whether a commit may be published. */
export type CommitVerdict =
  | { isAccepted: true; /** Says how history was rewritten, or null. One sentence. */ rewritten: string | null }
  | {
      isAccepted: false;
      /** Why not, and what to do. */
      detail: string;
      /** False: it could not be found out, so it is asked again later. */
      isKnown: boolean;
    };

/**
 * Judges a commit before anything of it is published: it must descend from the commit that was
 * published last, or at least share its history. Otherwise it is probably another repository, since
 * anybody can register the name of a deleted one. One that was missing and comes back must not even
 * have been rewritten.
 */
export async function judgeCommit(
  registry: Registry,
  repository: Repository,
  commit: string,
  signal: AbortSignal,
): Promise<CommitVerdict> {
  const trusted = trustedCommit(repository);
  if (trusted === null || trusted === commit) return { isAccepted: true, rewritten: null };
  const remote = await remoteOf(registry, repository);
  // The commit names its parents, so the next question needs no network for most pushes.
  await registry.source.snapshot(remote, commit, signal);
  const isNoAncestor = `${trusted} is not an ancestor of ${commit}`;
  const held = (detail: string, isKnown = true): CommitVerdict => ({ isAccepted: false, detail, isKnown });
  try {
    const ancestry = await registry.source.ancestry(remote, commit, trusted, signal);
    if (ancestry === 'descendant') return { isAccepted: true, rewritten: null };
    if (repository.state === 'detached')
      return held(
        `The repository was missing and came back with another history: ${isNoAncestor}. If it is the same repository, connect it again.`,
      );
    if (ancestry === 'rewritten')
      return { isAccepted: true, rewritten: `History was rewritten: ${isNoAncestor}. Published versions stay.` };
    return held(
      `The repository has another history now: ${isNoAncestor}, and they have no known commit in common. Nothing of it is published. If it is the right repository, connect it again.`,
    );
  } catch (error) {
    if (!isRegistryError(error, 'too_large') && !isRegistryError(error, 'refused')) throw error;
    return held(
      `Cannot find out whether ${commit} descends from ${trusted}, so nothing of it is published. ${error.message} To accept it as it is, connect it again.`,
      false,
    );
  }
}

/**
 * Rejects with `conflict` when the repository as it is now is not accepted. For requests for
 * anything but its newest commit.
 */
export async function assertAccepted(registry: Registry, repository: Repository, signal: AbortSignal): Promise<void> {
  const tip = await registry.source.tip(await remoteOf(registry, repository), signal);
  if (!tip.found) throw conflict(tip.detail);
  const verdict = await judgeCommit(registry, repository, tip.commit, signal);
  if (!verdict.isAccepted) throw conflict(verdict.detail);
}
