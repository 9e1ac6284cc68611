import { LRUCache } from 'lru-cache';
import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  gzip,
  gzipSync,
  zstdCompress,
  zstdCompressSync,
} from 'node:zlib';
import type { Coding } from '../model/artifact.ts';
import { hexOf, type Digest } from '../model/digest.ts';
import type { Cache } from '../store/cache.ts';

/** Smallest size whose compressed bytes are in the cache. Those of smaller pages are kept in memory. */
export const worthKeeping = 32 * 1024;

const brotli = promisify(brotliCompress);
const zstd = promisify(zstdCompress);
const gzipped = promisify(gzip) as (bytes: Uint8Array) => Promise<Uint8Array>;

/** Level 9 of brotli makes a long page a tenth smaller than 5 in the same time; its start costs more than a short one. */
const longPage = 256 * 1024;

/** Largest file that never changes and is compressed as far as possible: 70 ms for a stylesheet. */
const longestLasting = 128 * 1024;

/** Bytes up to which compressing, some 70 µs, takes less processor time than handing it to another thread. */
const atOnce = 8 * 1024;

/**
 * Fast rather than small, because a reader waits. Publishing and the static build compress better.
 */
const coders: Readonly<
  Record<Exclude<Coding, 'identity'>, (bytes: Uint8Array, isLasting: boolean) => Uint8Array | Promise<Uint8Array>>
> = {
  br: (bytes, isLasting) => {
    const usual = bytes.byteLength < longPage ? 5 : 9;
    const level = isLasting && bytes.byteLength < longestLasting ? 11 : usual;
    const options = { params: { [constants.BROTLI_PARAM_QUALITY]: level } };
    return bytes.byteLength <= atOnce && level === 5 ? brotliCompressSync(bytes, options) : brotli(bytes, options);
  },
  zstd: (bytes) => {
    const options = { params: { [constants.ZSTD_c_compressionLevel]: 6 }, pledgedSrcSize: bytes.byteLength };
    return bytes.byteLength <= atOnce ? zstdCompressSync(bytes, options) : zstd(bytes, options);
  },
  gzip: (bytes) => (bytes.byteLength <= atOnce ? gzipSync(bytes) : gzipped(bytes)),
};

/** Compressed small pages. One is the same for all who get it, since its digest names it. */
const small = new LRUCache<string, Promise<Uint8Array>>({ max: 1000 });

/**
 * A page's bytes in a coding: cached, or compressed off the main thread and cached. `open`
 * returns the plain bytes of the digest. `isLasting`: the same bytes are sent until the next update.
 */
export async function codedPage(
  cache: Cache,
  { digest, size, isLasting = false }: { digest: Digest; size: number; isLasting?: boolean },
  coding: Coding,
  open: () => Promise<Uint8Array>,
): Promise<Uint8Array> {
  if (coding === 'identity') return open();
  const make = async () => coders[coding](await open(), isLasting);
  const name = `${hexOf(digest)}.${coding}`;
  if (size >= worthKeeping) return keptBytes(cache, name, make);
  const found = small.get(name) ?? make();
  small.set(name, found);
  found.catch(() => small.delete(name));
  return found;
}

/** The plain bytes of a large page: cached, or made again by `make`. */
export function keptPage(cache: Cache, digest: Digest, make: () => Promise<Uint8Array>): Promise<Uint8Array> {
  return keptBytes(cache, `${hexOf(digest)}.identity`, make);
}

const atHand = new WeakMap<Cache, LRUCache<string, Promise<Uint8Array> | WeakRef<Uint8Array>>>();

/** Names in memory, each with a weak reference to its bytes. */
const mostAtHand = 1000;

/**
 * Returns cached bytes, or makes and caches them. Concurrent callers share one computation, and
 * responses in progress share the bytes, so that many slow readers of a large page need only the
 * memory of one.
 */
async function keptBytes(cache: Cache, name: string, make: () => Promise<Uint8Array>): Promise<Uint8Array> {
  const known = atHand.get(cache) ?? new LRUCache({ max: mostAtHand });
  atHand.set(cache, known);
  const found = known.get(name);
  const bytes = found instanceof WeakRef ? found.deref() : found;
  if (bytes !== undefined) return bytes;
  const answer = readOrMake(cache, `pages/${name}`, make);
  known.set(name, answer);
  try {
    const made = await answer;
    known.set(name, new WeakRef(made));
    return made;
  } catch (error) {
    known.delete(name);
    throw error;
  }
}

async function readOrMake(cache: Cache, key: string, make: () => Promise<Uint8Array>): Promise<Uint8Array> {
  const kept = await cache.get(key).catch(() => null);
  if (kept !== null && kept.byteLength > 0) return kept;
  const made = await make();
  // A cache that cannot be written to costs only time.
  await cache.put(key, made).catch(() => undefined);
  return made;
}
