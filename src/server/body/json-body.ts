import { isUtf8 } from 'node:buffer';
import { tooLarge, malformed } from '../../model/errors.ts';

const literal = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
const escape = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const space = /[ \t\n\r]*/y;

/** Limits for a JSON text: nesting depth, and number of values and names. Default of `nodes`: no limit. */
export interface JsonLimits {
  depth: number;
  nodes?: number;
}

/** Limits for a body. */
export interface BodyLimits extends JsonLimits {
  /** Bytes, as sent and after decompression. */
  bytes: number;
  /** Limits of the document in the body; absent: it contains none. All else is then at most `rest` bytes. */
  document?: { depth: number; nodes: number; rest: number };
}

/** A body that was parsed. */
export interface ParsedBody {
  /** The parsed JSON. The document in it is replaced by a placeholder of the same type. */
  value: unknown;
  /** The document: the bytes of its object, or its text. Null if the body has none. */
  document: Uint8Array | null;
}

/**
 * Parses a body of JSON in UTF-8. The member `document` of its outermost object, if that is an object or
 * a string, is checked, and not parsed: only the sandbox reads documents. Throws as `parseJson`.
 */
export function parseBody(bytes: Uint8Array, limits: BodyLimits): ParsedBody {
  if (!isUtf8(bytes)) throw malformed('The body is not UTF-8.');
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
  const span = checkJson(text, limits);
  if (span === null) return { value: JSON.parse(text), document: null };
  const written = text.slice(span.from, span.to);
  const { rest } = limits.document!;
  if (bytes.length - Buffer.byteLength(written) > rest)
    throw tooLarge(`The body has more than ${rest} bytes outside the document.`);
  const document = written.startsWith('"') ? (JSON.parse(written) as string) : null;
  const standIn = document === null ? '{}' : document === '' ? '""' : '"-"';
  const value: unknown = JSON.parse(text.slice(0, span.from) + standIn + text.slice(span.to));
  return { value, document: Buffer.from(document ?? written) };
}

/**
 * Parses JSON text strictly (RFC 8259). Throws `malformed`, with line and column, for a syntax
 * error, a duplicate name, a lone surrogate or nesting deeper than `depth`, and `too_large` for
 * more than `nodes`.
 */
export function parseJson(text: string, limits: JsonLimits): unknown {
  checkJson(text, limits);
  return JSON.parse(text);
}

/** Checks JSON text, and returns where its document is: null if it has none, or none is looked for. */
function checkJson(text: string, limits: Pick<BodyLimits, 'depth' | 'nodes' | 'document'>): Span | null {
  let span: Span | null = null;
  /** The document's limits while it is read. */
  let own: BodyLimits['document'] | null = null;
  let at = 0;
  let count = 0;

  function fail(message: string, where = at): never {
    const lines = text.slice(0, where).split('\n');
    const place = `line ${lines.length}, column ${lines.at(-1)!.length + 1}`;
    throw malformed(`The body is not valid JSON: ${place}: ${message}`);
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

  function readObject(left: number, isRoot = false): void {
    const names = new Set<string>();
    at++;
    if (next() === '}') return void at++;
    for (;;) {
      if (next() !== '"') fail('expected a member name.');
      const start = at;
      countOne();
      const name = readString();
      // A document's are for its report.
      if (names.has(name) && own === null) fail('duplicate name in an object.', start);
      names.add(name);
      if (next() !== ':') fail('expected ":".');
      at++;
      if (isRoot && name === 'document' && limits.document && /["{]/.test(next())) readDocument(limits.document);
      else readValue(left);
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

  function readDocument(given: NonNullable<BodyLimits['document']>): void {
    const [from, others] = [at, count];
    [own, count] = [given, 0];
    readValue(given.depth);
    [own, count] = [null, others];
    span = { from, to: at };
  }

  function countOne(): void {
    const { nodes = Infinity } = own ?? limits;
    if (++count > nodes) throw tooLarge(`The body has more than ${nodes} values and names.`);
  }

  function readValue(left: number, isRoot = false): void {
    countOne();
    const mark = next();
    if ((mark === '{' || mark === '[') && left === 0) fail(`it is nested deeper than ${(own ?? limits).depth}.`);
    if (mark === '{') readObject(left - 1, isRoot);
    else if (mark === '[') readArray(left - 1);
    else if (mark === '"') readString();
    else if (take(literal) === null) fail('expected a value.');
  }

  readValue(limits.depth, true);
  take(space);
  if (at < text.length) fail('unexpected text after the value.');
  return span;
}

interface Span {
  from: number;
  to: number;
}
