import { parse as parsePath } from 'node:path/posix';
import { parseFile, type ParsedFile } from './text/parse.ts';
import { followPointer, joinPointer, parsePointer } from '../model/pointer.ts';
import type { CompileLimits, Published } from './compile.ts';
import type { Change, Comparison } from '../model/comparison.ts';

/**
 * Says of each change where it is in the file of the new document: at the key that changed, or at
 * the deepest one on the way to it that the file has. A change in another file is placed at the
 * reference to it.
 */
export function placeChanges(comparison: Comparison, { source }: Published, limits: CompileLimits): Comparison {
  if (source === undefined || comparison.changes.length === 0) return comparison;
  const parsed = parseFile(source.path, source.bytes, limits);
  if (!parsed.ok) return comparison;
  const pointerIn = createFinder(parsed.file);
  const changes = comparison.changes.map((change) => ({
    ...change,
    place: parsed.file.locate(pointerIn(change), 'key'),
  }));
  return { ...comparison, changes };
}

/** Finds the pointer of a change in a file that need not have the components that its bundle has. */
function createFinder({ value }: ParsedFile): (change: Change) => string {
  const references = new Map<string, ReadonlyMap<string, string>>();
  return ({ pointers, operations }) => {
    const pointer = pointers.after ?? pointers.before ?? '';
    const [root = '', kind = '', name = ''] = parsePointer(pointer);
    const [method = '', path = ''] = operations[0]?.split(' ') ?? [];
    const isBundled = root === 'components' && followPointer(value, joinPointer('', root, kind, name)) === undefined;
    if (!isBundled || path === '') return pointer;
    const operation = joinPointer('', 'paths', path, method.toLowerCase());
    const targets = references.getOrInsertComputed(operation, () => referencesIn(value, operation));
    return targets.get(name) ?? operation;
  };
}

/** The first reference below a node to each name in other files. */
function referencesIn(root: unknown, base: string): Map<string, string> {
  const byPointer = new Map<string, string>();
  const waiting: [unknown, string][] = [[followPointer(root, base), base]];
  for (const [value, pointer] of waiting) {
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, child] of Object.entries(value)) {
      const name = key === '$ref' && typeof child === 'string' ? nameOf(child) : null;
      if (name !== null && !byPointer.has(name)) byPointer.set(name, joinPointer(pointer, key));
      waiting.push([child, joinPointer(pointer, key)]);
    }
  }
  return byPointer;
}

function nameOf(reference: string): string | null {
  const [file = '', fragment = ''] = reference.split('#');
  if (file === '') return null;
  return parsePointer(fragment).at(-1) ?? parsePath(file).name;
}
