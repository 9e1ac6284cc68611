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
import type { Registry } from '../registry/registry.ts';
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
  const make = async () => coders[coding](await open(), isLasting);
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
