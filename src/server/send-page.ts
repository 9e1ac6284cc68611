import { constants } from 'node:zlib';
import { compress } from '../scheduling/compress.ts';
import type { Coding } from '../model/artifact.ts';
import { hexOf, type Digest, digestOf } from '../model/digest.ts';
import type { Registry } from '../registry/registry.ts';
import type { Cache } from '../store/cache.ts';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Config } from '../config.ts';
import type { Sent } from './fast-path.ts';
import { evaluateConditions, keyFields, varyOf, type Audience } from './read/caching.ts';
import { pageHeaders, flattenFields, type Fields, assetHeaders } from './headers.ts';
import { chooseCoding, splitTarget } from './read/read-request.ts';
import { RegistryError, notAcceptable } from '../model/errors.ts';
import type { IRouter } from 'express';
import type { Site } from '../site/site.ts';
import { orAbsent } from './error-answers.ts';
import { onlyGet } from './methods.ts';

/** Smallest size whose compressed bytes are in the cache. Those of smaller pages are kept in memory. */
export const worthKeeping = 32 * 1024;

/** Level 9 of brotli makes a long page a tenth smaller than 5 in the same time; its start costs more than a short one. */
const longPage = 256 * 1024;

/** Largest file that never changes and is compressed as far as possible: 70 ms for a stylesheet. */
const longestLasting = 128 * 1024;

/** Bytes up to which compressing, some 70 µs, takes less processor time than handing it to another thread. */
const atOnce = 8 * 1024;

/** Fast rather than small, because a reader waits. Publishing and the static build compress better. */
function encode(coding: Exclude<Coding, 'identity'>, bytes: Uint8Array, isLasting: boolean): Promise<Uint8Array> {
  const { byteLength } = bytes;
  const quality = isLasting && byteLength < longestLasting ? 11 : byteLength < longPage ? 5 : 9;
  const options = {
    gzip: {},
    br: { params: { [constants.BROTLI_PARAM_QUALITY]: quality } },
    zstd: { params: { [constants.ZSTD_c_compressionLevel]: 6 }, pledgedSrcSize: byteLength },
  };
  return compress(coding, bytes, options[coding], byteLength <= atOnce && !(coding === 'br' && quality !== 5));
}

/**
 * A page's bytes in a coding: from memory, else compressed off the main thread and then kept; those
 * of large pages are in the cache, too. `open` returns the plain bytes of the digest. `isLasting`:
 * the same bytes are sent until the next update.
 */
export async function codedPage(
  memory: Memory,
  { digest, size, isLasting = false }: { digest: Digest; size: number; isLasting?: boolean },
  coding: Coding,
  open: () => Promise<Uint8Array>,
): Promise<Uint8Array> {
  if (coding === 'identity') return open();
  const make = async () => encode(coding, await open(), isLasting);
  return keptBytes(memory, `${hexOf(digest)}.${coding}`, make, size >= worthKeeping);
}

/** The plain bytes of a large page: from the cache, else made again by `make`. */
export function keptPage(memory: Memory, digest: Digest, make: () => Promise<Uint8Array>): Promise<Uint8Array> {
  return keptBytes(memory, `${hexOf(digest)}.identity`, make, true);
}

type Memory = Pick<Registry, 'cache' | 'answers'>;

/** Concurrent callers share one computation and its bytes. */
function keptBytes(
  { cache, answers }: Memory,
  name: string,
  make: () => Promise<Uint8Array>,
  isCached: boolean,
): Promise<Uint8Array> {
  const bytes = isCached ? () => readOrMake(cache, `pages/${name}`, make) : make;
  return answers.content(`page ${name}`, bytes, ({ byteLength }) => byteLength);
}

async function readOrMake(cache: Cache, key: string, make: () => Promise<Uint8Array>): Promise<Uint8Array> {
  const cached = await cache.get(key).catch(() => null);
  if (cached !== null && cached.byteLength > 0) return cached;
  const page = await make();
  // A cache that cannot be written to costs only time.
  await cache.put(key, page).catch(() => undefined);
  return page;
}

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
    keys = [],
    ...policy
  }: { isPublic: boolean; by?: Audience; keys?: readonly string[] } & Parameters<typeof pageHeaders>[0],
): Fields {
  return {
    'Cache-Control': isPublic ? `public, max-age=${cache.latest}, must-revalidate` : 'private, no-store',
    ...(isPublic && keyFields(keys)),
    ...varyOf(isPublic, by),
    ...pageHeaders(policy),
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
  if (coding === null) throw notAcceptable('No available content coding matches Accept-Encoding.');
  const etag = `"${page.digest}${coding === 'identity' ? '' : `-${coding}`}"`;
  const common = status === 200 ? { ETag: etag, ...headers } : headers;
  const outcome = status === 200 ? evaluateConditions(request.headers, etag) : 'proceed';
  if (outcome === 'failed')
    throw new RegistryError('precondition_failed', 'If-Match does not match the current entity tag.');
  if (outcome === 'not_modified') {
    response.writeHead(304, flattenFields(common)).end();
    return;
  }
  const bytes = await codedPage(memory, page, coding, page.open);
  const content = {
    'Content-Type': mediaType,
    ...(coding !== 'identity' && { 'Content-Encoding': coding }),
    'Content-Length': String(bytes.byteLength),
  };
  const full = flattenFields({ ...common, ...content });
  response.writeHead(status, full).end(request.method === 'HEAD' ? undefined : bytes);
  if (status === 200) keep?.({ etag, size: bytes.byteLength, common: flattenFields(common), full }, bytes);
}

/**
 * `current`: the path contains a hash of the content. `other`: an older page asks for a file that
 * an update replaced, and gets the new one.
 */
const lifetimes = { current: 'public, max-age=31536000, immutable', other: 'public, max-age=60' };

/** Headers of every response that matter for pages only. Loading a page once would send them five times. */
const ofPages = ['Cross-Origin-Opener-Policy', 'Referrer-Policy'];

/** Serves the stylesheets, scripts and images of pages. */
export function addAssetFiles(app: IRouter, site: Site): void {
  app.get('/assets/*path', (request, response) =>
    sendAsset(site, { request, response }, splitTarget(request.url).path),
  );
  app.all('/assets/*path', onlyGet);
}

/** Sends the file at a path. Throws `not_found` if there is none. */
export async function sendAsset(
  { assets, registry }: Pick<Site, 'assets' | 'registry'>,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
  path: string,
): Promise<void> {
  const asset = orAbsent(assets.find(path));
  const { bytes, mediaType } = asset.asset;
  const lifetime = lifetimes[asset.isCurrent ? 'current' : 'other'];
  const page = { digest: digestOf(bytes), size: bytes.byteLength, isLasting: true, open: async () => bytes };
  for (const name of ofPages) response.removeHeader(name);
  const headers = { 'Cache-Control': lifetime, Vary: 'Accept-Encoding', ...assetHeaders };
  await sendPage({ request, response }, registry, page, { mediaType, headers });
}
