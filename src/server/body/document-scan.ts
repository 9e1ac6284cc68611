import { RegistryError } from '../../model/errors.ts';

/** What a body that holds a document may be. */
export interface ScanLimits {
  /** Nesting of the body. */
  depth: number;
  /** Values and names in the body. */
  nodes: number;
  /** Bytes of the body beside the document. */
  rest: number;
}

/** A body that is looked at while it comes in. */
export interface DocumentScan {
  /** Takes the next piece. Refuses with `too_large` or `malformed` as soon as the body is over a limit. */
  look(piece: Buffer): void;
  /** Where the document stands in the body, in bytes; null where there is no object and no text. */
  span(): { from: number; to: number } | null;
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openObject, closeObject, openArray, closeArray] = [0x7b, 0x7d, 0x5b, 0x5d];
const marks = new Uint8Array(256);
for (const mark of [quote, comma, colon, openObject, closeObject, openArray, closeArray]) marks[mark] = 1;

/** Bytes of a name that are compared: each character of `document` may be an escape of six. */
const longestName = 6 * 'document'.length + 1;

/**
 * Finds the value of the member `document` of the outermost object, and counts what is in it. Nothing
 * is parsed: the document is for the sandbox to read. So a body costs one pass, in the pieces that it
 * comes in, and is refused as soon as it is over a limit.
 */
export function createDocumentScan(limits: ScanLimits): DocumentScan {
  let at = 0;
  let nodes = 0;
  let depth = 0;
  let isObject = false;
  let isString = false;
  /** Bytes at the beginning of the next piece that an escape has taken. */
  let escaped = 0;
  /** The string that was read last in the outermost object, without its quotes. */
  let name = '';
  /** The value that comes next is the document. */
  let isNext = false;
  let from = -1;
  let to = -1;

  const isInside = () => from >= 0 && to < 0;

  function count(): void {
    if (++nodes <= limits.nodes) return;
    throw new RegistryError('too_large', `The body has more than ${limits.nodes} values and names.`);
  }

  function beginDocument(byte: number, offset: number): void {
    isNext = false;
    if (from >= 0) throw malformed('An object has the name "document" twice.');
    if (byte === openArray) throw malformed('The body is invalid: /document: must be an object or a string.');
    // The schema refuses anything else.
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

  /** Reads on in a string. Returns the index behind it, or the piece's length. */
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
      throw new RegistryError('too_large', `The body has more than ${limits.rest} bytes beside the document.`);
    },
    span: () => (to < 0 ? null : { from, to }),
  };
}

/** The index of the next mark, or the piece's length. */
function findMark(piece: Buffer, from: number): number {
  let i = from;
  while (i < piece.length && marks[piece[i]!] === 0) i++;
  return i;
}

/** The index of the quote that ends a string. Where it is in a later piece, the piece's length, and one more if its first byte is escaped. */
function findEnd(piece: Buffer, from: number): number {
  let i = from;
  while (i < piece.length) {
    const byte = piece[i]!;
    if (byte === quote) return i;
    i += byte === backslash ? 2 : 1;
  }
  return i;
}

/** Whether a string, without its quotes, spells `document`. */
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
