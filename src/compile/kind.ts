import { isObject, type JsonObject } from '../model/json.ts';
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
  files: Files;
}

/** Collected files by path. */
export type Files = ReadonlyMap<string, ParsedFile | UnparsedFile>;

/** A document with all files that it references, itself included. One that is absent was rejected. */
export interface CollectedDocument {
  entry: ParsedFile;
  files: Files;
}

/** The input of a kind's compiler. */
export interface KindInput extends CollectedDocument {
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

/** Finds what a parsed file names: paths that it may reference, and those of examples. Extra paths do no harm. */
export interface PathsOf {
  references(file: ParsedFile): Iterable<string>;
  /** URLs of a registry's documents, each with the paths of files that are meant instead if they are there. */
  addresses(file: ParsedFile): Iterable<readonly [url: string, instead: readonly string[]]>;
  examples(file: ParsedFile): Iterable<string>;
}

/** How one kind of document is recognized, read and compiled. */
export interface DocumentKind {
  /** Whether a parsed file with this root is one. */
  isRoot(root: JsonObject): boolean;
  /** Whether a file is one by its name, where no root tells. */
  isNamed?(file: ParsedFile): boolean;
  /** Matches a text that does not parse and was meant to be one (`beginsWith`). */
  text?: RegExp;
  /** The title as discovery shows it. */
  titleIn(root: JsonObject): string | null;
  paths: PathsOf;
  compile: CompileKind;
}

/** Matches a text in which a line begins with one of these members. `value`: how its value begins. */
export function beginsWith(members: readonly string[], value: string): RegExp {
  const name = `(?:${members.map((member) => member.replace('$', String.raw`\$`)).join('|')})`;
  return RegExp(`^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)?(?:${name} *:| {0,8}\t?[{,]? ?"${name}" *:) *["']?${value}`, 'm');
}

/** The first of these members that is a text and not blank. */
export function firstText(root: unknown, ...members: readonly string[]): string | null {
  const texts = members.map((member) => (isObject(root) ? root[member] : undefined));
  return (texts.find((text) => typeof text === 'string' && text.trim() !== '') as string | undefined) ?? null;
}

/** The items whose key one before them has. */
export function repeated<T>(items: Iterable<T>, keyOf: (item: T) => unknown): T[] {
  const seen = new Set<unknown>();
  return [...items].filter((item) => seen.size === seen.add(keyOf(item)).size);
}

/**
 * The most problems that one check looks for. A report keeps a tenth of them, and documents with
 * more are made to be expensive.
 */
export const maxFindings = 10_000;

/** Whether something called itself too deeply. */
export function isStackFull(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes('call stack');
}

/** Whether a file was collected, and parsed as JSON or YAML. */
export function isParsed(file: ParsedFile | UnparsedFile | undefined): file is ParsedFile {
  return file !== undefined && 'value' in file;
}

/** What else is said of a problem. `on`: whether it is about the key or the value of its node, the default. */
interface How {
  /** Default: `error`. */
  severity?: Severity;
  on?: 'key' | 'value';
}

/** Returns a problem at a node of a parsed file. */
export function problemAt(file: ParsedFile, pointer: string, rule: string, message: string, how: How = {}): Problem {
  const { severity = 'error', on = 'value' } = how;
  return { rule, severity, message, file: file.path, pointer, ...file.locate(pointer, on) };
}

/** Notes a problem at a node of one file. */
export type Note = (rule: string, pointer: string, message: string, how?: How) => void;

/** Collects the problems of one file. */
export function collectProblems(file: ParsedFile): { problems: Problem[]; note: Note } {
  const problems: Problem[] = [];
  return {
    problems,
    note: (rule, pointer, message, how) => void problems.push(problemAt(file, pointer, rule, message, how)),
  };
}
