import { isUrlPath, parseCoordinate, parseDocumentUrl } from '../model/address.ts';
import { problemAtFile } from '../model/problem.ts';
import type { Load } from './compile.ts';
import { decodePercent, cut } from '../model/escape.ts';

/** The target of a reference: a file of the tree and a fragment, or why it is rejected. */
export type ResolvedReference =
  | {
      ok: true;
      /** Path in the tree. For `#…`, the path of the referring file. Of a registry's document: its URL. */ path: string;
      /** The decoded text after `#`. Null without `#`. */ fragment: string | null;
    }
  | {
      ok: false;
      rule: 'ref-remote' | 'ref-scheme' | 'ref-registry' | 'ref-outside-tree' | 'ref-syntax';
      message: string;
    };

/**
 * Resolves the text of a `$ref` against the file that contains it (RFC 3986 §5, on the paths of one
 * tree). Accepts relative paths inside the tree: no scheme, host, query, absolute path, backslash, NUL,
 * or percent-encoded separator or dot. Accepts URLs of a registry's documents too. Whoever loads files
 * decides which registry is meant.
 */
export function resolveReference(from: string, reference: string): ResolvedReference {
  const hash = reference.indexOf('#');
  const target = hash < 0 ? reference : reference.slice(0, hash);
  const fragment = hash < 0 ? null : decodePercent(reference.slice(hash + 1));
  const refuse = (rule: Extract<ResolvedReference, { ok: false }>['rule'], why: string): ResolvedReference => ({
    ok: false,
    rule,
    message: `${referenceSubject(reference)} ${why}`,
  });
  if (hash >= 0 && fragment === null) return refuse('ref-syntax', 'has an invalid percent-encoding: it is not UTF-8.');
  if (target === '') return { ok: true, path: from, fragment };
  if (parseCoordinate(target.replace(/^\{registry\}\//, '')) !== null)
    return refuse(
      'ref-registry',
      'names a document in the registry. Write its whole URL, such as https://registry.example/@acme/schemas/money.',
    );
  if (parseDocumentUrl(target) !== null) return { ok: true, path: target, fragment };
  if (/^https?:/i.test(target) || target.startsWith('//')) return refuse('ref-remote', notFetched);
  if (isAbsolute(target)) return refuse('ref-scheme', 'has a URL scheme. Use a relative path.');
  if (target.startsWith('/')) return refuse('ref-outside-tree', 'is an absolute path. Use a relative path.');
  if (target.includes('\\')) return refuse('ref-syntax', 'contains a backslash. Separate folders with "/".');
  if (target.includes('?')) return refuse('ref-syntax', 'has a query string. Use a relative path without "?".');
  if (/%(?:2e|2f|5c|00)/i.test(target))
    return refuse('ref-syntax', 'percent-encodes ".", "/", "\\" or NUL, which is not allowed.');
  const decoded = decodePercent(target);
  if (decoded === null || decoded.includes('\0')) return refuse('ref-syntax', 'is not a valid path.');
  if (isUrlPath(from)) return resolveReference('', new URL(target, from).href + reference.slice(target.length));
  const segments = from.split('/').slice(0, -1);
  for (const segment of decoded.split('/')) {
    if (segment === '..') {
      if (segments.pop() === undefined) return refuse('ref-outside-tree', 'points outside the repository.');
    } else if (segment !== '.' && segment !== '') segments.push(segment);
  }
  if (segments.length === 0) return refuse('ref-syntax', 'points to a folder. Reference a file.');
  return { ok: true, path: segments.join('/'), fragment };
}

/** Whether it begins with the scheme of a URI. */
export function isAbsolute(uri: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(uri);
}

/** The beginning of a sentence about a reference. */
export function referenceSubject(text: string): string {
  return `The reference ${JSON.stringify(cut(text, 200))}`;
}

const notFetched =
  'points to a URL, and URLs are not fetched. Copy the file into the repository and use a relative path.';

/** Reads files of a snapshot without a registry: documents of registries are not read. */
export function withoutRegistry(snapshot: { read: Load }): Load {
  return async (paths) => {
    const files = await snapshot.read(paths.filter((path) => !isUrlPath(path)));
    const byPath = new Map(files.map((file) => [file.path, file]));
    return paths.map((path) => byPath.get(path) ?? notRead(path));
  };
}

/** The answer for the URL of a published document where no registry can be asked. */
export function notRead(path: string): Awaited<ReturnType<Load>>[number] {
  return { path, found: false, problem: problemAtFile('ref-remote', path, `It ${notFetched}`) };
}
