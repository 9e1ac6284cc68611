import { cut } from '../../model/escape.ts';
import { exactInteger, losesDigits } from '../../model/exact-numbers.ts';

/** A 1-based position in a text. Columns count UTF-16 code units. */
export interface Place {
  line: number;
  column: number;
}

/** An issue in a text, at an offset in UTF-16 code units. */
export interface TextIssue {
  rule: string;
  severity: 'error' | 'warning';
  message: string;
  offset: number;
  /** JSON Pointer of its node; default: the root. */
  pointer?: string;
}

/** Returns the offsets of the key and value at a pointer, or of its deepest existing ancestor. */
export type FindNode = (pointer: string) => { key: number; value: number };

/** Returns a function from offsets to positions. Lines end with LF, CRLF or CR. */
export function createPlaces(text: string): (offset: number) => Place {
  let starts: number[] | null = null;
  return (offset) => {
    starts ??= lineStarts(text);
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - starts[low]! + 1 };
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (const { index, 0: end } of text.matchAll(/\r\n|[\n\r]/g)) starts.push(index + end.length);
  return starts;
}

/**
 * Decodes UTF-8 without its byte order mark. `issue` has the position of the first invalid byte.
 */
export function decodeText(bytes: Uint8Array): { text: string; issue: TextIssue | null } {
  const utf16 = sniffUtf16(bytes);
  if (utf16) return { text: '', issue: issueOf('encoding', `The file is encoded as ${utf16}. Save it as UTF-8.`, 0) };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), issue: null };
  } catch {
    const text = new TextDecoder('utf-8').decode(bytes);
    const message = 'The file is not valid UTF-8 at this byte. Save it as UTF-8.';
    return { text, issue: issueOf('encoding', message, firstBroken(text, bytes)) };
  }
}

/** An error in a text. */
export function issueOf(rule: string, message: string, offset: number): TextIssue {
  return { rule, severity: 'error', message, offset };
}

function sniffUtf16(bytes: Uint8Array): string | null {
  const [a, b, c, d] = bytes;
  if (a === 0xff && b === 0xfe) return c === 0 && d === 0 ? 'UTF-32' : 'UTF-16';
  if (a === 0xfe && b === 0xff) return 'UTF-16';
  if (a === 0 && b === 0 && c === 0xfe && d === 0xff) return 'UTF-32';
  if (a === undefined || b === undefined || c === undefined || d === undefined) return null;
  return (a === 0 && b !== 0 && c === 0 && d !== 0) || (a !== 0 && b === 0 && c !== 0 && d === 0) ? 'UTF-16' : null;
}

/** The offset of the first replacement character that is not in the bytes themselves. */
function firstBroken(text: string, bytes: Uint8Array): number {
  let byte = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0;
  let from = 0;
  for (let at = text.indexOf('\ufffd'); at >= 0; at = text.indexOf('\ufffd', at + 1)) {
    byte += Buffer.byteLength(text.slice(from, at));
    if (bytes[byte] !== 0xef || bytes[byte + 1] !== 0xbf || bytes[byte + 2] !== 0xbd) return at;
    from = at;
  }
  return 0;
}

// YAML 1.2 §5.1, c-printable: everything else must be written as an escape.
const controlCharacter = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]/;

/** Reports the first character that YAML does not allow, or returns null. */
export function controlCharacterIssue(text: string): TextIssue | null {
  const offset = text.search(controlCharacter);
  if (offset < 0) return null;
  const code = text.charCodeAt(offset).toString(16).toUpperCase().padStart(4, '0');
  const message = `The file contains the control character U+${code}, which YAML does not allow. Remove it or write it as an escape.`;
  return issueOf('control-character', message, offset);
}

/** Reports a number that changes when it is read as a double, or returns null. `1e400` is an error, others are warnings. */
export function numberIssue(literal: string, value: number, offset: number): TextIssue | null {
  const shown = cut(literal, 60);
  if (!Number.isFinite(value)) {
    const message = /\d/.test(literal)
      ? `The number ${shown} is too large: JSON parsers read it as infinity. Use a smaller number or a string.`
      : `JSON has no value ${shown}. Use a finite number or a string.`;
    return issueOf('number-range', message, offset);
  }
  const warning = (message: string): TextIssue => ({ rule: 'number-precision', severity: 'warning', message, offset });
  const exact = exactInteger(literal, value);
  if (exact !== null && exact !== BigInt(value))
    return warning(
      `The integer ${shown} is beyond 2^53, and most parsers read it as ${value}. Use a smaller number or a string.`,
    );
  if (!losesDigits(literal, value)) return null;
  return warning(
    value === 0
      ? `The number ${shown} is too small and is read as 0.`
      : `The number ${shown} has more digits than parsers keep. They read it, and the format generated here writes it, as ${value}. Use fewer digits or a string.`,
  );
}

/** The issue of a string with a character that UTF-8 cannot express. */
export function loneSurrogate(offset: number): TextIssue {
  const message = 'The string contains half of a surrogate pair. Write both halves, or remove it.';
  return issueOf('lone-surrogate', message, offset);
}

/** Sets an own property, also one named `__proto__`. */
export function setMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  else object[name] = value;
}
