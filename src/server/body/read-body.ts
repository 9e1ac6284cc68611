import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Digest } from '../../model/digest.ts';
import { RegistryError, malformed } from '../../model/errors.ts';
import { parseLarge, smallBytes } from './body-thread.ts';
import { parseBody, type BodyLimits, type ParsedBody } from './json-body.ts';
import { joinPieces, hasBody, readPieces } from './request-body.ts';

/** A body that was read. */
export interface Body extends ParsedBody {
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
  const { bytes, digest } = await readHashed(request, response, limits.bytes);
  const size = bytes.length;
  if (size === 0) return null;
  if (type === undefined) {
    throw new RegistryError('unsupported_media_type', 'Set Content-Type: application/json.');
  }
  const { value, document } = size <= smallBytes ? parseBody(bytes, limits) : await parseLarge(bytes, limits);
  return {
    value,
    document: document && Buffer.from(document.buffer, document.byteOffset, document.length),
    digest,
    size,
  };
}

/** Reads a request's body as it is, whatever type it claims: the bytes are the `document`. No body is an empty file. */
export async function readBytes(request: IncomingMessage, response: ServerResponse, limit: number): Promise<Body> {
  const { bytes, digest } = await readHashed(request, response, limit);
  return { value: null, document: bytes, digest, size: bytes.length };
}

async function readHashed(
  request: IncomingMessage,
  response: ServerResponse,
  limit: number,
): Promise<{ bytes: Buffer<ArrayBuffer>; digest: Digest }> {
  const hash = createHash('sha256');
  const look = (piece: Buffer) => void hash.update(piece);
  const bytes = await joinPieces(await readPieces(request, response, { limit, inflate: true, look }));
  return { bytes, digest: `sha256:${hash.digest('hex')}` };
}

const forms = /^(?:application\/x-www-form-urlencoded|multipart\/form-data)\s*(?:;|$)/i;
const maxFields = 500;

/**
 * Reads the form that a browser posted, with or without files. Throws `unsupported_media_type` for
 * another body, `too_large` above `limit` bytes, and `malformed` if it cannot be read.
 */
export async function readForm(request: IncomingMessage, response: ServerResponse, limit: number): Promise<FormData> {
  if (!hasBody(request)) return new FormData();
  const type = request.headers['content-type'] ?? '';
  if (!forms.test(type)) throw new RegistryError('unsupported_media_type', 'Send a form of this page.');
  const bytes = await joinPieces(await readPieces(request, response, { limit, inflate: false }));
  const form = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } })
    .formData()
    .catch((error: unknown) => {
      throw malformed('The form cannot be read.', { cause: error });
    });
  if ([...form.keys()].length > maxFields) throw malformed('The form has too many fields.');
  return form;
}
