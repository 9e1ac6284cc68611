import { isObject } from '../../model/json.ts';
import type { ParsedFile } from '../text/parse.ts';
import { isUrlPath, parseDocumentUrl } from '../../model/address.ts';
import { resolveReference } from '../reference.ts';
import { dialectOf } from './schema-dialect.ts';
import { absolute, isAbsolute, splitFragment, treeBaseOf } from './schema-index.ts';

/** Keywords whose values are data and hold no references. */
export const dataKeywords: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'example']);
const referenceKeywords = ['$ref', '$dynamicRef'];

/**
 * Returns the paths in the tree that a JSON Schema may reference, without the file itself, by the
 * base rules of all drafts. May include extra paths: which parts are schemas is known only later.
 */
export function schemaReferencePaths(file: ParsedFile): string[] {
  const paths = new Set<string>();
  const rootId = isObject(file.value) ? (file.value['$id'] ?? file.value['id']) : null;
  const declared = new Set<string>();
  const uris = new Set<string>();

  function visit(value: unknown, base: string, isRoot: boolean): void {
    if (Array.isArray(value)) return value.forEach((item) => visit(item, base, false));
    if (!isObject(value)) return;
    const id = value['$id'] ?? value['id'];
    if (typeof id === 'string') declared.add(id);
    const moved = !isRoot && typeof id === 'string' ? treeBaseOf(base, id) : base;
    for (const keyword of referenceKeywords) {
      const text = value[keyword];
      if (typeof text !== 'string') continue;
      for (const path of candidatePaths(file.path, moved, typeof rootId === 'string' ? rootId : null, text))
        paths.add(path);
      if (!text.startsWith('#')) uris.add(text);
    }
    for (const key in value) {
      const child = value[key];
      if (typeof child === 'object' && !dataKeywords.has(key)) visit(child, moved, false);
    }
  }

  visit(file.value, file.path, true);
  for (const text of uris)
    if (!declared.has(text.split('#')[0]!)) for (const path of siblingPaths(file.path, text)) paths.add(path);
  paths.delete(file.path);
  return [...paths];
}

/**
 * Returns the URLs of a registry's documents that a JSON Schema may reference, also relative to its own
 * URL, each with the neighbours that a relative reference means if they are there.
 */
export function schemaAddresses(file: ParsedFile): Map<string, readonly string[]> {
  const urls = new Map<string, readonly string[]>();
  if (!isUrlPath(file.path) && !/\/(?:@|%40)/.test(file.text)) return urls;
  const declared = new Set<string>();

  function visit(value: unknown, base: string | null): void {
    if (Array.isArray(value)) return value.forEach((item) => visit(item, base));
    if (!isObject(value)) return;
    const id = value['$id'] ?? value['id'];
    const uri = typeof id === 'string' ? absolute(id, base ?? 'https://stele.invalid/') : base;
    if (uri !== null) declared.add(splitFragment(uri)[0]);
    for (const keyword of referenceKeywords) {
      const text = value[keyword];
      const url = typeof text === 'string' ? documentUrl(text, uri) : null;
      if (url !== null) urls.set(url, isAbsolute(text as string) ? [] : resolved(file.path, text as string));
    }
    for (const key in value) if (!dataKeywords.has(key)) visit(value[key], uri);
  }

  visit(file.value, isUrlPath(file.path) ? file.path : null);
  for (const url of declared) urls.delete(url);
  const meta = isUrlPath(file.path) ? null : metaUrlOf(file.value);
  if (meta !== null) urls.set(meta, []);
  return urls;
}

/** The URL of a registry's document that a schema names as its `$schema`. Null: none. */
export function metaUrlOf(schema: unknown): string | null {
  const stated = isObject(schema) ? schema['$schema'] : undefined;
  return typeof stated === 'string' && dialectOf(stated) === null ? documentUrl(stated, null) : null;
}

/** The URL of a registry's document that a reference leads to from a base, without its fragment. Null: none. */
export function documentUrl(text: string, base: string | null): string | null {
  if (text.startsWith('#')) return null;
  const uri = isAbsolute(text) ? text : base && absolute(text, base);
  const [url] = splitFragment(uri ?? '');
  return parseDocumentUrl(url) === null ? null : url;
}

/**
 * Returns the paths in the tree that a reference may point to, likeliest first. A relative
 * reference points to a neighbour whatever URI the file declares, because a repository is laid out
 * like the URIs. An absolute reference below the file's own URI points to a neighbour for the same
 * reason.
 */
export function candidatePaths(path: string, treeBase: string, rootId: string | null, text: string): string[] {
  if (text.startsWith('#')) return [];
  if (isAbsolute(text)) {
    const folder = rootId !== null && isAbsolute(rootId) ? rootId.slice(0, rootId.lastIndexOf('/') + 1) : null;
    const below = folder !== null && folder.includes('://') && text.startsWith(folder);
    return below ? resolved(path, text.slice(folder.length)) : [];
  }
  return [...new Set([...resolved(treeBase, text), ...resolved(path, text)])];
}

/**
 * Returns the files beside this one that may declare the URI of a reference as their `$id`: those
 * named like its last segment. Files of other names are not found, because no folder is listed.
 */
export function siblingPaths(path: string, text: string): string[] {
  const [uri = ''] = text.split('#');
  if ((isAbsolute(uri) && !/^https?:/i.test(uri)) || dialectOf(uri) !== null) return [];
  const name = /(?:^|\/)([\w-][\w.-]*)$/.exec(uri)?.[1];
  if (name === undefined) return [];
  if (/\.(?:json|ya?ml)$/i.test(name)) return isAbsolute(uri) ? resolved(path, name) : [];
  return ['.json', '.schema.json', '.yaml', '.yml'].flatMap((ending) => resolved(path, name + ending));
}

function resolved(from: string, text: string): string[] {
  const target = resolveReference(from, text);
  return target.ok && !isUrlPath(target.path) ? [target.path] : [];
}
