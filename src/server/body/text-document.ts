import { parseJson } from './json-body.ts';
import { createPacer, joinPieces } from './pieces.ts';

/** Bytes of a JSON string to decode at once. */
const window = 256 * 1024;

/** A cut may fall inside a pair of escaped surrogates: twelve bytes. */
const longestUnit = 12;

/**
 * Decodes a JSON string to UTF-8, a window at a time so that the event loop stays free. `head` is
 * the text before it, for line and column. Throws `malformed`, with line and column, if it is not a
 * JSON string.
 */
export async function decodeText(written: Buffer, head: string): Promise<Buffer> {
  const decoded: Buffer[] = [];
  const pause = createPacer();
  const last = written.length - 1;
  for (let from = 1; from < last;) {
    let to = Math.min(from + window, last);
    let text = decodePart(written, from, to);
    for (const most = Math.min(to + longestUnit, last); text === null && to < most;)
      text = decodePart(written, from, ++to);
    text ??= explain(written, from, to, head);
    decoded.push(Buffer.from(text));
    await pause((to - from) * 4);
    from = to;
  }
  return joinPieces(decoded);
}

/**
 * The text of a part of the string; null if the cut is inside a character, or the part is invalid.
 */
function decodePart(written: Buffer, from: number, to: number): string | null {
  // The next byte continues a UTF-8 character.
  if ((written[to]! & 0xc0) === 0x80) return null;
  try {
    const text = JSON.parse(`"${written.toString('utf8', from, to)}"`) as string;
    return text.isWellFormed() ? text : null;
  } catch {
    return null;
  }
}

/** Throws the error in a part of the string. */
function explain(written: Buffer, from: number, to: number, head: string): string {
  const before = (offset: number) =>
    head + written.toString('utf8', 0, from - 1) + `"${written.toString('utf8', from, to)}"`.slice(0, offset);
  return parseJson(`"${written.toString('utf8', from, to)}"`, { depth: 1, before }) as string;
}
