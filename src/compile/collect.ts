import { isObject } from '../model/json.ts';
import { isUrlPath } from '../model/address.ts';
import { problemAtFile, type Problem } from '../model/problem.ts';
import type { CompileLimits, FileBytes } from './compile.ts';
import { isCode } from './interpreter/modules.ts';
import { isParsed, type PathsOf, type UnparsedFile } from './kind.ts';
import { fileTooLarge, parseFile, type ParsedFile } from './text/parse.ts';
import { decodeText } from './text/text.ts';

/** A file from the parent process: its bytes, or the problem that kept it from being read. */
export type LoadedFile = FileBytes | { path: string; problem: Problem };

/** Reads files in one batch, as the parent process gives them. */
export type LoadFiles = (paths: string[]) => Promise<LoadedFile[]>;

export interface Collected {
  /** The entry and every file that it references, by path. Includes rejected and missing files. */
  files: Map<string, ParsedFile | UnparsedFile>;
  /** The problems found while parsing each file, by path. */
  findings: Map<string, Problem[]>;
  /** The limit that the files exceed together, or null. */
  overLimit: Problem | null;
}

const limitRules = new Set(['limit-files', 'limit-bundle-bytes']);

/** Returns the problem for a document whose files exceed the total size limit. */
export function filesTooLarge(entry: string, { bundleBytes }: Pick<CompileLimits, 'bundleBytes'>): Problem {
  const message = `The document and the files it references are larger than ${bundleBytes} bytes in total. Split the document.`;
  return problemAtFile('limit-bundle-bytes', entry, message);
}

/** Returns the problem for a document that references too many files. */
export function tooManyFiles(entry: string, { files }: Pick<CompileLimits, 'files'>): Problem {
  return problemAtFile('limit-files', entry, `The document references more than ${files} files. Merge some of them.`);
}

/**
 * Collects the entry and every file that it references, breadth first, with one `load` per round,
 * then documents of a registry, unless a file is what their URL means, and then files of examples.
 * An example is no reference: its errors concern nothing else.
 */
export async function collect(
  entry: string,
  limits: CompileLimits,
  load: LoadFiles,
  pathsOf: (file: ParsedFile) => PathsOf,
): Promise<Collected> {
  const files = new Map<string, ParsedFile | UnparsedFile>();
  const findings = new Map<string, Problem[]>();
  const asked = new Set([entry]);
  /** URLs that no collected file is the target of yet. */
  const urls = new Map<string, readonly string[]>();
  let bytes = 0;
  let round = [entry];
  while (round.length > 0) {
    const next = new Set<string>();
    for (const loaded of await load(round)) {
      const { path } = loaded;
      if ('problem' in loaded) {
        if (limitRules.has(loaded.problem.rule)) return { files, findings, overLimit: loaded.problem };
        files.set(path, { path, text: null, problem: loaded.problem });
        if (path === entry) findings.set(path, [loaded.problem]);
        continue;
      }
      bytes += loaded.bytes.length;
      if (bytes > limits.bundleBytes) return { files, findings, overLimit: filesTooLarge(entry, limits) };
      const { file, problems } = readFile(path, loaded.bytes, limits, path === entry);
      files.set(path, file);
      findings.set(path, problems);
      if (!isParsed(file)) continue;
      const paths = pathsOf(file);
      for (const target of paths.references(file)) if (!asked.has(target)) next.add(target);
      // Of the tree, most texts name no document of a registry, and need not be searched for one.
      if (!isUrlPath(path) && !/\/(?:@|%40)/.test(file.text)) continue;
      for (const [url, instead] of paths.addresses(file)) if (!asked.has(url)) urls.set(url, instead);
    }
    if (next.size === 0 && urls.size > 0) {
      const declared = declaredIn(files);
      const isThere = (path: string) => isParsed(files.get(path));
      for (const [url, instead] of urls) if (!declared.has(url) && !instead.some(isThere)) next.add(url);
      urls.clear();
    }
    for (const path of next) asked.add(path);
    if (asked.size > limits.files) return { files, findings, overLimit: tooManyFiles(entry, limits) };
    round = [...next].sort();
  }
  const examples = new Set<string>();
  for (const file of files.values())
    if (isParsed(file)) for (const path of pathsOf(file).examples(file)) if (!asked.has(path)) examples.add(path);
  if (examples.size > 0)
    for (const loaded of await load([...examples].sort())) {
      const file = readExample(loaded, { ...limits, bundleBytes: limits.bundleBytes - bytes });
      bytes += file.text === null || 'problem' in loaded ? 0 : loaded.bytes.length;
      files.set(file.path, file);
    }
  return { files, findings, overLimit: null };
}

function declaredIn(files: Collected['files']): Set<unknown> {
  const ids = [...files.values()].flatMap((file) => {
    if (isUrlPath(file.path) || !isParsed(file) || !isObject(file.value)) return [];
    return [file.value['$id'], file.value['id'], file.value['$self']];
  });
  return new Set(ids);
}

/** Reads an example, as data if it is valid JSON or YAML by its name, else as text. */
function readExample(loaded: LoadedFile, limits: CompileLimits): UnparsedFile {
  const { path } = loaded;
  const refuse = (problem: Problem): UnparsedFile => ({ path, text: null, problem });
  if ('problem' in loaded) return refuse(loaded.problem);
  const { length } = loaded.bytes;
  if (length > limits.fileBytes) return refuse(fileTooLarge(path, length, limits));
  if (length > limits.bundleBytes)
    return refuse(problemAtFile('limit-bundle-bytes', path, 'All files together are too large with it.'));
  const { file } = readFile(path, loaded.bytes, limits, false);
  if (isParsed(file)) return { path, text: file.text, problem: null, example: { value: file.exact } };
  const { text, issue } = decodeText(loaded.bytes);
  if (issue) return refuse(problemAtFile(issue.rule, path, issue.message));
  return { path, text, problem: null, example: { value: text } };
}

/**
 * Parses a file by its name, as other bundlers do. Files with other extensions, such as code
 * samples and Markdown, are kept as text.
 */
function readFile(
  path: string,
  bytes: Uint8Array,
  limits: CompileLimits,
  isEntry: boolean,
): { file: ParsedFile | UnparsedFile; problems: Problem[] } {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if ((isEntry && !isCode(path)) || isUrlPath(path) || /\.(?:json|ya?ml)$/i.test(name) || !name.includes('.')) {
    const parsed = parseFile(path, bytes, limits);
    if (parsed.ok) return { file: parsed.file, problems: parsed.problems };
    const text = isEntry ? decodeText(bytes).text : null;
    return { file: { path, text, problem: parsed.problems[0] ?? null }, problems: parsed.problems };
  }
  const { text, issue } = decodeText(bytes);
  const problem = issue && problemAtFile(issue.rule, path, issue.message);
  return { file: { path, text: issue ? null : text, problem }, problems: problem ? [problem] : [] };
}
