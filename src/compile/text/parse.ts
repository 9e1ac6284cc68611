import { formatOfFile, type Format } from '../../model/address.ts';
import { problemAtFile, type Problem } from '../../model/problem.ts';
import type { CompileLimits } from '../compile.ts';
import { parseExactly } from '../../model/exact-numbers.ts';
import { messageThrown } from '../../model/errors.ts';
import { parseJson } from '../../model/json.ts';
import { readTree } from './events.ts';
import {
  controlCharacterIssue,
  createPlaces,
  decodeText,
  issueOf,
  type FindNode,
  type Place,
  type TextIssue,
} from './text.ts';
import { readJson } from './json.ts';
import { createFind, readValue } from './value.ts';
import { followPointer } from '../../model/pointer.ts';

/** Messages of `JSON.parse` with clearer ones. */
const clearer: readonly [message: RegExp, clear: string][] = [
  [
    /^Bad control character/,
    'The string contains an unescaped control character or line break. Escape it, for example as "\\n".',
  ],
  [/^Bad (?:escaped|Unicode)/, 'Invalid escape sequence in a string.'],
  [/^Expected (?:property name|double-quoted property)/, 'Expected a member name in double quotes here.'],
  [/^Unexpected token/, 'Expected a JSON value here.'],
  [/^Unexpected number/, 'Invalid number. JSON allows decimal numbers without leading zeros or "+".'],
  [/^Unexpected non-whitespace/, 'Unexpected text after the end of the document.'],
];

/** Where a text stops being JSON (RFC 8259), and why. */
function jsonSyntaxIssue(text: string): TextIssue {
  const message = syntaxError(text) ?? '';
  const offset = positionIn(message) ?? endOfPrefix(text);
  return issueOf('json-syntax', explain(text, message, offset), offset);
}

function explain(text: string, message: string, offset: number): string {
  if (/^[ \t\r\n]*$/.test(text)) return 'The file is empty.';
  if (offset >= text.length)
    return /string|escape/i.test(message)
      ? 'Unexpected end of file inside a string.'
      : 'Unexpected end of file: a bracket or brace is not closed.';
  const next = text.charAt(offset);
  if (/[\]}]/.test(next) && /,\s*$/.test(text.slice(Math.max(0, offset - 1000), offset)))
    return `Trailing comma before "${next}". Remove the comma.`;
  return clearer.find(([pattern]) => pattern.test(message))?.[1] ?? `${message.replace(/ in JSON at .*/, '')}.`;
}

function syntaxError(text: string): string | null {
  return messageThrown(() => JSON.parse(text));
}

function positionIn(message: string): number | null {
  const [, position] = /at position (\d+)/.exec(message) ?? [];
  return position === undefined ? null : Number(position);
}

