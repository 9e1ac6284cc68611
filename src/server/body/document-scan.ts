import { RegistryError } from '../../model/errors.ts';

/** Limits for a body that contains a document. */
export interface ScanLimits {
  /** Nesting depth of the body. */
  depth: number;
  /** Values and names in the body. */
  nodes: number;
  /** Bytes of the body outside the document. */
  rest: number;
}

/** Scans a body while it arrives. */
export interface DocumentScan {
  /**
   * Scans the next piece. Throws `too_large` or `malformed` as soon as the body exceeds a limit.
   */
  look(piece: Buffer): void;
  /** Position of the document in the body, in bytes; null if there is no object or string. */
  span(): { from: number; to: number } | null;
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openObject, closeObject, openArray, closeArray] = [0x7b, 0x7d, 0x5b, 0x5d];
const marks = new Uint8Array(256);
for (const mark of [quote, comma, colon, openObject, closeObject, openArray, closeArray]) marks[mark] = 1;

/** Longest name to compare, in bytes: each character of `document` may be an escape of six. */
const longestName = 6 * 'document'.length + 1;

/**
 * Finds the value of the member `document` of the outermost object, and counts what it contains. It
 * parses nothing, because only the sandbox reads documents. A body takes one pass, piece by piece,
 * and fails as soon as it exceeds a limit.
 */
export function createDocumentScan(limits: ScanLimits): DocumentScan {
  let at = 0;
  let nodes = 0;
  let depth = 0;
  let isObject = false;
  let isString = false;
  /** Bytes at the start of the next piece that belong to an escape. */
  let escaped = 0;
  /** The last string in the outermost object, without its quotes. */
  let name = '';
  /** Whether the next value is the document. */
  let isNext = false;
  let from = -1;
  let to = -1;

  const isInside = () => from >= 0 && to < 0;

  function count(): void {
    if (++nodes > limits.nodes) throw tooMany();
  }

  function tooMany(): RegistryError {
    return new RegistryError('too_large', `The body has more than ${limits.nodes} values and names.`);
  }

  function beginDocument(byte: number, offset: number): void {
    isNext = false;
    if (from >= 0) throw malformed('The name "document" occurs twice in an object.');
    if (byte === openArray) throw malformed('The body is invalid: /document: must be an object or a string.');
    // The schema allows only an object or a string.
    if (byte === openObject || byte === quote) from = offset;
  }

  function readMark(byte: number, offset: number): void {
    if (byte === quote) {
      isString = true;
      name = '';
    } else if (byte === openObject || byte === openArray) {
      if (depth === 0) isObject = byte === openObject;
      if (++depth > limits.depth) throw malformed(`The body is nested deeper than ${limits.depth}.`);
      count();
    } else if (byte === closeObject || byte === closeArray) {
      depth--;
      if (depth === 1 && isInside()) to = offset + 1;
    } else {
      count();
      if (byte === colon && depth === 1 && isObject) isNext = isDocument(name);
    }
  }

  /**
   * Reads on inside the document's object, in one tight loop: millions of values are nearly all of
   * what a hostile body has. Returns the index after what it read.
   */
  function skim(piece: Buffer, start: number): number {
    const { length } = piece;
    let left = limits.nodes - nodes;
    let i = start;
    while (i < length && left >= 0) {
      const byte = piece[i++]!;
      if (marks[byte] === 0) continue;
      if (byte === quote) {
        i = findEnd(piece, i);
        isString = i >= length;
        if (isString) escaped = i - length;
        i = isString ? length : i + 1;
      } else if (byte === comma || byte === colon) left--;
      else if (byte === closeObject || byte === closeArray) {
        if (--depth > 1) continue;
        to = at + i;
        break;
      } else {
        left--;
        if (++depth > limits.depth) throw malformed(`The body is nested deeper than ${limits.depth}.`);
      }
    }
    nodes = limits.nodes - left;
    if (left < 0) throw tooMany();
    return i;
  }

  /** Reads on in a string. Returns the index after it, or the piece's length. */
  function readString(piece: Buffer, start: number): number {
    const end = findEnd(piece, start + escaped);
    if (depth === 1 && !isInside())
      name += piece.toString('latin1', start, Math.min(end, start + longestName - name.length));
    isString = end >= piece.length;
    escaped = isString ? end - piece.length : 0;
    if (isString) return piece.length;
    if (depth === 1 && isInside()) to = at + end + 1;
    return end + 1;
  }

  return {
    look(piece) {
      for (let i = 0; i < piece.length;) {
        if (isString) {
          i = readString(piece, i);
          continue;
        }
        if (depth > 1 && isInside()) {
          i = skim(piece, i);
          continue;
        }
        if (!isNext) i = findMark(piece, i);
        if (i === piece.length) break;
        const byte = piece[i]!;
        if (isNext && byte > 0x20) beginDocument(byte, at + i);
        if (marks[byte] === 1) readMark(byte, at + i);
        i++;
      }
      at += piece.length;
      const inDocument = from < 0 ? 0 : (to < 0 ? at : to) - from;
      if (at - inDocument <= limits.rest) return;
      throw new RegistryError('too_large', `The body has more than ${limits.rest} bytes outside the document.`);
    },
    span: () => (to < 0 ? null : { from, to }),
  };
}

/** Index of the next structural character, or the piece's length. */
function findMark(piece: Buffer, from: number): number {
  let i = from;
  while (i < piece.length && marks[piece[i]!] === 0) i++;
  return i;
}

/**
 * Index of the closing quote. If it is in a later piece: the piece's length, plus one if that
 * piece's first byte is escaped.
 */
function findEnd(piece: Buffer, from: number): number {
  let i = from;
  while (i < piece.length) {
    const byte = piece[i]!;
    if (byte === quote) return i;
    i += byte === backslash ? 2 : 1;
  }
  return i;
}

/** Whether a string, without its quotes, means `document`. */
function isDocument(name: string): boolean {
  if (name === 'document') return true;
  if (!name.includes('\\')) return false;
  try {
    return JSON.parse(`"${name}"`) === 'document';
  } catch {
    return false;
  }
}

function malformed(message: string): RegistryError {
  return new RegistryError('malformed', message);
}
