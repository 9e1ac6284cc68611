import { problemAtFile, type Problem } from '../model/problem.ts';
import type { CompileLimits } from './compile.ts';
import type { UnparsedFile } from './kind.ts';
import { parseFile, type ParsedFile } from './text/parse.ts';
import { decodeText } from './text/text.ts';

/** A file as the parent process hands it over: its bytes, or why there are none. */
export type LoadedFile = { path: string; bytes: Uint8Array } | { path: string; problem: Problem };

export interface Collected {
  /** The entry, and every file found by following references from it. Refused and absent ones too. */
  files: Map<string, ParsedFile | UnparsedFile>;
  /** What reading each file as a document found, by path. */
  findings: Map<string, Problem[]>;
  /** A wall that the whole set of files ran into, or null. */
  wall: Problem | null;
}

const walls = new Set(['limit-files', 'limit-bundle-bytes']);

/** The problem of a document whose files together are over the limit. */
export function filesTooLarge(entry: string, { bundleBytes }: Pick<CompileLimits, 'bundleBytes'>): Problem {
  const message = `The document and the files it refers to have more than ${bundleBytes} bytes.`;
  return problemAtFile('limit-bundle-bytes', entry, message);
}

/** The problem of a document that has too many files. */
export function tooManyFiles(entry: string, { files }: Pick<CompileLimits, 'files'>): Problem {
  return problemAtFile('limit-files', entry, `The document refers to more than ${files} files.`);
}

/**
 * Gathers the entry and all that it refers to, breadth first: each round's files are asked for at once. `pathsOf` tells the paths that a parsed
 * file may refer to; more than are needed does no harm.
 */
export async function collect(
  entry: string,
  limits: CompileLimits,
  load: (paths: string[]) => Promise<LoadedFile[]>,
  pathsOf: (file: ParsedFile) => Iterable<string>,
): Promise<Collected> {
  const files = new Map<string, ParsedFile | UnparsedFile>();
  const findings = new Map<string, Problem[]>();
  const asked = new Set([entry]);
  let bytes = 0;
  let round = [entry];
  while (round.length > 0) {
    const next = new Set<string>();
    for (const loaded of await load(round)) {
      const { path } = loaded;
      if ('problem' in loaded) {
        if (walls.has(loaded.problem.rule)) return { files, findings, wall: loaded.problem };
        files.set(path, { path, text: null, problem: loaded.problem });
        if (path === entry) findings.set(path, [loaded.problem]);
        continue;
      }
      bytes += loaded.bytes.length;
      if (bytes > limits.bundleBytes) return { files, findings, wall: filesTooLarge(entry, limits) };
      const { file, problems } = readFile(path, loaded.bytes, limits, path === entry);
      files.set(path, file);
      findings.set(path, problems);
      if ('value' in file) for (const target of pathsOf(file)) if (!asked.has(target)) next.add(target);
    }
    for (const path of next) asked.add(path);
    if (asked.size > limits.files) return { files, findings, wall: tooManyFiles(entry, limits) };
    round = [...next].sort();
  }
  return { files, findings, wall: null };
}

/** Documents are told from other text by their name, as every tool that bundles does; code samples and Markdown are taken in as text. */
function readFile(
  path: string,
  bytes: Uint8Array,
  limits: CompileLimits,
  isEntry: boolean,
): { file: ParsedFile | UnparsedFile; problems: Problem[] } {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (isEntry || /\.(?:json|ya?ml)$/i.test(name) || !name.includes('.')) {
    const parsed = parseFile(path, bytes, limits);
    if (parsed.ok) return { file: parsed.file, problems: parsed.problems };
    return { file: { path, text: null, problem: parsed.problems[0] ?? null }, problems: parsed.problems };
  }
  const { text, issue } = decodeText(bytes);
  const problem = issue && { ...problemAtFile(issue.rule, path, issue.message) };
  return { file: { path, text: issue ? null : text, problem }, problems: problem ? [problem] : [] };
}
