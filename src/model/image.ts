import { decodePercent } from './escape.ts';

/** The types of images that a version may have, each with the extension in its URL. */
export const imageTypes = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/gif': 'gif',
  'image/webp': 'webp',
  'image/avif': 'avif',
  'image/svg+xml': 'svg',
} as const;

export type ImageType = keyof typeof imageTypes;

/** Bytes of one image. Larger ones are not part of a version. */
export const largestImage = 2 * 1024 * 1024;
/** Bytes of all images of a version. */
export const largestImages = 16 * 1024 * 1024;
/** Most images that a document may show. */
export const maxImages = 200;

/** An image of the repository that a document shows. `name`: in its URL. Sizes in pixels; null if the image has none. */
export interface ShownImage {
  path: string;
  name: string;
  width: number | null;
  height: number | null;
}

/** The images of a version, and the files of its document: what is written in them is relative to them. */
export interface Images {
  documents: string[];
  images: ShownImage[];
}

/** Whether the text is the name of an image in a URL: the beginning of its digest, and an extension. */
export function isImageFile(text: string): boolean {
  return /^[0-9a-f]{16}\.(?:png|jpg|gif|webp|avif|svg)$/.test(text);
}

/** Whether a file is an image by its name. */
export function isImageName(path: string): boolean {
  return /\.(?:png|jpe?g|gif|webp|avif|svg)$/i.test(path);
}

/**
 * The paths that an image's address in a description may mean, in the order in which they are looked
 * for: beside the file with the description, then from the root of the repository. Empty for
 * addresses of other hosts, and for files that are not images by their name.
 */
export function imagePaths(address: string, file: string): string[] {
  const bare = /^[^?#]{1,1000}/.exec(address)?.[0] ?? '';
  if (/^[a-z][a-z0-9+.-]*:|^\/\/|[\\\0\s]/i.test(bare) || !isImageName(bare)) return [];
  const path = decodePercent(bare) ?? bare;
  const folder = file.slice(0, file.lastIndexOf('/') + 1);
  const paths = path.startsWith('/') ? [plainPath(path)] : [plainPath(folder + path), plainPath(path)];
  return [...new Set(paths.filter((each) => each !== null))];
}

/** The path without `.`, `..` and empty segments; null if it leads out of the tree. */
function plainPath(path: string): string | null {
  const segments: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..' && segments.pop() === undefined) return null;
    if (segment !== '..' && segment !== '.' && segment !== '') segments.push(segment);
  }
  return segments.join('/');
}

/** Finds the image that an address means. Null: none, or files of the document mean different ones by it. */
export function createFindImage({ documents, images }: Images): (address: string) => ShownImage | null {
  const byPath = new Map(images.map((image) => [image.path, image]));
  const shown = new Map<string, ShownImage | null>();
  const find = (address: string) => {
    const meant = new Set<ShownImage>();
    for (const file of documents) {
      const path = imagePaths(address, file).find((each) => byPath.has(each));
      if (path !== undefined) meant.add(byPath.get(path)!);
    }
    return meant.size === 1 ? [...meant][0]! : null;
  };
  return (address) => (images.length === 0 ? null : shown.getOrInsertComputed(address, find));
}

/** Reads the head of an image, whatever its name is. Null for anything else. Never throws. */
export function readImage(
  content: Uint8Array,
): { type: ImageType; width: number | null; height: number | null } | null {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  for (const type of types) {
    if (!readers[type].is(bytes)) continue;
    const [width, height] = readers[type].size(bytes) ?? [0, 0];
    const isSized = [width, height].every((side) => side >= 1 && side <= largestSide);
    return { type, width: isSized ? Math.round(width) : null, height: isSized ? Math.round(height) : null };
  }
  return null;
}

const largestSide = 50_000;

type Size = readonly [number, number] | null;

const begins = (text: string) => (bytes: Buffer) => bytes.toString('latin1', 0, text.length) === text;

const readers: Readonly<Record<ImageType, { is(bytes: Buffer): boolean; size(bytes: Buffer): Size }>> = {
  'image/png': {
    is: begins('\x89PNG\r\n\x1a\n'),
    size: (bytes) => (bytes.length < 24 ? null : [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]),
  },
  'image/jpeg': { is: begins('\xff\xd8\xff'), size: jpegSize },
  'image/gif': {
    is: (bytes) => /^GIF8[79]a/.test(bytes.toString('latin1', 0, 6)),
    size: (bytes) => (bytes.length < 10 ? null : [bytes.readUInt16LE(6), bytes.readUInt16LE(8)]),
  },
  'image/webp': { is: (bytes) => begins('RIFF')(bytes) && bytes.toString('latin1', 8, 12) === 'WEBP', size: webpSize },
  'image/avif': { is: (bytes) => /^....ftyp(?:avif|avis|mif1)/s.test(bytes.toString('latin1', 0, 12)), size: avifSize },
  'image/svg+xml': {
    is: (bytes) => /^(?:\ufeff)?\s*(?:<(?:\?xml|!--|!DOCTYPE)[^]*?>\s*)*<svg[\s>]/i.test(headOf(bytes)),
    size: (bytes) => svgSize(headOf(bytes)),
  },
};

const types = Object.keys(readers) as ImageType[];

/** Walks the segments to the first frame (ITU T.81 §B.1.1.3, §B.2.2). */
function jpegSize(bytes: Buffer): Size {
  for (let at = 2; at + 9 <= bytes.length;) {
    if (bytes[at] !== 0xff) return null;
    const marker = bytes[at + 1]!;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5)];
    at += 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}

/** Lossy, lossless or extended (RFC 9649 §2). */
function webpSize(bytes: Buffer): Size {
  if (bytes.length < 30) return null;
  const kind = bytes.toString('latin1', 12, 16);
  if (kind === 'VP8X') return [bytes.readUIntLE(24, 3) + 1, bytes.readUIntLE(27, 3) + 1];
  if (kind === 'VP8 ') return [bytes.readUInt16LE(26) & 0x3fff, bytes.readUInt16LE(28) & 0x3fff];
  if (kind !== 'VP8L') return null;
  const bits = bytes.readUInt32LE(21);
  return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
}

/** The largest of the sizes that it names: the others are of tiles and thumbnails. */
function avifSize(bytes: Buffer): Size {
  const head = bytes.subarray(0, 8192);
  let largest: Size = null;
  for (let at = head.indexOf('ispe'); at >= 0 && at + 16 <= head.length; at = head.indexOf('ispe', at + 4)) {
    const size = [head.readUInt32BE(at + 8), head.readUInt32BE(at + 12)] as const;
    if (largest === null || size[0] * size[1] > largest[0] * largest[1]) largest = size;
  }
  return largest;
}

function headOf(bytes: Buffer): string {
  return bytes.toString('utf8', 0, 10_000);
}

function svgSize(head: string): Size {
  const tag = /<svg\s[^>]*/i.exec(head)?.[0] ?? '';
  const side = (name: string) =>
    Number(new RegExp(`\\s${name}\\s*=\\s*["']\\s*([\\d.]{1,20})(?:px)?\\s*["']`).exec(tag)?.[1]);
  const [width, height] = [side('width'), side('height')];
  if (width > 0 && height > 0) return [width, height];
  const [, across, down] =
    /\sviewBox\s*=\s*["']\s*[-\d.]+[\s,]+[-\d.]+[\s,]+([\d.]{1,20})[\s,]+([\d.]{1,20})\s*["']/.exec(tag) ?? [];
  return across === undefined ? null : [Number(across), Number(down)];
}
