import { own } from '../../model/json.ts';
import { asTitle } from '../../model/states.ts';

/** The largest number of segments of a path, and of characters in all. */
const limits = { segments: 10, characters: 300 };

const segmentGrammar = /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,98}[A-Za-z0-9_-])?$/;

/** Media types of the files of a site, by extension. Pages are Markdown; HTML is never one of them. */
const mediaTypes: Readonly<Record<string, string>> = {
  md: 'text/markdown; charset=utf-8',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  avif: 'image/avif',
  ico: 'image/x-icon',
  svg: 'image/svg+xml',
  woff: 'font/woff',
  woff2: 'font/woff2',
  ttf: 'font/ttf',
  otf: 'font/otf',
  pdf: 'application/pdf',
  mp4: 'video/mp4',
  webm: 'video/webm',
  json: 'application/json',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  csv: 'text/csv; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
};

/** The extensions of such files, besides pages, each with its media type. */
export const fileExtensions: readonly (readonly [extension: string, mediaType: string])[] = Object.entries(
  mediaTypes,
).filter(([extension]) => extension !== 'md');

/** Files that every site has, and that no file of its own replaces. */
export const ownFiles: readonly string[] = 'llms.txt sitemap.xml robots.txt feed.atom search.json theme.css'.split(' ');

/**
 * Whether the text is the path of a file in a site: segments of `[A-Za-z0-9._-]` with letters or
 * digits first, and an extension that sites know. No folder looks like a file.
 */
export function isFilePath(path: string): boolean {
  if (path.length > limits.characters) return false;
  const segments = path.split('/');
  const name = segments.pop()!;
  return (
    segments.length < limits.segments &&
    segments.every((segment) => isSegment(segment) && mediaTypeOf(segment) === null) &&
    isSegment(name) &&
    mediaTypeOf(name) !== null &&
    !ownFiles.includes(path)
  );
}

/** Whether the text is the path of a page: that of its file, `guide/intro.md`. */
export function isPagePath(path: string): boolean {
  return path.endsWith('.md') && isFilePath(path);
}

function isSegment(text: string): boolean {
  return segmentGrammar.test(text) && !text.includes('..');
}

/** The media type of a file by its name; null if sites do not have such files. */
export function mediaTypeOf(path: string): string | null {
  const [, extension = ''] = /\.([A-Za-z0-9]+)$/.exec(path) ?? [];
  return own(mediaTypes, extension.toLowerCase()) ?? null;
}

/**
 * The path of a page in URLs: `guide/intro.md` is at `guide/intro`, and `guide/index.md` at
 * `guide/`. Both have the same folder, so relative links mean the same in files and in URLs.
 */
export function routeOf(page: string): string {
  const stem = page.slice(0, -'.md'.length);
  return stem === 'index' ? '' : stem.endsWith('/index') ? stem.slice(0, -'index'.length) : stem;
}

/** The page at a path in URLs, as a path of its file. */
export function pageAt(route: string): string {
  return route === '' || route.endsWith('/') ? `${route}index.md` : `${route}.md`;
}

/** The folder of a path, with a slash at its end; empty at the top. */
function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

/**
 * The path that a reference in a file means: relative to the file's folder, or from the top if it
 * starts with `/`. Null if it leaves the site.
 */
export function resolvePath(from: string, reference: string): string | null {
  const parts = reference.startsWith('/') ? [] : folderOf(from).split('/').slice(0, -1);
  const segments = reference.replace(/^\//, '').split('/');
  for (const [index, segment] of segments.entries()) {
    if (segment === '..') {
      if (parts.pop() === undefined) return null;
      if (index === segments.length - 1) parts.push('');
    } else if (segment === '.' || segment === '') {
      if (index === segments.length - 1) parts.push('');
    } else parts.push(segment);
  }
  return parts.join('/');
}

/** The relative reference from a page to a path of the same site. */
export function relativePath(from: string, to: string): string {
  const folders = folderOf(from).split('/').slice(0, -1);
  const other = to.split('/');
  let shared = 0;
  while (shared < folders.length && shared < other.length - 1 && folders[shared] === other[shared]) shared++;
  const up = '../'.repeat(folders.length - shared);
  const down = other.slice(shared).join('/');
  return up + down || './';
}

/** A title from the name of a file or folder: `first-steps` → `First steps`. */
export function wordsOf(name: string): string {
  return asTitle(name.replaceAll(/[-_.]+/g, ' ').trim());
}
