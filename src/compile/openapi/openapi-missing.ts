import type { Problem } from '../../model/problem.ts';
import { mostFindings, problemAt, type KindInput } from '../kind.ts';
import { judgeReference, severityOf } from './openapi-references.ts';
import { followPointer, isPlainFragment, joinPointer } from '../text/pointer.ts';

/** A text with so few characters has no room for so many references. */
const shortest = mostFindings * 10;

/**
 * Returns the first references of the entry to nodes of its own that do not exist, if there are
 * `mostFindings` of them, else null. A bundle of such a document has no use, and redocly takes as
 * long for each of its references as for hundreds of nodes.
 */
export function findManyMissing({ entry, files }: KindInput): Problem[] | null {
  if (entry.text.length < shortest) return null;
  const found: Problem[] = [];
  const known = new Map<string, boolean>();

  function isMissing(reference: string): boolean {
    const before = known.get(reference);
    if (before !== undefined) return before;
    const missing = isPlainFragment(reference) && !followPointer(entry.value, reference.slice(1)).found;
    known.set(reference, missing);
    return missing;
  }

  function visit(node: unknown, pointer: () => string): void {
    if (typeof node !== 'object' || node === null || found.length >= mostFindings) return;
    const { $ref } = node as { $ref?: unknown };
    if (typeof $ref === 'string' && isMissing($ref)) add(pointer(), $ref);
    for (const [key, child] of Object.entries(node))
      if (typeof child === 'object') visit(child, () => joinPointer(pointer(), key));
  }

  function add(pointer: string, reference: string): void {
    const { rule, message } = judgeReference(entry.path, reference, files);
    if (rule === 'ref-unresolved' && severityOf(pointer, reference) === 'error')
      found.push(problemAt(entry, `${pointer}/$ref`, rule, message));
  }

  visit(entry.value, () => '');
  return found.length >= mostFindings ? found : null;
}
