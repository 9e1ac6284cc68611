import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  gzip,
  gzipSync,
  zstdCompress,
  zstdCompressSync,
  type BrotliOptions,
  type ZlibOptions,
  type ZstdOptions,
} from 'node:zlib';
import type { Format } from '../../model/address.ts';
import type { Representation } from '../compile.ts';
import type { ParsedFile } from './parse.ts';
import { writeYaml } from './yaml-out.ts';

/**
 * Formats the document as JSON and YAML. A document without external references keeps the author's
 * text in its own format, without a byte order mark (RFC 8259 §8.1). The other format is written
 * from its value.
 */
export function formatsOf(entry: ParsedFile, bundle: unknown): Record<Format, string> {
  const format = bundle === entry.value ? entry.format : null;
  return {
    json: format === 'json' ? entry.text : `${JSON.stringify(bundle, null, 2)}\n`,
    yaml: format === 'yaml' ? entry.text : writeYaml(bundle),
  };
}

/** The author's text while threads encode it. Disposing waits for them, so that no document leaves work to the next one. */
export interface Begun extends AsyncDisposable {
  encoded: Promise<Representation[]>;
}

/** Lets threads encode the author's text, most likely a format of the artifact, already now. Null if it is small. */
export function beginToEncode({ text, format }: ParsedFile): Begun | null {
  if (text.length <= atOnce) return null;
  const encoded = encode(text, format);
  return { encoded, [Symbol.asyncDispose]: async () => void (await encoded) };
}

/**
 * Encodes each format as identity, gzip, br and zstd, in that order. The same text gives the same
 * bytes on the same runtime. `begun`: the author's text, if that was begun.
 */
export async function represent(
  formats: Record<Format, string>,
  entry: ParsedFile,
  begun: Begun | null,
): Promise<Representation[]> {
  const isBegun = (format: Format) => format === entry.format && formats[format] === entry.text;
  const encoded = (['json', 'yaml'] as const).map(
    (format) => (isBegun(format) ? begun?.encoded : null) ?? encode(formats[format], format),
  );
  return (await Promise.all(encoded)).flat();
}

async function encode(text: string, format: Format): Promise<Representation[]> {
  const bytes = Buffer.from(text);
  const effort = effortFor(bytes.length);
  const [gzipped, br, zstd] = await (bytes.length <= atOnce ? codeNow : codeInThreads)(bytes, {
    gzip: { level: effort.gzip },
    br: {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: effort.br,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        // A window larger than the document would use memory without compressing better.
        [constants.BROTLI_PARAM_LGWIN]: Math.min(22, Math.max(16, Math.ceil(Math.log2(bytes.length + 16)))),
      },
    },
    zstd: { params: { [constants.ZSTD_c_compressionLevel]: effort.zstd }, pledgedSrcSize: bytes.length },
  });
  return [
    { format, coding: 'identity', bytes },
    { format, coding: 'gzip', bytes: gzipped },
    { format, coding: 'br', bytes: br },
    { format, coding: 'zstd', bytes: zstd },
  ];
}

/** Bytes up to which handing the work to threads costs more than the work. */
const atOnce = 32 * 1024;

interface Codings {
  gzip: ZlibOptions;
  br: BrotliOptions;
  zstd: ZstdOptions;
}

type Coded = [gzip: Buffer, br: Buffer, zstd: Buffer];

function codeNow(bytes: Buffer, options: Codings): Coded {
  return [gzipSync(bytes, options.gzip), brotliCompressSync(bytes, options.br), zstdCompressSync(bytes, options.zstd)];
}

async function codeInThreads(bytes: Buffer, options: Codings): Promise<Coded> {
  // A thread waits for this one after each chunk.
  const chunkSize = Math.ceil(bytes.length / 4);
  return Promise.all([
    promisify(gzip)(bytes, { ...options.gzip, chunkSize }),
    promisify(brotliCompress)(bytes, { ...options.br, chunkSize }),
    promisify(zstdCompress)(bytes, { ...options.zstd, chunkSize }),
  ]);
}

/**
 * Levels near the knee of each curve: the next ones take several times as long for a few bytes less
 * (brotli 9 of 100 KB takes seven times as long as 8, and saves 0.5 %). The publisher waits for them,
 * and a manifest names the compressed bytes, so they cannot be improved later.
 */
function effortFor(bytes: number): { gzip: number; br: number; zstd: number } {
  if (bytes <= 4 * 1024 * 1024) return { gzip: 6, br: 8, zstd: 9 };
  return { gzip: 6, br: 5, zstd: 6 };
}
