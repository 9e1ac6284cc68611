import type { ParsedFile } from '../text/parse.ts';
import { joinPointer } from '../text/pointer.ts';
import { isObject, type Dialect } from './schema-dialect.ts';

/** The schema with more definitions, after its own. */
export function withDefinitions(
  root: unknown,
  dialect: Dialect,
  schemas: readonly (readonly [string, unknown])[],
): unknown {
  const { definitionsKeyword } = dialect;
  const value = root as Record<string, unknown>;
  const own = isObject(value[definitionsKeyword]) ? Object.entries(value[definitionsKeyword]) : [];
  const definitions = Object.fromEntries([...own, ...schemas]);
  return Object.fromEntries([...Object.entries(without(value, definitionsKeyword)), [definitionsKeyword, definitions]]);
}

/** The names of the definitions that a file has. */
export function takenNames(entry: ParsedFile, { definitionsKeyword }: Dialect): Set<string> {
  const own = isObject(entry.value) ? entry.value[definitionsKeyword] : null;
  return new Set(isObject(own) ? Object.keys(own) : []);
}

/** A copy of plain data in which the strings at some pointers are others, and the members whose pointer has null are left out. */
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

/** Gives names close to the wanted ones, of characters that need no escape in a URI fragment, that are not taken; they are from then on. */
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

/** The name of a file without folders and extension. */
export function stem(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1).replace(/(?:\.schema)?\.(?:json|ya?ml)$/i, '');
}
