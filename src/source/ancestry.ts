import { RegistryError, isRegistryError } from '../model/errors.ts';
import { runGit } from './command.ts';
import { parseParents } from './objects/commit.ts';
import { fetchInto, type FetchRequest } from './git-fetch.ts';
import { hasCommit } from './objects/git-objects.ts';
import { cutOff, type Mirror, type MirrorOptions, type Target } from './mirror-repository.ts';
import { isComplete, withScratch } from './scratch.ts';
import type { Ancestry } from './source.ts';
import type { Transport } from './transport.ts';

// How much of the history to fetch, until the answer is known. Most pushes are short. The whole
// history of 100,000 commits has 22 MB where the server filters.
const steps = ['--depth=50', '--depth=1000', '--unshallow'];
const commitsOnly = '--filter=tree:0';

/** A commit, and its parents as far as they are known. */
export interface KnownCommit {
  id: string;
  parents: readonly string[];
}

/**
 * Implements `Source.ancestry`. Fetches commit objects only, where the server supports that.
 */
export async function traceAncestry(
  transport: Transport,
  target: Target,
  ancestor: KnownCommit,
  options: MirrorOptions,
): Promise<Ancestry> {
  const { searchPath, sizeLimit } = options;
  const { location, signal } = transport;
  return withScratch(options, null, async (repository) => {
    const at = { folder: repository, searchPath, signal };

    /** Keeps what is fetched under the name, so that the next fetch brings only what is new. */
    function fetch(want: string, name: string, more: Partial<FetchRequest>): Promise<boolean> {
      const request = { options: [commitsOnly], wants: [`+${want}:refs/heads/${name}`], ...more };
      return fetchInto(repository, transport, request, { sizeLimit, counted: [] });
    }

    async function fetchHistory(step: string): Promise<void> {
      for (const want of [target.commit, target.ref]) {
        if ((await fetch(want, 'tip', { options: [step, commitsOnly] })) && (await hasCommit(target.commit, at)))
          return;
      }
      throw new RegistryError(
        'unreachable',
        `${location.url} does not provide commit ${target.commit}: it is no longer in the repository.`,
      );
    }

    /** Runs `git merge-base`. It fails for commits that are not here, too. */
    async function mergeBase(...args: string[]): Promise<boolean> {
      return (await runGit({ args: ['merge-base', ...args], protocols: 'none', ...at })).ok;
    }

    const leadsFrom = (commit: string) => mergeBase('--is-ancestor', commit, target.commit);

    /** Whether the histories have a commit in common. The whole history of the target is here. */
    async function isShared(): Promise<boolean> {
      if (await fetch(ancestor.id, 'ancestor', { expects: isNotProvided }))
        return mergeBase(target.commit, ancestor.id);
      for (const parent of ancestor.parents) if (await leadsFrom(parent)) return true;
      return false;
    }

    for (const step of steps) {
      await fetchHistory(step);
      if (await leadsFrom(ancestor.id)) return 'descendant';
      if (await isComplete(repository)) return (await isShared()) ? 'rewritten' : 'unrelated';
    }
    throw cutOff(location.url);
  });
}

/** Whether the server refuses to provide a commit. Each host words it differently. */
function isNotProvided(stderr: string): boolean {
  return /remote error:/.test(stderr);
}

/**
 * The parents of a commit, without network. Empty when the mirror does not have the commit.
 */
export async function knownParents(mirror: Mirror, commit: string, signal: AbortSignal): Promise<string[]> {
  const objects = await mirror.readObjects([commit], signal).catch((error: unknown) => {
    if (isRegistryError(error) || signal.aborted) throw error;
    return null; // the mirror does not have it
  });
  const bytes = objects?.get(commit);
  return bytes === undefined ? [] : parseParents(bytes);
}
