import { constants } from 'node:zlib';
import type { Format } from '../../model/address.ts';
import type { Representation } from '../compile.ts';
import { compress } from '../../scheduling/compress.ts';
import type { ParsedFile } from './parse.ts';

/**
 * Formats the document as JSON and YAML. A document without external references keeps the author's
 * text in its own format, without a byte order mark (RFC 8259 §8.1), unless `isRewritten`. The other
 * format is written from its value.
 */
export function formatsOf(entry: ParsedFile, bundle: unknown, isRewritten: boolean): Record<Format, string> {
  const isEntry = bundle === entry.value || bundle === entry.exact;
  const format = isEntry && !isRewritten ? entry.format : null;
  const value = isEntry ? entry.exact : bundle;
  return {
    json: format === 'json' ? entry.text : `${JSON.stringify(value, null, 2)}\n`,
    yaml: format === 'yaml' ? entry.text : writeYaml(value),
  };
}

/** Encodes each format as identity, gzip, br and zstd, in that order. The same text gives the same bytes on the same runtime. */
export async function represent(formats: Record<Format, string>): Promise<Representation[]> {
  return (await Promise.all([encode(formats.json, 'json'), encode(formats.yaml, 'yaml')])).flat();
}

async function encode(text: string, format: Format): Promise<Representation[]> {
  const bytes = Buffer.from(text);
  const effort = effortFor(bytes.length);
  const options = {
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
  };
  // A thread waits for this one after each chunk.
  const chunkSize = Math.ceil(bytes.length / 4);
  const isNow = bytes.length <= atOnce;
  const encoded = codings.map(async (coding) => {
    const made = await compress(coding, bytes, isNow ? options[coding] : { ...options[coding], chunkSize }, isNow);
    return { format, coding, bytes: made };
  });
  return [{ format, coding: 'identity', bytes }, ...(await Promise.all(encoded))];
}

const codings = ['gzip', 'br', 'zstd'] as const;

/** Bytes up to which handing the work to threads costs more than the work. */
const atOnce = 32 * 1024;

/**
 * Levels near the knee of each curve: the next ones take several times as long for a few bytes less
 * (brotli 9 of 100 KB takes seven times as long as 8, and saves 0.5 %). The publisher waits for them,
 * and a manifest names the compressed bytes, so they cannot be improved later.
 */
function effortFor(bytes: number): { gzip: number; br: number; zstd: number } {
  if (bytes <= 4 * 1024 * 1024) return { gzip: 6, br: 8, zstd: 9 };
  return { gzip: 6, br: 5, zstd: 6 };
}

/**
 * Writes plain data as block-style YAML that parsers of YAML 1.1 and 1.2 read alike. A string stays
 * plain only if it matches a short list of patterns that every version reads as text; any other is
 * quoted or written as a literal block. Not a library, because libraries quote for one version of
 * YAML and take seconds for large documents.
 */
export function writeYaml(document: unknown): string {
  const out: string[] = [];

  function write(node: unknown, indent: string, inline: boolean): void {
    if (Array.isArray(node)) {
      if (node.length === 0) out.push(inline ? ' []\n' : '[]\n');
      else writeSequence(node, indent, inline);
    } else if (typeof node === 'object' && node !== null) {
      const entries = Object.entries(node);
      if (entries.length === 0) out.push(inline ? ' {}\n' : '{}\n');
      else writeMapping(entries, indent, inline);
    } else out.push(inline ? ' ' : '', writeScalar(node, indent), '\n');
  }

  /** `inline`: the line already has text, so a collection starts on the next line. */
  function writeMapping(entries: [string, unknown][], indent: string, inline: boolean): void {
    if (inline) out.push('\n');
    let first = !inline;
    for (const [key, value] of entries) {
      const written = isPlain(key) ? key : doubleQuoted(key);
      // YAML 1.2 §7.4.2: a key on one line with its value has at most 1,024 characters.
      const isLong = written.length > 1000;
      out.push(first ? '' : indent, isLong ? `? ${written}\n${indent}:` : `${written}:`);
      write(value, Array.isArray(value) && !isLong ? indent : `${indent}  `, true);
      first = false;
    }
  }

  function writeSequence(items: unknown[], indent: string, inline: boolean): void {
    if (inline) out.push('\n');
    let first = !inline;
    for (const item of items) {
      out.push(first ? '' : indent, '- ');
      write(item, `${indent}  `, false);
      first = false;
    }
  }

  write(document, '', false);
  return out.join('');
}

// Starts with a letter, so it is not a number, date or indicator, and contains no YAML syntax.
const plain = /^[A-Za-z][\w ./()'+-]*$/;
const plainPath = /^\/[\w./{}+-]*$/;
// Booleans and nulls of YAML 1.1 (https://yaml.org/type/bool.html, null.html), and what some
// parsers read as infinity, not-a-number, or an exponent without a number (`E0`).
const reserved = /^(?:y|yes|n|no|true|false|on|off|null|nan|inf|infinity|e[-+]?\d+)$/i;

function isPlain(text: string): boolean {
  return (
    text.length < 1000 && (plain.test(text) || plainPath.test(text)) && !text.endsWith(' ') && !reserved.test(text)
  );
}

function writeScalar(value: unknown, indent: string): string {
  if (typeof value === 'string') {
    if (isPlain(value)) return value;
    return isLiteral(value) ? writeLiteral(value, indent) : doubleQuoted(value);
  }
  return typeof value === 'number' ? writeNumber(value) : String(value);
}

/** YAML 1.1 requires a point in a number with an exponent (https://yaml.org/type/float.html). */
function writeNumber(value: number): string {
  if (Object.is(value, -0)) return '0';
  const text = String(value);
  return /^-?\d+e/.test(text) ? text.replace('e', '.0e') : text;
}

/**
 * Whether a literal block preserves this text exactly: printable lines without leading or trailing
 * spaces.
 */
function isLiteral(text: string): boolean {
  return (
    text.includes('\n') &&
    /^[^\s\p{Cc}]/u.test(text) &&
    !/[^\n\x20-\x7e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]/.test(
      text.replace(/[\ud800-\udbff][\udc00-\udfff]/g, ''),
    ) &&
    !/ (?:\n|$)/.test(text)
  );
}

function writeLiteral(text: string, indent: string): string {
  const body = text.replace(/\n+$/, '');
  const trailing = text.length - body.length;
  const header = trailing === 0 ? '|-' : trailing === 1 ? '|' : '|+';
  const inside = indent === '' ? '  ' : indent;
  const lines = body.split('\n').map((line) => (line === '' ? '' : inside + line));
  return `${header}\n${lines.join('\n')}${'\n'.repeat(Math.max(0, trailing - 1))}`;
}

/** Quotes as JSON, and escapes the characters that YAML reads as line breaks or does not allow. */
function doubleQuoted(text: string): string {
  return JSON.stringify(text).replace(
    /[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
