import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RegistryError } from '../../model/errors.ts';
import { runGit } from '../command.ts';
import { fetchInto } from '../git-fetch.ts';
import { hasCommit } from '../objects/git-objects.ts';
import type { MirrorOptions, Target } from '../mirror-repository.ts';
import { withScratch } from '../scratch.ts';
import type { Transport } from '../transport.ts';

// Depths to fetch, in commits. Most branches are short. The last is git's word for everything.
const steps = [50, 1000, 2_147_483_647];

/**
 * The best common ancestor of two commits (git-merge-base(1)); null when they have none. Fetches
 * commits without trees, and only as many as prove the answer. Of several best ones, which only
 * criss-cross merges have, it is the first that git names.
 */
export async function findMergeBase(
  transport: Transport,
  ours: Target,
  theirs: Target,
  options: MirrorOptions,
): Promise<string | null> {
  const { searchPath, sizeLimit } = options;
  const { signal, location } = transport;
  return withScratch(options, null, async (folder) => {
    const git = (...args: string[]) => runGit({ args, folder, protocols: 'none', searchPath, signal });

    async function fetch(depth: number): Promise<void> {
      for (const wants of [
        [ours.commit, theirs.commit],
        [ours.ref, theirs.ref],
      ]) {
        const request = { options: [`--depth=${depth}`, '--filter=tree:0'], wants };
        if (!(await fetchInto(folder, transport, request, { sizeLimit, counted: [] }))) continue;
        const here = await Promise.all(
          [ours, theirs].map(({ commit }) => hasCommit(commit, { folder, searchPath, signal })),
        );
        if (here.every(Boolean)) return;
      }
      throw new RegistryError(
        'unreachable',
        `${location.url} does not provide ${ours.commit} and ${theirs.commit}: a branch has moved on.`,
      );
    }

    /** Whether every commit that is reachable from one side only has all its parents here. */
    async function isProven(): Promise<boolean> {
      const cut = await readFile(join(folder, 'shallow'), 'utf8').catch(() => '');
      if (cut.trim() === '') return true;
      const { ok, stdout, stderr } = await git('rev-list', `${ours.commit}...${theirs.commit}`);
      if (!ok) throw new Error(`git rev-list failed: ${stderr}`);
      const boundary = new Set(cut.split('\n'));
      return !stdout
        .toString()
        .split('\n')
        .filter(Boolean)
        .some((commit) => boundary.has(commit));
    }

    for (const depth of steps) {
      await fetch(depth);
      if (await isProven()) break;
    }
    const { stdout } = await git('merge-base', ours.commit, theirs.commit);
    return stdout.toString().trim() || null;
  });
}
