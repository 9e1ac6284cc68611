import type { IncomingMessage, ServerResponse } from 'node:http';
import { RegistryError } from '../../model/errors.ts';
import { chooseRange, evaluateConditions, type ByteRange } from './conditions.ts';
import { flatten, type Fields } from '../headers.ts';

/** An answer that is ready but for its bytes. Holds nothing of the request, so that it can be kept and sent again. */
export interface Prepared {
  /** Strong entity tag, with its quotes. */
  etag: string;
  /** Bytes of the whole content. */
  size: number;
  /** Whether parts of it can be asked for. */
  ranges: boolean;
  /** What a 304 carries too (RFC 9110 §15.4.5). */
  common: string[];
  /** Everything for a 200. */
  full: string[];
}

/** Puts an answer together: `common` and `content` in turn, and what follows from the size and the tag. */
export function prepare(
  { etag, size, ranges }: Pick<Prepared, 'etag' | 'size' | 'ranges'>,
  { common, content }: { common: Fields; content: Fields },
): Prepared {
  const tagged = { ETag: etag, ...common };
  // The length goes last: a range takes it off and puts its own there.
  const full = { ...tagged, ...content, 'Accept-Ranges': ranges ? 'bytes' : 'none', 'Content-Length': String(size) };
  return { etag, size, ranges, common: flatten(tagged), full: flatten(full) };
}

/**
 * Answers a GET or HEAD: 200, 206 or 304 as the request's conditions and range ask. Rejects with `precondition_failed` or
 * `range_not_satisfiable`, and with what `open` rejects with; nothing was sent then. `open` is called only where bytes are sent.
 */
export async function sendPrepared(
  request: IncomingMessage,
  response: ServerResponse,
  prepared: Prepared,
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

function sendRange(response: ServerResponse, { full, size }: Prepared, bytes: Uint8Array, range: ByteRange): void {
  const { first, last } = range;
  const headers = full.slice(0, -2);
  headers.push('Content-Range', `bytes ${first}-${last}/${size}`, 'Content-Length', String(last - first + 1));
  response.writeHead(206, headers).end(bytes.subarray(first, last + 1));
}
