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

const running = new WeakMap<Cache, Map<string, Promise<Uint8Array>>>();

/**
 * A page's bytes in a coding: from the cache, else coded off the main thread and, if they are many, kept there. `open` gives the plain bytes of
 * that digest. Those who ask for the same at the same time share one coding.
 */
export async function codedPage(
  cache: Cache,
  { digest, size }: { digest: Digest; size: number },
  coding: Coding,
  open: () => Promise<Uint8Array>,
): Promise<Uint8Array> {
  if (size < worthKeeping) return coders[coding](await open());
  const key = `pages/${hexOf(digest)}.${coding}`;
  const shared = running.get(cache) ?? new Map<string, Promise<Uint8Array>>();
  running.set(cache, shared);
  const pending = shared.get(key);
  if (pending) return pending;
  const answer = (async () => {
    const kept = await cache.get(key).catch(() => null);
    if (kept !== null && kept.byteLength > 0) return kept;
    const made = await coders[coding](await open());
    // A cache that cannot be written to costs time and nothing else.
    await cache.put(key, made).catch(() => undefined);
    return made;
  })().finally(() => shared.delete(key));
  shared.set(key, answer);
  return answer;
}
