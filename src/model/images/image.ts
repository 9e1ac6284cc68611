import { decodePercent } from '../text/decode.ts';

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
  return (address) => {
    if (images.length === 0) return null;
    if (!shown.has(address)) shown.set(address, find(address));
    return shown.get(address)!;
  };
}
