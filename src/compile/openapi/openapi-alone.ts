import type { KindInput } from '../kind.ts';
import { isMappingReference } from './openapi-paths.ts';
import { followPointer, isPlainFragment } from '../text/pointer.ts';

/** Levels, through references too: far less than what overflows the stack, here or in redocly. */
const deepest = 2500;

/**
 * Whether the entry is certainly its own bundle: it references nothing but nodes of its own, each
 * directly and by a plain pointer. Then redocly has nothing to bundle and no problem to find, and
 * having it visit every node is most of what a large document costs. A document with anything out
 * of the ordinary is left to redocly.
 */
export function standsAlone({ entry, files }: KindInput): boolean {
  const identifiers = new Set<string>();
  const seen = new Set<unknown>();

  function visit(node: unknown, depth: number): boolean {
    if (isLeaf(node) || seen.has(node)) return true;
    seen.add(node);
    if (depth === deepest) return false;
    if (Array.isArray(node)) {
      for (const child of node) if (!isLeaf(child) && !visit(child, depth + 1)) return false;
      return true;
    }
    for (const key in node) {
      const child = (node as Record<string, unknown>)[key];
      if (key === '$ref' && typeof child === 'string' && !leads(child, depth)) return false;
      if (key === 'defaultMapping' && !maps(child, depth)) return false;
      if (isLeaf(child)) continue;
      if (key === 'mapping' && !Object.values(child).every((name) => maps(name, depth))) return false;
      if (!visit(child, depth + 1)) return false;
    }
    return true;
  }

  function maps(name: unknown, depth: number): boolean {
    return typeof name !== 'string' || !isMappingReference(name) || leads(name, depth);
  }

  function leads(reference: string, depth: number): boolean {
    if (identifiers.has(reference)) return true;
    identifiers.add(reference);
    const target = isPlainFragment(reference) ? followPointer(entry.value, reference.slice(1)) : { found: false };
    if (!('value' in target)) return false;
    const { $ref } = Object(target.value) as { $ref?: unknown };
    return typeof $ref !== 'string' && visit(target.value, depth + 1);
  }

  return files.size === 1 && visit(entry.value, 0);
}

function isLeaf(value: unknown): value is string | number | boolean | null | undefined {
  return typeof value !== 'object' || value === null;
}
