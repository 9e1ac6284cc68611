import { RegistryError } from '../../model/errors.ts';

const literal = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const space = /[ \t\n\r]*/y;

/** Limits for a JSON text. */
export interface JsonOptions {
  /** Largest nesting depth. */
  depth: number;
  /** Largest number of values and names. Default: no limit. */
  nodes?: number;
  /** If the text is only a part of the body: what the client sent before this offset. */
  before?: (offset: number) => string;
}

/**
 * Parses JSON text strictly (RFC 8259). Throws `malformed`, with line and column, for a syntax
 * error, a duplicate name, a lone surrogate or nesting deeper than `depth`, and `too_large` for
 * more than `nodes`.
 */
export function parseJson(
  text: string,
  { depth, nodes = Infinity, before = (offset) => text.slice(0, offset) }: JsonOptions,
): unknown {
  let at = 0;
  let count = 0;

  function fail(message: string, where = at): never {
    const lines = before(where).split('\n');
    const place = `line ${lines.length}, column ${lines.at(-1)!.length + 1}`;
    throw new RegistryError('malformed', `The body is not valid JSON: ${place}: ${message}`);
  }
  function take(pattern: RegExp): string | null {
    pattern.lastIndex = at;
    const [found] = pattern.exec(text) ?? [];
    at += found?.length ?? 0;
    return found ?? null;
  }
  function next(): string {
    if (text.charCodeAt(at) <= 32) take(space);
    return text[at] ?? fail('unexpected end of the text.');
  }

  function readString(): string {
    const start = at;
    const value = parsedString(start) ?? explainString();
    return value.isWellFormed() ? value : fail('unpaired surrogate.', start);
  }

  /** Parses the string at `start` with the runtime's parser; null if it is invalid. */
  function parsedString(start: number): string | null {
    let end = start;
    do {
      end = text.indexOf('"', end + 1);
      if (end < 0) return null;
    } while (isEscaped(end));
    at = end + 1;
    try {
      return JSON.parse(text.slice(start, at)) as string;
    } catch {
      at = start;
      return null;
    }
  }

  function isEscaped(quote: number): boolean {
    let first = quote;
    while (text.charCodeAt(first - 1) === 92) first--;
    return (quote - first) % 2 === 1;
  }

  /** Throws at the invalid character of a string. */
  function explainString(): never {
    at++;
    for (;;) {
      const code = text.charCodeAt(at);
      if (Number.isNaN(code) || code === 34) fail('unterminated string.');
      if (code < 32) fail('control characters in a string must be escaped.');
      if (code !== 92) at++;
      else if (take(escape) === null) fail('invalid escape.');
    }
  }

  function readObject(left: number): void {
    const names = new Set<string>();
    at++;
    if (next() === '}') return void at++;
    for (;;) {
      if (next() !== '"') fail('expected a member name.');
      const start = at;
      countOne();
      const name = readString();
      if (names.has(name)) fail('duplicate name in an object.', start);
      names.add(name);
      if (next() !== ':') fail('expected ":".');
      at++;
      readValue(left);
      const mark = next();
      at++;
      if (mark === '}') return;
      if (mark !== ',') fail('expected "," or "}".', at - 1);
    }
  }

  function readArray(left: number): void {
    at++;
    if (next() === ']') return void at++;
    for (;;) {
      readValue(left);
      const mark = next();
      at++;
      if (mark === ']') return;
      if (mark !== ',') fail('expected "," or "]".', at - 1);
    }
  }

  function countOne(): void {
    if (++count > nodes) throw new RegistryError('too_large', `The body has more than ${nodes} values and names.`);
  }

  function readValue(left: number): void {
    countOne();
    const mark = next();
    if ((mark === '{' || mark === '[') && left === 0) fail(`it is nested deeper than ${depth}.`);
    if (mark === '{') readObject(left - 1);
    else if (mark === '[') readArray(left - 1);
    else if (mark === '"') readString();
    else if (take(literal) === null) fail('expected a value.');
  }

  readValue(depth);
  take(space);
  if (at < text.length) fail('unexpected text after the value.');
  return JSON.parse(text);
}
