import type { IncomingMessage, ServerResponse } from 'node:http';
import { RegistryError } from '../../model/errors.ts';
import { chooseRange, evaluateConditions, type ByteRange } from './conditions.ts';
import { flatten, type Fields } from '../headers.ts';

/** A response without its bytes. It contains nothing of the request, so that it can be cached. */
export interface PreparedDocument {
  /** Strong ETag with its quotes. */
  etag: string;
  /** Size of the whole content, in bytes. */
  size: number;
  /** Whether the client may request ranges. */
  ranges: boolean;
  /** Headers that a 304 has too (RFC 9110 §15.4.5). */
  common: string[];
  /** Headers of a 200. */
  full: string[];
}

/**
 * Prepares a response from its headers: `common` ones (also sent with 304) and those of the
 * `content`.
 */
export function prepare(
  { etag, size, ranges }: Pick<PreparedDocument, 'etag' | 'size' | 'ranges'>,
  { common, content }: { common: Fields; content: Fields },
): PreparedDocument {
  const tagged = { ETag: etag, ...common };
  // The length is last, because a range replaces it.
  const full = { ...tagged, ...content, 'Accept-Ranges': ranges ? 'bytes' : 'none', 'Content-Length': String(size) };
  return { etag, size, ranges, common: flatten(tagged), full: flatten(full) };
}

/**
 * Answers a GET or HEAD with 200, 206 or 304 according to its conditions and range. Rejects with
 * `precondition_failed`, with `range_not_satisfiable` or as `open` does; nothing was sent then.
 * Calls `open` only if bytes are sent.
 */
export async function sendPrepared(
  request: IncomingMessage,
  response: ServerResponse,
  prepared: PreparedDocument,
  open: () => Promise<Uint8Array>,
): Promise<void> {
  const { headers, method } = request;
  const outcome = evaluateConditions(headers, prepared.etag);
  if (outcome === 'failed')
    throw new RegistryError('precondition_failed', 'If-Match does not match the current entity tag.');
  if (outcome === 'not_modified') {
    response.writeHead(304, prepared.common).end();
    return;
  }
  if (method === 'HEAD') {
    response.writeHead(200, prepared.full).end();
    return;
  }
  const range = prepared.ranges ? chooseRange(headers, prepared.etag, prepared.size) : null;
  if (range === 'unsatisfiable') {
    response.setHeader('Content-Range', `bytes */${prepared.size}`);
    throw new RegistryError('range_not_satisfiable', `The range is outside the document of ${prepared.size} bytes.`);
  }
  const bytes = await open();
  if (range === null) response.writeHead(200, prepared.full).end(bytes);
  else sendRange(response, prepared, bytes, range);
}

function sendRange(
  response: ServerResponse,
  { full, size }: PreparedDocument,
  bytes: Uint8Array,
  range: ByteRange,
): void {
  const { first, last } = range;
  const headers = full.slice(0, -2);
  headers.push('Content-Range', `bytes ${first}-${last}/${size}`, 'Content-Length', String(last - first + 1));
  response.writeHead(206, headers).end(bytes.subarray(first, last + 1));
}
