import { parseFile } from './text/parse.ts';
import type { CompileLimits, Published } from './compile.ts';
import type { Comparison } from '../model/comparison.ts';

/**
 * Says of each change where it is in the file of the new document: at the key that changed, or at the
 * deepest one on the way to it that the file has. What a reference brought from another file is so
 * at the reference.
 */
export function placeChanges(comparison: Comparison, { source }: Published, limits: CompileLimits): Comparison {
  if (source === undefined || comparison.changes.length === 0) return comparison;
  const parsed = parseFile(source.path, source.bytes, limits);
  if (!parsed.ok) return comparison;
  const { locate } = parsed.file;
  const changes = comparison.changes.map((change) => ({
    ...change,
    place: locate(change.pointers.after ?? change.pointers.before ?? '', 'key'),
  }));
  return { ...comparison, changes };
}
