import type { ParsedFile } from '../text/parse.ts';
import { resolveReference } from '../reference.ts';
import { isObject } from './schema-dialect.ts';
import { isAbsolute, treeBaseOf } from './schema-index.ts';

const data = new Set(['enum', 'const', 'default', 'examples', 'example']);
const referenceKeywords = ['$ref', '$dynamicRef'];

/**
 * Returns the paths in the tree that a JSON Schema may reference, without the file itself, by the
 * base rules of all drafts. May include extra paths: which parts are schemas is known only later.
 */
export function schemaReferencePaths(file: ParsedFile): string[] {
  const paths = new Set<string>();
  const rootId = isObject(file.value) ? (file.value['$id'] ?? file.value['id']) : null;

  function visit(value: unknown, base: string, isRoot: boolean): void {
    if (Array.isArray(value)) return value.forEach((item) => visit(item, base, false));
    if (!isObject(value)) return;
    const id = value['$id'] ?? value['id'];
    const moved = !isRoot && typeof id === 'string' ? treeBaseOf(base, id) : base;
    for (const keyword of referenceKeywords) {
      const text = value[keyword];
      if (typeof text !== 'string') continue;
      for (const path of candidatePaths(file.path, moved, typeof rootId === 'string' ? rootId : null, text))
        paths.add(path);
    }
    for (const [key, child] of Object.entries(value)) if (!data.has(key)) visit(child, moved, false);
  }

  visit(file.value, file.path, true);
  paths.delete(file.path);
  return [...paths];
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

function resolved(from: string, text: string): string[] {
  const target = resolveReference(from, text);
  return target.ok ? [target.path] : [];
}
