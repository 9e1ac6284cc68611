import { RegistryError, isRegistryError } from '../model/errors.ts';
import { runGit } from './command.ts';
import { fetchInto } from './git-fetch.ts';
import type { Mirror, MirrorOptions, Target } from './mirror-repository.ts';
import { isComplete, withScratch } from './scratch.ts';
import type { Ancestry } from './source.ts';
import type { Transport } from './transport.ts';

// Depths to fetch, in commits. Most pushes are short.
const steps = [50, 1000];

/**
 * Whether the ancestor is among the commit's ancestors. Fetches commit objects only. `unrelated`
 * means that the whole history was searched; a history beyond the last depth or the size limit is
 * `unknown` unless the ancestor was found.
 */
export async function traceAncestry(
  transport: Transport,
  target: Target,
  ancestor: string,
  options: MirrorOptions,
): Promise<Ancestry> {
  const { searchPath, sizeLimit } = options;
  return withScratch(options, null, async (repository) => {
    async function fetch(depth: number): Promise<boolean> {
      for (const want of [target.commit, target.ref]) {
        const request = { options: [`--depth=${depth}`, '--filter=tree:0'], wants: [want] };
        if (await fetchInto(repository, transport, request, { sizeLimit, counted: [] })) return true;
      }
      return false;
    }

    async function history(): Promise<string[]> {
      const args = ['rev-list', target.commit];
      const { signal } = transport;
      const result = await runGit({ args, folder: repository, protocols: 'none', searchPath, signal });
      if (!result.ok) throw new RegistryError('unreachable', goneFrom(transport, target));
      return result.stdout.toString().split('\n');
    }

    for (const depth of steps) {
      try {
        if (!(await fetch(depth))) throw new RegistryError('unreachable', goneFrom(transport, target));
      } catch (error) {
        if (isRegistryError(error, 'too_large')) return 'unknown';
        throw error;
      }
      if ((await history()).includes(ancestor)) return 'descendant';
      if (await isComplete(repository)) return 'unrelated';
    }
    return 'unknown';
  });
}

function goneFrom({ location }: Transport, { commit }: Target): string {
  return `${location.url} does not provide commit ${commit}: it is no longer in the repository.`;
}

/**
 * Whether the mirror has the commit and it names the other as a parent. True for most pushes, and
 * needs no network.
 */
export async function isChild(mirror: Mirror, commit: string, parent: string, signal: AbortSignal): Promise<boolean> {
  const objects = await mirror.readObjects([commit], signal).catch((error: unknown) => {
    if (isRegistryError(error) || signal.aborted) throw error;
    return null; // the mirror does not have it
  });
  const [header = ''] = objects?.get(commit)?.toString('latin1').split('\n\n') ?? [];
  return header.split('\n').includes(`parent ${parent}`);
}
