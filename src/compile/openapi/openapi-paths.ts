import { isUrlPath } from '../../model/address.ts';
import type { ParsedFile } from '../text/parse.ts';
import { resolveReference } from '../reference.ts';
import { siblingPaths } from '../schema/schema-refs.ts';

/** Whether the value of a discriminator mapping is a reference and not a schema name. */
export function isMappingReference(value: string): boolean {
  return value.startsWith('#') || value.includes('/') || /\.(?:ya?ml|json)(?:#|$)/i.test(value);
}

/**
 * Returns the paths in the tree that an OpenAPI file may reference by `$ref` or discriminator
 * mappings. May include extra paths: examples can contain what looks like a reference. A schema of
 * a URL may be in a file beside it that has the URL as its `$id`.
 */
export function openapiReferencePaths(file: ParsedFile): Set<string> {
  const paths = new Set<string>();

  function add(reference: unknown): void {
    if (typeof reference !== 'string' || reference.startsWith('#')) return;
    const target = resolveReference(file.path, reference);
    if (target.ok && !isUrlPath(target.path)) paths.add(target.path);
    else if (target.ok || target.rule === 'ref-remote')
      for (const path of siblingPaths(file.path, reference)) paths.add(path);
  }

  function visit(node: unknown): void {
    if (typeof node !== 'object' || node === null) return;
    if (Array.isArray(node)) {
      for (const item of node) visit(item);
      return;
    }
    for (const [key, value] of Object.entries(node)) {
      if (typeof value === 'string') {
        if (key === '$ref') add(value);
        else if (key === 'defaultMapping' && isMappingReference(value)) add(value);
      } else {
        if (key === 'mapping' && typeof value === 'object' && value !== null)
          for (const mapped of Object.values(value))
            if (typeof mapped === 'string' && isMappingReference(mapped)) add(mapped);
        visit(value);
      }
    }
  }

  visit(file.value);
  paths.delete(file.path);
  return paths;
}

/** Returns the paths in the tree that `externalValue` names. It may be any URL (OpenAPI 3.1 §4.8.19). */
export function openapiExamplePaths(file: ParsedFile): Set<string> {
  const paths = new Set<string>();
  if (!file.text.includes('externalValue')) return paths;

  function visit(node: unknown): void {
    if (typeof node !== 'object' || node === null) return;
    const { externalValue } = node as { externalValue?: unknown };
    const target = typeof externalValue === 'string' ? resolveReference(file.path, externalValue) : null;
    if (target?.ok && target.path !== file.path && !isUrlPath(target.path)) paths.add(target.path);
    for (const child of Object.values(node)) visit(child);
  }

  visit(file.value);
  return paths;
}
