import { LRUCache } from 'lru-cache';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';
import type { Coding } from '../model/artifact.ts';
import { hexOf, type Digest } from '../model/digest.ts';
import type { Cache } from '../store/cache.ts';

/** Smallest size whose compressed bytes are cached. Below it, compressing again is cheaper. */
export const worthKeeping = 32 * 1024;

const brotli = promisify(brotliCompress);
const zstd = promisify(zstdCompress);

/**
 * Fast rather than small, because a reader waits. Publishing and the static build compress better.
 */
const coders: Readonly<Record<Coding, (bytes: Uint8Array) => Promise<Uint8Array>>> = {
  identity: async (bytes) => bytes,
  br: (bytes) => brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  zstd: (bytes) => zstd(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 6 } }),
  gzip: promisify(gzip) as (bytes: Uint8Array) => Promise<Uint8Array>,
};

/**
 * A page's bytes in a coding: cached, or compressed off the main thread and cached if large. `open`
 * returns the plain bytes of the digest.
 */
export async function codedPage(
  cache: Cache,
  { digest, size }: { digest: Digest; size: number },
  coding: Coding,
  open: () => Promise<Uint8Array>,
): Promise<Uint8Array> {
  const make = async () => coders[coding](await open());
  return coding === 'identity' || size < worthKeeping ? make() : keptBytes(cache, `${hexOf(digest)}.${coding}`, make);
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
