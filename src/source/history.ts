import { runGit } from './command.ts';
import { decodeName, parseSeconds, personFrom, parseParents } from './git-format.ts';
import { isPlainPath } from './git-names.ts';
import type { CommitPerson } from './snapshot.ts';
import type { HistoryCommit, Ancestry } from './source.ts';
import { isRegistryError, tooLarge } from '../model/errors.ts';
import { fetchInto } from './git-fetch.ts';
import { hasCommit } from './git-objects.ts';
import { cutOff, notProvided, type Mirror, type MirrorOptions, type FetchTarget } from './mirror-repository.ts';
import { isComplete, withScratch } from './scratch.ts';
import type { Transport } from './transport.ts';

export interface HistoryOptions {
  searchPath: string;
  /** The most commits to read, newest first. */
  max: number;
  signal: AbortSignal;
}

/**
 * Reads the first-parent history of a commit, oldest first. Uses only commits and trees. Null when
 * any of them is missing from the repository; an empty list when the id is not a commit.
 */
export async function readHistory(
  repository: string,
  commit: string,
  { searchPath, max, signal }: HistoryOptions,
): Promise<HistoryCommit[] | null> {
  const args = [
    'log',
    '--first-parent',
    '--diff-merges=first-parent',
    '--reverse',
    `--max-count=${max}`,
    '--format=%H %ct',
    '--raw',
    '-z',
    '--no-abbrev',
    '-M100%',
    commit,
  ];
  const { ok, stdout } = await runGit({ args, folder: repository, protocols: 'none', searchPath, signal });
  return ok ? parseHistory(stdout) : null;
}

/**
 * Reads who wrote the commits that lead to one and not to `since`, and changed one of these files, or a document that went
 * in a commit that changed one. Merges count where they differ from any parent. Null when any commit or tree is missing
 * from the repository. Throws `too_large` where documents moved too often.
 */
export async function readWriters(
  repository: string,
  { commit, since, paths }: { commit: string; since: string | null; paths: readonly string[] },
  { searchPath, max, signal }: HistoryOptions,
): Promise<CommitPerson[][] | null> {
  const run = (args: readonly string[], input = '') =>
    runGit({ args, input, folder: repository, protocols: 'none', searchPath, signal });
  const range = since === null ? [commit] : [commit, `^${since}`];
  // A parent that leads to `since` counts only if it is named: else a merge that dropped what it has changed nothing.
  const bounds = await run(['rev-list', '--boundary', ...range]);
  const named = [...bounds.stdout.toString().matchAll(/^-(\w+)$/gm)].map(([, id]) => `^${id}`);
  const revisions = [...range, ...named].join('\n');
  const log = (files: Iterable<string>, ...args: string[]) =>
    run(
      ['--literal-pathspecs', 'log', '--full-history', `--max-count=${max}`, '-z', ...args, '--stdin', '--', ...files],
      revisions,
    );
  const files = await withFormer(paths, (all) =>
    log(all, '-m', '--full-diff', '--no-renames', '--raw', '--no-abbrev', '--format=%H %ct %P'),
  );
  if (files === null) return null;
  const { ok, stdout } = await log(files, '--format=%an%x00%ae%x00%cn%x00%ce%x00%B');
  if (!ok || !bounds.ok) return null;
  const texts = [...split(stdout)].map((each) => each.toString());
  return Array.from({ length: Math.floor(texts.length / 5) }, (_, at) => {
    const [author, email, committer, address, message = ''] = texts.slice(at * 5, at * 5 + 5);
    const others = message.matchAll(/^co-authored-by:([^<\n]*)<([^>\n]*)>/gim).map(([, name, mail]) => [name, mail]);
    return [[author, email], [committer, address], ...others].map(([name, mail]) => personFrom(name!, mail!));
  });
}

const maxMoves = 50;

/** Files (none: all), and the documents from which their text may have come. Null: something of their history is missing. */
async function withFormer(
  paths: readonly string[],
  log: (paths: Iterable<string>) => ReturnType<typeof runGit>,
): Promise<ReadonlySet<string> | null> {
  const all = new Set(paths);
  for (let moves = 0; all.size > 0; moves++) {
    if (moves > maxMoves) throw tooLarge(`Documents moved more than ${maxMoves} times.`);
    const before = all.size;
    const { ok, stdout } = await log(all);
    if (!ok) return null;
    // A merge is there once for each parent from which it differs, and wrote what no parent has so.
    const isWritten = (path: string, sides: readonly ParsedCommit[]) =>
      sides.length === sides[0]!.parents && sides.every(({ files }) => files.get(path));
    for (const sides of Map.groupBy(parseHistory(stdout), ({ commit }) => commit).values())
      if (all.values().some((path) => isWritten(path, sides)))
        for (const [path, blob] of sides.flatMap(({ files }) => [...files]))
          if (blob === null && /\.(?:json|ya?ml)$/i.test(path)) all.add(path);
    if (all.size === before) break;
  }
  return all;
}

/** `parents`: how many it has; 1 where it has none. Known where the format has them. */
type ParsedCommit = HistoryCommit & { parents: number };

/**
 * Parses the output of `git log --raw -z`: `<id> <seconds>`, its parents or nothing, and NUL for each
 * commit, then for each change `:<mode> <mode> <id> <id> <status>` NUL, its path NUL, and after a move
 * the new path NUL. Skips the paths that `parseTree` skips.
 */
