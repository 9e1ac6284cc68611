import type { CompileLimits } from '../compile.ts';
import { joinPointer, longestPointer, parsePointer, pointerTooLong } from './pointer.ts';
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
  /** Returns the offsets of the key and value at a pointer, or of its deepest existing ancestor. */
  find(pointer: string): { key: number; value: number };
}

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

/**
 * Scans a text by the grammar of RFC 8259 in one pass, without recursion and without building its
 * value. Reports what `JSON.parse` does not: the position of a syntax error, duplicate names,
 * numbers that a double cannot hold, lone surrogates, and too deep or too many nodes.
 */
export function scanJson(text: string, limits: Pick<CompileLimits, 'depth' | 'nodes'>): JsonText {
  const starts: number[] = [];
  const ends: number[] = [];
  const stack: Frame[] = [];
  const issues: JsonIssue[] = [];
  let at = 0;
  let nodes = 0;
  let expected: Expected = 'value';

  const pointer = () => stack.reduce((path, { token }) => joinPointer(path, token), '');
  const note = (issue: TextIssue) => issues.length < keptIssues && issues.push({ ...issue, pointer: pointer() });
  const fail = (message: string, offset = at, rule = 'json-syntax'): JsonText => {
    note({ rule, severity: 'error', message, offset });
    return { ok: false, issues, find: () => ({ key: offset, value: offset }) };
  };

  /**
   * Reads the string at `at`. Returns its start and whether it has escapes, or null if it is
   * invalid.
   */
  function readString(): { start: number; escaped: boolean } | null {
    const start = at;
    let escaped = false;
    for (at++; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === 34) {
        at++;
        return { start, escaped };
      }
      if (code < 32) return null;
      if (code !== 92) continue;
      escaped = true;
      at++;
      const escape = text.charCodeAt(at);
      if (escape === 117 && /^[0-9a-fA-F]{4}$/.test(text.slice(at + 1, at + 5))) at += 4;
      else if (!'"\\/bfnrt'.includes(text.charAt(at)) || at >= text.length) return null;
    }
    return null;
  }

  /** Returns the string's value. Reports lone surrogates, which are not valid Unicode. */
  function stringValue({ start, escaped }: { start: number; escaped: boolean }): string {
    if (!escaped) return text.slice(start + 1, at - 1);
    const value = JSON.parse(text.slice(start, at)) as string;
    if (!value.isWellFormed())
      note({
        rule: 'lone-surrogate',
        severity: 'error',
        message: 'The string contains half of a surrogate pair. Write both halves, or remove it.',
        offset: start,
      });
    return value;
  }

  const brokenString = () =>
    at >= text.length
      ? fail('Unexpected end of file inside a string.')
      : text.charCodeAt(at) < 32
        ? fail('The string contains an unescaped control character or line break. Escape it, for example as "\\n".')
        : fail('Invalid escape sequence in a string.', at - 1);

  for (;;) {
    let code = text.charCodeAt(at);
    while (code === 32 || code === 10 || code === 13 || code === 9) code = text.charCodeAt(++at);
    if (at >= text.length) {
      return expected === 'end' || (expected === 'after' && stack.length === 0)
        ? { ok: true, issues, find: createFind(text, starts, ends) }
        : fail(
            nodes === 0 ? 'The file is empty.' : 'Unexpected end of file: a bracket or brace is not closed.',
            text.length,
          );
    }
    const top = stack.at(-1);
    if (expected === 'end') return fail('Unexpected text after the end of the document.');
    if (expected === 'after') {
      if (top === undefined) {
        expected = 'end';
      } else if (code === 44) {
        at++;
        if (typeof top.token === 'number') top.token++;
        expected = top.object ? 'name' : 'value';
      } else if (code === (top.object ? 125 : 93)) {
        ends[top.span] = ++at;
        stack.pop();
      } else return fail(`Expected "," or "${top.object ? '}' : ']'}" here.`);
      continue;
    }
    if (expected === 'first-name' || expected === 'name') {
      if (code === 125 && expected === 'first-name') {
        ends[top!.span] = ++at;
        stack.pop();
        expected = 'after';
        continue;
      }
      if (code !== 34)
        return fail(
          code === 125
            ? 'Trailing comma before "}". Remove the comma.'
            : 'Expected a member name in double quotes here.',
        );
      const name = readString();
      if (name === null) return brokenString();
      const value = stringValue(name);
      if (top!.length + value.length > longestPointer) return fail(pointerTooLong, name.start, 'limit-pointer');
      top!.token = value;
      if (top!.names.has(value))
        note({
          rule: 'duplicate-key',
          severity: 'error',
          message: `Duplicate key ${JSON.stringify(value.slice(0, 100))}. Remove one of the two.`,
          offset: name.start,
        });
      top!.names.add(value);
      while (/[ \t\n\r]/.test(text.charAt(at))) at++;
      if (text.charCodeAt(at) !== 58) return fail('Expected ":" after the member name.');
      at++;
      expected = 'value';
      continue;
    }
    if (code === 93 && expected === 'first-value') {
      ends[top!.span] = ++at;
      stack.pop();
      expected = 'after';
      continue;
    }
    if (++nodes > limits.nodes) return fail(`The document has more than ${limits.nodes} nodes.`, at, 'limit-nodes');
    if (code === 123 || code === 91) {
      if (stack.length >= limits.depth)
        return fail(`The document is nested deeper than ${limits.depth} levels.`, at, 'limit-depth');
      const object = code === 123;
      const length = top === undefined ? 0 : top.length + String(top.token).length + 1;
      stack.push({ object, span: starts.length, names: new Set(), token: object ? '' : 0, length });
      starts.push(at++);
      ends.push(-1);
      expected = object ? 'first-name' : 'first-value';
    } else if (code === 34) {
      const found = readString();
      if (found === null) return brokenString();
      if (found.escaped) stringValue(found);
      expected = 'after';
    } else if (code === 45 || (code >= 48 && code <= 57)) {
      numberGrammar.lastIndex = at;
      const literal = numberGrammar.exec(text)?.[0];
      if (literal === undefined) return fail('Expected a digit after "-".');
      const next = text.charAt(at + literal.length);
      if (/[\w.+-]/.test(next))
        return fail('Invalid number. JSON allows decimal numbers without leading zeros or "+".');
      if (literal.length > 15 || /[eE]/.test(literal)) {
        const issue = numberIssue(literal, Number(literal), at);
        if (issue) note(issue);
      }
      at += literal.length;
      expected = 'after';
    } else {
      const word = ['true', 'false', 'null'].find((known) => text.startsWith(known, at));
      if (word === undefined)
        return fail(
          code === 93 || code === 125
            ? 'Trailing comma before a closing bracket. Remove the comma.'
            : 'Expected a JSON value here.',
        );
      at += word.length;
      expected = 'after';
    }
  }
}

