import type { CompileLimits } from '../compile.ts';
import { createFind, type FindNode } from './json-find.ts';
import { joinPointer, longestPointer, pointerTooLong } from './pointer.ts';
import { numberIssue, type TextIssue } from './text.ts';

/** An issue at a node of a JSON text. */
export interface JsonIssue extends TextIssue {
  pointer: string;
}

/** A scanned JSON text: its issues and the positions of its nodes. */
export interface JsonText {
  /** False when the text is not JSON or exceeds a limit. `issues` says why. */
  ok: boolean;
  issues: JsonIssue[];
  find: FindNode;
}

/** A container that is still open. */
interface Frame {
  object: boolean;
  span: number;
  names: Set<string>;
  token: string | number;
  /** Length of the pointer to this node, in characters. */
  length: number;
}

type Expected = 'value' | 'first-value' | 'first-name' | 'name' | 'after' | 'end';

const numberGrammar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const keptIssues = 1000;

/** The state of a scan. */
interface Scan {
  readonly text: string;
  readonly limits: Pick<CompileLimits, 'depth' | 'nodes'>;
  /** Offsets of all containers, in order of their starts. The end of an open one is -1. */
  readonly starts: number[];
  readonly ends: number[];
  readonly stack: Frame[];
  readonly issues: JsonIssue[];
  at: number;
  nodes: number;
  expected: Expected;
}

/**
 * Scans a text by the grammar of RFC 8259 in one pass, without recursion and without building its
 * value. Reports what `JSON.parse` does not: the position of a syntax error, duplicate names,
 * numbers that a double cannot hold, lone surrogates, and too deep or too many nodes.
 */
export function scanJson(text: string, limits: Pick<CompileLimits, 'depth' | 'nodes'>): JsonText {
  const scan: Scan = {
    text,
    limits,
    starts: [],
    ends: [],
    stack: [],
    issues: [],
    at: 0,
    nodes: 0,
    expected: 'value',
  };
  for (;;) {
    const code = skipSpace(scan);
    if (scan.at >= text.length) return endOfText(scan);
    const failure = readNext(scan, code);
    if (failure !== null) return failure;
  }
}

/** Reads what is expected next, whose first character is `code`. Returns the result if it fails. */
function readNext(scan: Scan, code: number): JsonText | null {
  const top = scan.stack.at(-1);
  switch (scan.expected) {
    case 'end':
      return fail(scan, 'Unexpected text after the end of the document.');
    case 'after':
      return readAfterValue(scan, code, top);
    case 'first-name':
      return code === 125 ? closeContainer(scan, top!) : readName(scan, code, top!);
    case 'name':
      return readName(scan, code, top!);
    case 'first-value':
      return code === 93 ? closeContainer(scan, top!) : readValue(scan, code, top);
    case 'value':
      return readValue(scan, code, top);
  }
}

/** Returns the character code after white space. */
function skipSpace(scan: Scan): number {
  const { text } = scan;
  let { at } = scan;
  let code = text.charCodeAt(at);
  while (code === 32 || code === 10 || code === 13 || code === 9) code = text.charCodeAt(++at);
  scan.at = at;
  return code;
}

function endOfText(scan: Scan): JsonText {
  const { text, expected, stack, issues, starts, ends, nodes } = scan;
  if (expected === 'end' || (expected === 'after' && stack.length === 0))
    return { ok: true, issues, find: createFind(text, starts, ends) };
  const message = nodes === 0 ? 'The file is empty.' : 'Unexpected end of file: a bracket or brace is not closed.';
  return fail(scan, message, text.length);
}

function closeContainer(scan: Scan, { span }: Frame): null {
  scan.ends[span] = ++scan.at;
  scan.stack.pop();
  scan.expected = 'after';
  return null;
}

function readAfterValue(scan: Scan, code: number, top: Frame | undefined): JsonText | null {
  if (top === undefined) {
    scan.expected = 'end';
    return null;
  }
  if (code === (top.object ? 125 : 93)) return closeContainer(scan, top);
  if (code !== 44) return fail(scan, `Expected "," or "${top.object ? '}' : ']'}" here.`);
  scan.at++;
  if (typeof top.token === 'number') top.token++;
  scan.expected = top.object ? 'name' : 'value';
  return null;
}

function readName(scan: Scan, code: number, top: Frame): JsonText | null {
  if (code === 125) return fail(scan, 'Trailing comma before "}". Remove the comma.');
  if (code !== 34) return fail(scan, 'Expected a member name in double quotes here.');
  const name = readString(scan);
  if (name === null) return brokenString(scan);
  const value = stringValue(scan, name);
  if (top.length + value.length > longestPointer) return fail(scan, pointerTooLong, name.start, 'limit-pointer');
  top.token = value;
  if (top.names.has(value))
    note(scan, {
      rule: 'duplicate-key',
      severity: 'error',
      message: `Duplicate key ${JSON.stringify(value.slice(0, 100))}. Remove one of the two.`,
      offset: name.start,
    });
  top.names.add(value);
  if (skipSpace(scan) !== 58) return fail(scan, 'Expected ":" after the member name.');
  scan.at++;
  scan.expected = 'value';
  return null;
}

