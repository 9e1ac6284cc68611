import type { Kind } from '../model/kinds.ts';
import type { Problem, Severity } from '../model/problem.ts';
import type { CompileInput } from './compile.ts';
import type { ParsedFile } from './text/parse.ts';

/** A collected file that is no JSON or YAML document: text of another kind (`text`), or absent, refused or broken (`problem`). */
export interface UnparsedFile {
  path: string;
  text: string | null;
  problem: Problem | null;
}

/** What a document kind's compiler is given: the entry, and every file that it and its files refer to, by path. */
export interface KindInput {
  entry: ParsedFile;
  /** The entry too. A file that is referred to and not in here was refused before it was read. */
  files: ReadonlyMap<string, ParsedFile | UnparsedFile>;
  input: CompileInput;
}

export interface KindResult {
  problems: Problem[];
  /**
   * The document with everything in it that it refers to; `entry.value` itself (the same object) when there was nothing to bring in, and then the
   * author's bytes are kept. Null when none could be made.
   */
  bundle: unknown;
  kind: Kind;
  specification: string;
  title: string;
  description: string;
  version: string | null;
  /** Paths of the files whose own findings (syntax, repeated keys, …) count; absent: of all that were collected. */
  used?: ReadonlySet<string>;
}

/** Compiles one kind of document. Pure; never rejects because of a document. */
export type CompileKind = (given: KindInput) => Promise<KindResult>;

/** Whether a collected file was read as a document. */
export function isParsed(file: ParsedFile | UnparsedFile): file is ParsedFile {
  return 'value' in file;
}

/** A problem at a node of a parsed file. */
export function problemAt(
  file: ParsedFile,
  pointer: string,
  rule: string,
  message: string,
  { severity = 'error', on = 'value' }: { severity?: Severity; on?: 'key' | 'value' } = {},
): Problem {
  return { rule, severity, message, file: file.path, pointer, ...file.locate(pointer, on) };
}
