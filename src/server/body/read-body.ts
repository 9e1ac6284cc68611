import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Digest } from '../../model/digest.ts';
import { RegistryError } from '../../model/errors.ts';
import { hasBody, readPieces } from './request-body.ts';
import { createDocumentScan } from './document-scan.ts';
import { joinPieces, slicePieces, createPacer } from './pieces.ts';
import { parseJson } from './json-body.ts';

/** Limits for a body. */
export interface BodyLimits {
  /** Bytes, as sent and after decompression. */
  bytes: number;
  /** Limits outside the document: bytes, nesting depth, number of values and names. */
  rest: number;
  depth: number;
  nodes: number;
  /** Limits of a body that contains a document; absent: it contains none. */
  document?: { depth: number; nodes: number };
}

/** A body that was read. */
export interface Body {
  /** The parsed JSON. The document in it is replaced by a placeholder of the same type. */
  value: unknown;
  /** The document: the bytes of its object, or its text. Null if the body has none. */
  document: Buffer | null;
  /** Digest and size of the whole body after decompression. */
  digest: Digest;
  size: number;
}

const json = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*(?:utf-8|"utf-8")[ \t]*)?;?[ \t]*$/i;

/**
 * Reads a request's body as JSON; null if it has none. Does not parse the document in it. Throws
 * `unsupported_media_type` for another media type, charset or coding, `too_large` above a limit,
 * and `malformed` if it is not JSON. Never blocks the event loop for long, whatever the size.
 */
export async function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  limits: BodyLimits,
): Promise<Body | null> {
  if (!hasBody(request)) return null;
  const type = request.headers['content-type'];
  if (type !== undefined && !json.test(type)) {
    throw new RegistryError('unsupported_media_type', 'Send the body as application/json, in UTF-8.');
  }
  const scan = limits.document ? createDocumentScan({ ...limits.document, rest: limits.rest }) : null;
  const hash = createHash('sha256');
  let size = 0;
  const look = (piece: Buffer) => {
    size += piece.length;
    scan?.look(piece);
    hash.update(piece);
  };
  const pieces = await readPieces(request, response, { limit: limits.bytes, inflate: true, look });
  if (size === 0) return null;
  if (type === undefined) {
    throw new RegistryError('unsupported_media_type', 'Set Content-Type: application/json.');
  }
  const digest: Digest = `sha256:${hash.digest('hex')}`;
  const span = scan?.span() ?? null;
  if (span === null) {
    const text = decode(await joinPieces(pieces));
    return { value: parseJson(text, limits), document: null, digest, size };
  }
  const written = await joinPieces(slicePieces(pieces, span.from, span.to));
  const isText = written[0] === 0x22;
  const head = decode(await joinPieces(slicePieces(pieces, 0, span.from)));
  const tail = decode(await joinPieces(slicePieces(pieces, span.to, size)));
  const standIn = !isText ? '{}' : written.length === 2 ? '""' : '"-"';
  const before = (offset: number) =>
    offset <= head.length
      ? head.slice(0, offset)
      : head + decode(written) + tail.slice(0, offset - head.length - standIn.length);
  const value = parseJson(head + standIn + tail, { ...limits, before });
  if (!isUtf8(written)) throw notUtf8();
  return { value, document: isText ? await decodeText(written, head) : written, digest, size };
}

function decode(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw notUtf8();
  return bytes.toString();
}

function notUtf8(): RegistryError {
  return new RegistryError('malformed', 'The body is not UTF-8.');
}

/** Reads a request's body as it is, whatever type it claims: the bytes are the `document`. Null if it has none. */
export async function readBytes(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
): Promise<Body | null> {
  if (!hasBody(request)) return null;
  const hash = createHash('sha256');
  const look = (piece: Buffer) => void hash.update(piece);
  const bytes = await joinPieces(await readPieces(request, response, { limit, inflate: true, look }));
  return { value: null, document: bytes, digest: `sha256:${hash.digest('hex')}`, size: bytes.length };
}

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