function readValue(scan: Scan, code: number, top: Frame | undefined): JsonText | null {
  const { nodes } = scan.limits;
  if (++scan.nodes > nodes) return fail(scan, `The document has more than ${nodes} nodes.`, scan.at, 'limit-nodes');
  if (code === 123 || code === 91) return openContainer(scan, code === 123, top);
  scan.expected = 'after';
  if (code === 34) {
    const found = readString(scan);
    if (found === null) return brokenString(scan);
    if (found.escaped) stringValue(scan, found);
    return null;
  }
  return code === 45 || (code >= 48 && code <= 57) ? readNumber(scan) : readWord(scan, code);
}

function openContainer(scan: Scan, object: boolean, top: Frame | undefined): JsonText | null {
  const { stack, starts, limits } = scan;
  if (stack.length >= limits.depth)
    return fail(scan, `The document is nested deeper than ${limits.depth} levels.`, scan.at, 'limit-depth');
  const length = top === undefined ? 0 : top.length + String(top.token).length + 1;
  stack.push({ object, span: starts.length, names: new Set(), token: object ? '' : 0, length });
  starts.push(scan.at++);
  scan.ends.push(-1);
  scan.expected = object ? 'first-name' : 'first-value';
  return null;
}

function readNumber(scan: Scan): JsonText | null {
  const { text, at } = scan;
  numberGrammar.lastIndex = at;
  const literal = numberGrammar.exec(text)?.[0];
  if (literal === undefined) return fail(scan, 'Expected a digit after "-".');
  if (/[\w.+-]/.test(text.charAt(at + literal.length)))
    return fail(scan, 'Invalid number. JSON allows decimal numbers without leading zeros or "+".');
  if (literal.length > 15 || /[eE]/.test(literal)) {
    const issue = numberIssue(literal, Number(literal), at);
    if (issue) note(scan, issue);
  }
  scan.at += literal.length;
  return null;
}

function readWord(scan: Scan, code: number): JsonText | null {
  const word = ['true', 'false', 'null'].find((known) => scan.text.startsWith(known, scan.at));
  if (word === undefined) {
    const isClosing = code === 93 || code === 125;
    return fail(
      scan,
      isClosing ? 'Trailing comma before a closing bracket. Remove the comma.' : 'Expected a JSON value here.',
    );
  }
  scan.at += word.length;
  return null;
}

/** Reads a string. Returns its start and whether it has escapes, or null if it is invalid. */
function readString(scan: Scan): { start: number; escaped: boolean } | null {
  const { text, at: start } = scan;
  let escaped = false;
  let at = start + 1;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) {
      scan.at = at + 1;
      return { start, escaped };
    }
    if (code < 32) break;
    if (code !== 92) continue;
    escaped = true;
    at++;
    const escape = text.charCodeAt(at);
    if (escape === 117 && /^[0-9a-fA-F]{4}$/.test(text.slice(at + 1, at + 5))) at += 4;
    else if (!'"\\/bfnrt'.includes(text.charAt(at)) || at >= text.length) break;
  }
  scan.at = at;
  return null;
}

function brokenString(scan: Scan): JsonText {
  const { text, at } = scan;
  if (at >= text.length) return fail(scan, 'Unexpected end of file inside a string.');
  if (text.charCodeAt(at) >= 32) return fail(scan, 'Invalid escape sequence in a string.', at - 1);
  return fail(
    scan,
    'The string contains an unescaped control character or line break. Escape it, for example as "\\n".',
  );
}

/** Returns the value of the string just read. Reports lone surrogates: they are not valid Unicode. */
function stringValue(scan: Scan, { start, escaped }: { start: number; escaped: boolean }): string {
  const { text, at } = scan;
  if (!escaped) return text.slice(start + 1, at - 1);
  const value = JSON.parse(text.slice(start, at)) as string;
  if (!value.isWellFormed())
    note(scan, {
      rule: 'lone-surrogate',
      severity: 'error',
      message: 'The string contains half of a surrogate pair. Write both halves, or remove it.',
      offset: start,
    });
  return value;
}

function note({ issues, stack }: Scan, issue: TextIssue): void {
  if (issues.length >= keptIssues) return;
  issues.push({ ...issue, pointer: stack.reduce((path, { token }) => joinPointer(path, token), '') });
}

/** Ends the scan with an error. Its only position is the error's. */
function fail(scan: Scan, message: string, offset = scan.at, rule = 'json-syntax'): JsonText {
  note(scan, { rule, severity: 'error', message, offset });
  return { ok: false, issues: scan.issues, find: () => ({ key: offset, value: offset }) };
}
