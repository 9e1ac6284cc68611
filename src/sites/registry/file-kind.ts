import { isUtf8 } from 'node:buffer';
import { isFilePath, mediaTypeOf, ownFiles } from '../model/page-path.ts';

/** How the files of a type begin. Types without an entry are text. */
const beginnings: Readonly<Record<string, (bytes: Buffer) => boolean>> = {
  'image/png': (bytes) => startsWith(bytes, '\x89PNG\r\n\x1a\n'),
  'image/jpeg': (bytes) => startsWith(bytes, '\xff\xd8\xff'),
  'image/gif': (bytes) => startsWith(bytes, 'GIF87a') || startsWith(bytes, 'GIF89a'),
  'image/webp': (bytes) => startsWith(bytes, 'RIFF') && bytes.toString('latin1', 8, 12) === 'WEBP',
  'image/avif': (bytes) =>
    bytes.toString('latin1', 4, 8) === 'ftyp' && /^(?:avif|avis|mif1)/.test(bytes.toString('latin1', 8, 12)),
  'image/x-icon': (bytes) => startsWith(bytes, '\0\0\x01\0'),
  'font/woff': (bytes) => startsWith(bytes, 'wOFF'),
  'font/woff2': (bytes) => startsWith(bytes, 'wOF2'),
  'font/ttf': (bytes) => startsWith(bytes, '\0\x01\0\0') || startsWith(bytes, 'true'),
  'font/otf': (bytes) => startsWith(bytes, 'OTTO'),
  'application/pdf': (bytes) => startsWith(bytes, '%PDF-'),
  'video/mp4': (bytes) => bytes.toString('latin1', 4, 8) === 'ftyp',
  'video/webm': (bytes) => startsWith(bytes, '\x1a\x45\xdf\xa3'),
};

function startsWith(bytes: Buffer, text: string): boolean {
  return bytes.toString('latin1', 0, text.length) === text;
}

/**
 * The media type of a site's file: that of its name, if the bytes are what the name says. Else why a
 * site cannot have it, in one sentence.
 */
export function kindOfFile(path: string, content: Uint8Array): { mediaType: string } | { fault: string } {
  const mediaType = mediaTypeOf(path);
  if (mediaType === null)
    return { fault: `Sites have no files such as ${path}. Use Markdown, images, fonts, PDF, video or data files.` };
  if (!isFilePath(path))
    return { fault: (ownFiles as readonly string[]).includes(path) ? `Every site has its own ${path}.` : pathFault };
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const looksRight = Object.hasOwn(beginnings, mediaType) ? beginnings[mediaType]!(bytes) : isUtf8(bytes);
  if (!looksRight) return { fault: `The content is not ${mediaType.split(';')[0]}, as its name says.` };
  if (mediaType === 'image/svg+xml' && !/<svg[\s>]/.test(bytes.toString('utf8', 0, 10_000)))
    return { fault: 'The content is not image/svg+xml, as its name says.' };
  return { mediaType };
}

/** What a path must be. */
const pathFault =
  'A path has names of A-Z a-z 0-9 . _ - between slashes; each begins with a letter or digit, and the last ends with an extension.';
