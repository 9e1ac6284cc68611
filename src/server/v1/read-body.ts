import express, { type Request, type Response } from 'express';
import { RegistryError } from '../../model/errors.ts';
import { parseJson, type JsonBody, type JsonOptions } from './json-body.ts';

/** What a body may be. */
export interface BodyLimits {
  /** Bytes, as sent and after inflation. */
  bytes: number;
  /** Nesting of its JSON. */
  depth: number;
  /** Values and names in its JSON. */
  nodes: number;
  /** The member that holds a document, which is read as text alone. */
  document?: string;
}

/** A body that was read. */
export interface Body extends JsonBody {
  bytes: Buffer;
}

const json = /^application\/json[ \t]*(?:;[ \t]*charset[ \t]*=[ \t]*(?:utf-8|"utf-8")[ \t]*)?;?[ \t]*$/i;
const readers = new Map<number, ReturnType<typeof express.raw>>();

/**
 * Reads a request's body as JSON; null where it has none. Refuses with `unsupported_media_type` another type, charset or coding, with
 * `too_large` one over the limit (what it says about its length is believed when it says too much, and never otherwise), with `malformed`
 * what is no JSON.
 */
export async function readBody(request: Request, response: Response, limits: BodyLimits): Promise<Body | null> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared === 0 && request.headers['transfer-encoding'] === undefined) return null;
  const type = request.headers['content-type'];
  if (type !== undefined && !json.test(type)) {
    throw new RegistryError('unsupported_media_type', 'Send the body as application/json, in UTF-8.');
  }
  if (declared > limits.bytes) throw tooLarge(limits.bytes);
  const bytes = await readBytes(request, response, limits.bytes);
  if (bytes.byteLength === 0) return null;
  if (type === undefined) {
    throw new RegistryError('unsupported_media_type', 'Name the type of the body: Content-Type: application/json.');
  }
  return { bytes, ...parseJson(decode(bytes), limits.depth, jsonOptions(limits)) };
}

function jsonOptions({ nodes, document }: BodyLimits): JsonOptions {
  return { nodes, ...(document !== undefined && { opaque: document }) };
}

/** The bytes of a request's body, inflated where they are packed; none where it has none. Refuses with `too_large` more than the limit. */
export async function readBytes(request: Request, response: Response, limit: number): Promise<Buffer> {
  const read = readers.get(limit) ?? express.raw({ type: () => true, limit });
  readers.set(limit, read);
  await new Promise<void>((resolve, reject) => {
    read(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(explain(error, limit))));
  });
  const body: unknown = request.body;
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

/** What the body parser says, as ours: it knows only what is wrong with requests. */
function explain(error: unknown, limit: number): unknown {
  const { type, status } = error as { type?: string; status?: number };
  if (type === 'entity.too.large') return tooLarge(limit);
  if (type === 'encoding.unsupported') {
    return new RegistryError('unsupported_media_type', 'Send the body plain, or with Content-Encoding: gzip.');
  }
  if (status !== undefined && status < 500) {
    return new RegistryError('malformed', 'The body ends too early, or is not packed as its Content-Encoding says.');
  }
  return error;
}

function tooLarge(limit: number): RegistryError {
  return new RegistryError('too_large', `The body has more than ${limit} bytes.`, { extra: { limit } });
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new RegistryError('malformed', 'The body is not UTF-8.');
  }
}
