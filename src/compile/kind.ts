import type { Problem, Severity } from '../model/problem.ts';
import type { CompileInput } from './compile.ts';
import type { ParsedFile } from './text/parse.ts';
import type { DocumentFacts } from '../model/artifact.ts';

/**
 * A collected file that is not JSON or YAML: other text (`text`), or missing or invalid
 * (`problem`).
 */
export interface UnparsedFile {
  path: string;
  text: string | null;
  problem: Problem | null;
  /** The value of a file that only the `externalValue` of an example names. No reference leads into it. */
  example?: { value: unknown };
}

/** The code of a ruleset, and what was found when it was read. */
export interface CollectedCode {
  /** The texts of its files by path. */
  modules: Readonly<Record<string, string>>;
  problems: Problem[];
  /** The files of the ruleset with its functions named. Those that are modules are there as data. */
  files: ReadonlyMap<string, ParsedFile | UnparsedFile>;
}

/** The input of a kind's compiler. */
export interface KindInput {
  entry: ParsedFile;
  /**
   * All collected files by path, the entry included. A referenced file that is absent was rejected.
   */
  files: ReadonlyMap<string, ParsedFile | UnparsedFile>;
  input: CompileInput;
  /** The code of a ruleset, where it may run. */
  code?: CollectedCode | null;
}

export interface KindResult extends DocumentFacts {
  problems: Problem[];
  /**
   * The document with everything that it references. `entry.value` itself (the same object) when it
   * references no other file; then the author's bytes are kept. Null when bundling failed.
   */
  bundle: unknown;
  /** A summary of the document in one sentence. Default: the first paragraph of its description. */
  summary?: string;
  /** Paths of the files whose own problems (syntax, duplicate keys) count. Default: all files. */
  used?: ReadonlySet<string>;
}

/** Compiles one kind of document. Pure; never rejects because of a document. */
export type CompileKind = (given: KindInput) => Promise<KindResult>;

/**
 * The most problems that one check looks for. A report keeps a tenth of them, and documents with
 * more are made to be expensive.
 */
export const maxFindings = 10_000;

/** Whether a collected file was parsed as JSON or YAML. */
export function isParsed(file: ParsedFile | UnparsedFile): file is ParsedFile {
  return 'value' in file;
}

/** Returns a problem at a node of a parsed file. */
export function problemAt(
  file: ParsedFile,
  pointer: string,
  rule: string,
  message: string,
  { severity = 'error', on = 'value' }: { severity?: Severity; on?: 'key' | 'value' } = {},
): Problem {
  return { rule, severity, message, file: file.path, pointer, ...file.locate(pointer, on) };
}
