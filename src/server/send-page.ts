import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Config } from '../config.ts';
import { digestOf, type Digest } from '../model/digest.ts';
import type { Registry } from '../registry/registry.ts';
import type { Sent } from './fast-path/hits.ts';
import { evaluateConditions } from './read/conditions.ts';
import { pageHeaders, flatten, type Fields } from './headers.ts';
import { keyFields, varyOf, type Audience } from './read/lifetime.ts';
import { chooseCoding } from './read/negotiate.ts';
import { codedPage } from './page-bytes.ts';
import { RegistryError } from '../model/errors.ts';

/** A page's digest and how to get its bytes. */
export interface PageBytes {
  digest: Digest;
  size: number;
  /** Whether the same bytes are sent until the next update: they are worth compressing further. */
  isLasting?: boolean;
  open(): Promise<Uint8Array>;
}

export interface PageOptions {
  status?: number;
  /** Default `text/html; charset=utf-8`. */
  mediaType?: string;
  /** Headers to add, including those of `pageSharing`. */
  headers: Fields;
  /** Called with what was sent, with status 200. */
  keep?: (sent: Sent, bytes: Uint8Array) => void;
}

/** A page from text or bytes in memory. */
export function bytesOf(text: string | Uint8Array): PageBytes {
  // Not from Node's buffer pool: keeping one small page would keep its whole 64 KB.
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  if (typeof text === 'string') bytes.write(text);
  else bytes.set(text);
  return { digest: digestOf(bytes), size: bytes.byteLength, open: async () => bytes };
}

/** The bytes that a page takes in memory. */
export function sizeOf({ size }: PageBytes): number {
  return size;
}

/**
 * Caching headers of a page. Pages of pinned versions change when versions are added, so they
 * expire like `latest`. `by: 'reader'`: the URL shows some readers more, so shared caches may only
 * keep the public form.
 */
export function pageSharing(
  { cache }: Pick<Config, 'cache'>,
  {
    isPublic,
    by = 'everyone',
    connect = [],
    images = [],
    framedBy,
    keys = [],
  }: {
    isPublic: boolean;
    by?: Audience;
    connect?: string[];
    images?: readonly string[];
    framedBy?: readonly string[];
    keys?: readonly string[];
  },
): Fields {
  return {
    'Cache-Control': isPublic ? `public, max-age=${cache.latest}, must-revalidate` : 'private, no-store',
    ...(isPublic && keyFields(keys)),
    ...varyOf(isPublic, by),
    ...pageHeaders({ connect, images, ...(framedBy && { framedBy }) }),
  };
}

/**
 * Answers a GET or HEAD with a page: 200 (or another status), or 304. Each coding has its own
 * strong ETag, made from the digest of the plain bytes. Rejects with `not_acceptable` if the client
 * accepts no coding, and with `precondition_failed`.
 */
export async function sendPage(
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  memory: Pick<Registry, 'cache' | 'answers'>,
  page: PageBytes,
  { status = 200, mediaType = 'text/html; charset=utf-8', headers, keep }: PageOptions,
): Promise<void> {
  const coding = chooseCoding(request.headers['accept-encoding']);
  if (coding === null)
    throw new RegistryError('not_acceptable', 'No available content coding matches Accept-Encoding.');
  const etag = `"${page.digest}${coding === 'identity' ? '' : `-${coding}`}"`;
  const common = status === 200 ? { ETag: etag, ...headers } : headers;
  const outcome = status === 200 ? evaluateConditions(request.headers, etag) : 'proceed';
  if (outcome === 'failed')
    throw new RegistryError('precondition_failed', 'If-Match does not match the current entity tag.');
  if (outcome === 'not_modified') {
    response.writeHead(304, flatten(common)).end();
    return;
  }
  const bytes = await codedPage(memory, page, coding, page.open);
  const content = {
    'Content-Type': mediaType,
    ...(coding !== 'identity' && { 'Content-Encoding': coding }),
    'Content-Length': String(bytes.byteLength),
  };
  const full = flatten({ ...common, ...content });
  response.writeHead(status, full).end(request.method === 'HEAD' ? undefined : bytes);
  if (status === 200) keep?.({ etag, size: bytes.byteLength, common: flatten(common), full }, bytes);
}
