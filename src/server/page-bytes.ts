import { LRUCache } from 'lru-cache';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip, zstdCompress } from 'node:zlib';
import type { Coding } from '../model/artifact.ts';
import { hexOf, type Digest } from '../model/digest.ts';
import type { Cache } from '../store/cache.ts';

/** Bytes from which a coding is kept; below, making it again is cheaper than looking. */
export const worthKeeping = 32 * 1024;

const brotli = promisify(brotliCompress);
const zstd = promisify(zstdCompress);

/** Fast rather than small: somebody waits. What is made at publish time, or by the static build, is packed tighter. */
const coders: Readonly<Record<Coding, (bytes: Uint8Array) => Promise<Uint8Array>>> = {
  identity: async (bytes) => bytes,
  br: (bytes) => brotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } }),
  zstd: (bytes) => zstd(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 6 } }),
  gzip: promisify(gzip) as (bytes: Uint8Array) => Promise<Uint8Array>,
};

/**
 * A page's bytes in a coding: from the cache, else coded off the main thread and, if they are many, kept there. `open` gives the plain bytes of
 * that digest.
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

/** The plain bytes of a large page: from the cache, else as `make` makes them again. */
export function keptPage(cache: Cache, digest: Digest, make: () => Promise<Uint8Array>): Promise<Uint8Array> {
  return keptBytes(cache, `${hexOf(digest)}.identity`, make);
}

const atHand = new WeakMap<Cache, LRUCache<string, Promise<Uint8Array> | WeakRef<Uint8Array>>>();

/** Names that are remembered; what they stand for is not kept by it. */
const mostAtHand = 1000;

/**
 * Bytes that the cache has, else those that are made, and kept there. Those who ask at the same time share one making, and all who are still being sent
 * the bytes share them: many slow readers of a large page need no more memory than one.
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
  // A cache that cannot be written to costs time and nothing else.
  await cache.put(key, made).catch(() => undefined);
  return made;
}
