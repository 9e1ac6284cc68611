import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { Coding } from '../model/artifact.ts';

/** Makes bytes of a coding from plain ones. */
type Encode<R> = (bytes: Uint8Array, options: object) => R;

/** How each coding is made: at once, and in a thread. */
const encoders: Readonly<
  Record<Exclude<Coding, 'identity'>, readonly [now: Encode<Buffer>, later: Encode<Promise<Buffer>>]>
> = {
  gzip: [zlib.gzipSync, promisify(zlib.gzip)],
  br: [zlib.brotliCompressSync, promisify(zlib.brotliCompress)],
  zstd: [zlib.zstdCompressSync, promisify(zlib.zstdCompress)],
};

/** Compresses bytes with the options of Node's zlib: at once, where a thread costs more than the work, or in a thread. */
export async function compress(
  coding: Exclude<Coding, 'identity'>,
  bytes: Uint8Array,
  options: object,
  isAtOnce: boolean,
): Promise<Buffer> {
  const [now, later] = encoders[coding];
  return isAtOnce ? now(bytes, options) : later(bytes, options);
}
