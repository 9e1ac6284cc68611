import { runGit } from './command.ts';
import { parseSeconds, personFrom } from './objects/commit.ts';
import { isPlainPath } from './path.ts';
import type { CommitPerson } from './snapshot.ts';
import type { HistoryCommit } from './source.ts';

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
 * Reads who wrote the commits that lead to one and not to `since`, and changed one of these files. Merges count where they
 * differ from any parent. Null when any commit or tree is missing from the repository.
 */
export async function readWriters(
  repository: string,
  { commit, since, paths }: { commit: string; since: string | null; paths: readonly string[] },
  { searchPath, max, signal }: HistoryOptions,
): Promise<CommitPerson[][] | null> {
  const args = [
    '--literal-pathspecs',
    'log',
    '--full-history',
    `--max-count=${max}`,
    '-z',
    '--format=%an%x00%ae%x00%cn%x00%ce%x00%B',
    commit,
    ...(since === null ? [] : [`^${since}`]),
    '--',
    ...paths,
  ];
  const { ok, stdout } = await runGit({ args, folder: repository, protocols: 'none', searchPath, signal });
  if (!ok) return null;
  const texts = [...split(stdout)].map((each) => each.toString());
  const writers: CommitPerson[][] = [];
  for (let at = 0; at + 4 < texts.length; at += 5) {
    const [author, email, committer, address, message] = texts.slice(at, at + 5) as [
      string,
      string,
      string,
      string,
      string,
    ];
    const others = [...message.matchAll(/^co-authored-by:([^<\n]*)<([^>\n]*)>/gim)].map(([, name, mail]) => [
      name,
      mail,
    ]);
    const named = [[author, email], [committer, address], ...others] as [string, string][];
    writers.push(named.map(([name, mail]) => personFrom(name, mail)));
  }
  return writers;
}

/**
 * Parses the output of `git log --raw -z`: `<id> <seconds>` NUL for each commit, then for each
 * change `:<mode> <mode> <id> <id> <status>` NUL, its path NUL, and after a move the new path NUL.
 * Skips the paths that `parseTree` skips.
 */
function parseHistory(output: Buffer): HistoryCommit[] {
  const commits: (HistoryCommit & { files: Map<string, string | null>; moves: Map<string, string> })[] = [];
  const tokens = split(output);
  for (let token = tokens.next(); !token.done; token = tokens.next()) {
    const [first = '', second = '', oldId = '', newId = '', status = ''] = token.value.toString('latin1').split(' ');
    if (!first.trimStart().startsWith(':')) {
      commits.push({ commit: first, committedAt: parseSeconds(second), files: new Map(), moves: new Map() });
      continue;
    }
    const isMove = status.startsWith('R');
    const old = decode(tokens.next().value);
    const path = isMove ? decode(tokens.next().value) : old;
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

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(raw: Buffer | undefined): string | null {
  if (raw === undefined) return null;
  try {
    const path = decoder.decode(raw);
    return isPlainPath(path) ? path : null;
  } catch {
    return null;
  }
}

function isFile(mode: string): boolean {
  return /^100[0-7]{3}$/.test(mode);
}
