import { isObject } from '../../model/json.ts';
import { isUrlPath, parseDocumentUrl } from '../../model/address.ts';
import type { ParsedFile } from '../text/parse.ts';
import { joinPointer } from '../text/pointer.ts';
import { type Dialect } from './schema-dialect.ts';

/** Returns the schema with definitions appended to its own. */
export function withDefinitions(
  root: unknown,
  dialect: Dialect,
  schemas: readonly (readonly [string, unknown])[],
): unknown {
  const { definitionsKeyword } = dialect;
  const value = root as Record<string, unknown>;
  const existing = isObject(value[definitionsKeyword]) ? Object.entries(value[definitionsKeyword]) : [];
  const definitions = Object.fromEntries([...existing, ...schemas]);
  return Object.fromEntries([...Object.entries(without(value, definitionsKeyword)), [definitionsKeyword, definitions]]);
}

/** The names of the definitions in a file. */
export function takenNames(entry: ParsedFile, { definitionsKeyword }: Dialect): Set<string> {
  const definitions = isObject(entry.value) ? entry.value[definitionsKeyword] : null;
  return new Set(isObject(definitions) ? Object.keys(definitions) : []);
}

/** Copies plain data. `edits`, by pointer, replaces a string, or with null removes a member. */
export function edit(value: unknown, pointer: string, edits: ReadonlyMap<string, string | null>): unknown {
  if (Array.isArray(value)) return value.map((item, at) => edit(item, joinPointer(pointer, at), edits));
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value)
        .map(([key, child]) => [key, child, joinPointer(pointer, key)] as const)
        .filter(([, , at]) => edits.get(at) !== null)
        .map(([key, child, at]) => [key, edit(child, at, edits)]),
    );
  return typeof value === 'string' ? (edits.get(pointer) ?? value) : value;
}

/** The object without one member. */
export function without(value: Record<string, unknown>, key: string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== key));
}

/**
 * Returns a function that makes unused names, close to the wanted ones and without characters that
 * need escapes in a URI fragment. Returned names are taken from then on.
 */
export function createFreeName(taken: Set<string>): (wanted: string) => string {
  const counts = new Map<string, number>();
  return (wanted) => {
    const plain = wanted.replace(/[^A-Za-z0-9._-]+/g, '-') || 'schema';
    let name = plain;
    let count = counts.get(plain) ?? 2;
    for (; taken.has(name); count++) name = `${plain}-${count}`;
    counts.set(plain, count);
    taken.add(name);
    return name;
  };
}

/** The name of a file without folders and extension, or of a registry's document. */
export function stem(path: string): string {
  if (isUrlPath(path)) return parseDocumentUrl(path)?.coordinate.slug ?? '';
  return path.slice(path.lastIndexOf('/') + 1).replace(/(?:\.schema)?\.(?:json|ya?ml)$/i, '');
}