/** The length of the longest beginning of a text that JSON can begin with. */
function endOfPrefix(text: string): number {
  let low = 0;
  let high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    const message = syntaxError(text.slice(0, middle));
    const isBeginning =
      message === null || message.startsWith('Unexpected end') || (positionIn(message) ?? 0) >= middle;
    if (isBeginning) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** A file that was parsed as one JSON or YAML document. */
export interface ParsedFile {
  /** Path in the snapshot. */
  path: string;
  /** The text of the file without its byte order mark. */
  text: string;
  format: Format;
  /**
   * Plain data: objects without shared or cyclic nodes, arrays, strings, numbers, booleans, null.
   */
  value: unknown;
  /** The same with all digits of its integers (`model/exact-numbers.ts`): `value` itself if it has them. What is published is made of this, and checks read `value`. */
  exact: unknown;
  /**
   * Returns the position of the node at a JSON Pointer (RFC 6901): of its key (`key`) or its value
   * (`value`, the default). If there is no such node, returns that of its deepest existing
   * ancestor.
   */
  locate(pointer: string, on?: 'key' | 'value'): Place;
}

/** A file that nobody wrote as JSON or YAML, such as what code gives: every node is at its start. */
export function unplaced(path: string, text: string, value: object): ParsedFile {
  return { path, text, format: 'json', value, exact: value, locate: () => ({ line: 1, column: 1 }) };
}

/** With `ok`, `problems` lists what did not prevent parsing, such as duplicate keys. */
export type Parsed = { ok: true; file: ParsedFile; problems: Problem[] } | { ok: false; problems: Problem[] };

/**
 * Parses bytes as one JSON or YAML document. A `.json` file is strict JSON (RFC 8259); any other is
 * YAML 1.2, which includes JSON. Never throws because of the content.
 */
export function parseFile(path: string, bytes: Uint8Array, limits: CompileLimits): Parsed {
  if (bytes.length > limits.fileBytes) return { ok: false, problems: [fileTooLarge(path, bytes.length, limits)] };
  const { text, issue } = decodeText(bytes);
  const place = createPlaces(text);
  const problems = (issues: readonly TextIssue[]): Problem[] =>
    issues.map(({ rule, severity, message, offset, pointer = '' }) => ({
      rule,
      severity,
      message,
      file: path,
      pointer,
      ...place(offset),
    }));
  const refuse = (...issues: TextIssue[]): Parsed => ({ ok: false, problems: problems(issues) });
  if (issue) return refuse(issue);

  const format = formatOfFile(path);
  const accept = (value: unknown, exact: unknown, find: FindNode, issues: TextIssue[]): Parsed => {
    const locate: ParsedFile['locate'] = (pointer, on = 'value') => place(find(pointer)[on]);
    return { ok: true, file: { path, text, format, value, exact, locate }, problems: problems(issues) };
  };
  const mayBeJson = format === 'json' || /^\s*[{[]/.test(text);
  const plain = mayBeJson ? readJson(text, limits) : null;
  if (plain !== null && 'value' in plain) return accept(plain.value, plain.exact, plain.find, plain.issues);
  if (plain !== null && format === 'json') return refuse(plain);
  const tree = readTree(text, limits);
  if ('rule' in tree && tree.rule.startsWith('limit-')) return refuse(tree);
  const json = mayBeJson ? parseJson(text) : undefined;
  const notJson = json !== undefined ? null : format === 'json' ? jsonSyntaxIssue(text) : controlCharacterIssue(text);
  if (notJson !== null) return refuse(notJson);
  if ('rule' in tree) return refuse(tree);
  const { ok, value, exact, issues } = readValue(tree, limits);
  if (!ok) return refuse(...issues);
  const find = createFind(tree);
  return json === undefined ? accept(value, exact, find, issues) : accept(json, parseExactly(text), find, issues);
}

/** Returns the problem for a file that exceeds the size limit. */
export function fileTooLarge(path: string, bytes: number, { fileBytes }: Pick<CompileLimits, 'fileBytes'>): Problem {
  return problemAtFile('limit-file-bytes', path, `The file has ${bytes} bytes; the limit is ${fileBytes}.`);
}

/** Messages of validators for a number or boolean in place of a text. */
const wantsText = /must be a string, not (?:a number|true|false)\b/;

/** Adds advice to a message about a number that should be a text, such as `version: 3.10`. */
export function adviseQuotes(file: ParsedFile, pointer: string, message: string): string {
  return wantsText.test(message) ? `${message} Put it in quotes${shownAs(file, pointer)}.` : message;
}

/** A version as it is written: YAML reads `3.10` as 3.1. Empty for other members. */
function shownAs(file: ParsedFile, pointer: string): string {
  const written = /\/(?:version|openapi|swagger)$/.test(pointer) ? numberAt(file, pointer) : null;
  return written === null ? '' : `: ${JSON.stringify(written)}`;
}

/** The number at a pointer as the author wrote it. Null if it is none. */
export function numberAt(file: ParsedFile, pointer: string): string | null {
  const value = followPointer(file.value, pointer);
  if (typeof value !== 'number') return null;
  const { line, column } = file.locate(pointer);
  const [, written] =
    /^(?:[&!]\S+ +)*([-+.\w]+)/.exec(file.text.split(/\r\n|\r|\n/)[line - 1]?.slice(column - 1) ?? '') ?? [];
  return written !== undefined && Number(written) === value ? written : null;
}