function parseHistory(output: Buffer): ParsedCommit[] {
  const commits: (ParsedCommit & { files: Map<string, string | null>; moves: Map<string, string> })[] = [];
  const tokens = split(output);
  for (let token = tokens.next(); !token.done; token = tokens.next()) {
    const words = token.value.toString('latin1').split(' ');
    const [first = '', second = '', oldId = '', newId = '', status = ''] = words;
    if (!first.trimStart().startsWith(':')) {
      const about = { commit: first, committedAt: parseSeconds(second), parents: words.length - 2 };
      commits.push({ ...about, files: new Map(), moves: new Map() });
      continue;
    }
    const isMove = status.startsWith('R');
    const old = pathFrom(tokens.next().value);
    const path = isMove ? pathFrom(tokens.next().value) : old;
    const { files, moves } = commits.at(-1)!;
    const wasFile = isFile(first.trimStart().slice(1));
    const isNow = isFile(second);
    if (isMove && old !== null && wasFile) files.set(old, null);
    if (path === null) continue;
    if (isMove && old !== null && isNow) moves.set(path, old);
    if (isNow && (isMove || !wasFile || newId !== oldId)) files.set(path, newId);
    else if (wasFile && !isNow) files.set(path, null);
  }
  return commits;
}

function* split(output: Buffer): Generator<Buffer, undefined> {
  for (let position = 0; position < output.length;) {
    const end = output.indexOf(0, position);
    const stop = end < 0 ? output.length : end;
    yield output.subarray(position, stop);
    position = stop + 1;
  }
}

function pathFrom(raw: Buffer | undefined): string | null {
  const path = raw === undefined ? null : decodeName(raw);
  return path !== null && isPlainPath(path) ? path : null;
}

function isFile(mode: string): boolean {
  return /^100[0-7]{3}$/.test(mode);
}

// How much of the history to fetch, until the answer is known. Most pushes and branches are short. The
// whole history of 100,000 commits has 22 MB where the server filters.
const steps = ['--depth=50', '--depth=1000', '--unshallow'];
const commitsOnly = '--filter=tree:0';

/**
 * Fetches more and more of the history of these commits, at each step: commits without trees, where the server
 * supports that. Rejects with `unreachable` when it does not provide them.
 */
export async function* deepen(
  repository: string,
  transport: Transport,
  targets: readonly FetchTarget[],
  { searchPath, sizeLimit }: MirrorOptions,
): AsyncGenerator<void> {
  const at = { folder: repository, searchPath, signal: transport.signal };
  const commits = targets.map(({ commit }) => commit);
  for (const step of steps) {
    let isHere = false;
    for (const wants of [commits, targets.map(({ ref }) => ref)]) {
      // Kept under names, so that the next fetch brings only what is new.
      const named = wants.map((want, index) => `+${want}:refs/heads/tip${index}`);
      const request = { options: [step, commitsOnly], wants: named };
      const isFetched = await fetchInto(repository, transport, request, { sizeLimit, counted: [] });
      isHere = isFetched && (await Promise.all(commits.map((commit) => hasCommit(commit, at)))).every(Boolean);
      if (isHere) break;
    }
    if (!isHere) throw notProvided(transport.location.url, commits);
    yield;
  }
}

/** Implements `Source.ancestry`. Fetches commit objects only, where the server supports that. */
export async function traceAncestry(
  transport: Transport,
  target: FetchTarget,
  ancestor: { id: string; parents: readonly string[] },
  options: MirrorOptions,
): Promise<Ancestry> {
  const { searchPath, sizeLimit } = options;
  const { location, signal } = transport;
  return withScratch(options, null, async (repository) => {
    /** Runs `git merge-base`. It fails for commits that are not here, too. */
    async function mergeBase(...args: string[]): Promise<boolean> {
      const at = { folder: repository, searchPath, signal, protocols: 'none' };
      return (await runGit({ args: ['merge-base', ...args], ...at })).ok;
    }

    const leadsFrom = (commit: string) => mergeBase('--is-ancestor', commit, target.commit);

    /** Whether the histories have a commit in common. The whole history of the target is here. */
    async function isShared(): Promise<boolean> {
      const wants = [`+${ancestor.id}:refs/heads/ancestor`];
      const request = { options: [commitsOnly], wants, expects: (stderr: string) => /remote error:/.test(stderr) };
      if (await fetchInto(repository, transport, request, { sizeLimit, counted: [] }))
        return mergeBase(target.commit, ancestor.id);
      for (const parent of ancestor.parents) if (await leadsFrom(parent)) return true;
      return false;
    }

    for await (const _ of deepen(repository, transport, [target], options)) {
      if (await leadsFrom(ancestor.id)) return 'descendant';
      if (await isComplete(repository)) return (await isShared()) ? 'rewritten' : 'unrelated';
    }
    throw cutOff(location.url);
  });
}

/** The parents of a commit, without network. Empty when the mirror does not have the commit. */
export async function knownParents(mirror: Mirror, commit: string, signal: AbortSignal): Promise<string[]> {
  const objects = await mirror.readObjects([commit], signal).catch((error: unknown) => {
    if (isRegistryError(error) || signal.aborted) throw error;
    return null; // the mirror does not have it
  });
  const bytes = objects?.get(commit);
  return bytes === undefined ? [] : parseParents(bytes);
}