/**
 * Returns a function that locates a pointer. It indexes each container once and skips its siblings.
 */
function createFind(text: string, starts: number[], ends: number[]): JsonText['find'] {
  const known = new Map<number, Map<string, { key: number; value: number }>>();

  function endOf(start: number): number {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (starts[middle]! < start) low = middle + 1;
      else high = middle;
    }
    return ends[low]!;
  }

  function skipSpace(at: number): number {
    let code = text.charCodeAt(at);
    while (code === 32 || code === 10 || code === 13 || code === 9 || code === 44 || code === 58)
      code = text.charCodeAt(++at);
    return at;
  }

  function skipValue(at: number): number {
    const first = text.charAt(at);
    if (first === '{' || first === '[') return endOf(at);
    if (first !== '"') return at + text.slice(at, at + 2000).search(/[\s,\]}]|$/);
    for (let end = text.indexOf('"', at + 1); ; end = text.indexOf('"', end + 1)) {
      let slashes = 0;
      while (text.charAt(end - 1 - slashes) === '\\') slashes++;
      if (slashes % 2 === 0) return end + 1;
    }
  }

  function childrenOf(start: number): Map<string, { key: number; value: number }> {
    const found = known.get(start);
    if (found) return found;
    const children = new Map<string, { key: number; value: number }>();
    const object = text.charAt(start) === '{';
    if (object || text.charAt(start) === '[') {
      const end = endOf(start) - 1;
      for (let at = skipSpace(start + 1); at < end;) {
        const key = at;
        const name = object ? (JSON.parse(text.slice(key, (at = skipValue(key)))) as string) : String(children.size);
        const value = object ? skipSpace(at) : at;
        children.set(name, { key, value });
        at = skipSpace(skipValue(value));
      }
    }
    known.set(start, children);
    return children;
  }

  return (pointer) => {
    const root = skipSpace(0);
    let place = { key: root, value: root };
    for (const token of parsePointer(pointer)) {
      const child = childrenOf(place.value).get(token);
      if (child === undefined) break;
      place = child;
    }
    return place;
  };
}
