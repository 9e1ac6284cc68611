import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Digest } from '../../model/digest.ts';
import { RegistryError } from '../../model/errors.ts';
import { hasBody, readPieces } from './request-body.ts';
import { createDocumentScan } from './document-scan.ts';
import { joinPieces, slicePieces } from './pieces.ts';
import { parseJson } from './json-body.ts';
import { decodeText } from './text-document.ts';

/** What a body may be. */
export interface BodyLimits {
  /** Bytes, as sent and after inflation. */
  bytes: number;
  /** What is beside a document: its bytes, its nesting, its values and names. */
  rest: number;
  depth: number;
  nodes: number;
  /** Nesting, and values and names, of a body that holds a document; absent: it holds none. */
  document?: { depth: number; nodes: number };
}

/** A body that was read. */
export interface Body {
  /** Its JSON; in place of a document something of the same type. */
  value: unknown;
  /** The document: its object as it was written, or its text. Null where the body has none. */
  document: Buffer | null;
  /** Digest and bytes of all of it, inflated. */
  digest: Digest;
  size: number;
}

const json = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*(?:utf-8|"utf-8")[ \t]*)?;?[ \t]*$/i;

/**
 * Reads a request's body as JSON; null where it has none. A document in it is not parsed. Refuses
 * with `unsupported_media_type` another type, charset or coding, with `too_large` one over a limit,
 * with `malformed` what is not JSON. Never holds the event loop for long, whatever the size.
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
