import { isObject } from '../../model/json.ts';
import type { Problem } from '../../model/problem.ts';
import { maxFindings, problemAt, type KindInput } from '../kind.ts';
import { judgeReference, severityOf } from './openapi-references.ts';
import { followPointer, isPlainFragment, joinPointer } from '../text/pointer.ts';

/** A text with so few characters has no room for so many references. */
const shortest = maxFindings * 10;

/**
 * Returns the first references of the entry that lead nowhere, to nodes of its own or to other
 * files, if there are `maxFindings` of them, else null. A bundle of such a document has no use, and
 * redocly takes as long for each of its references as for hundreds of nodes.
 */
export function findManyMissing({ entry, files }: KindInput): Problem[] | null {
  if (entry.text.length < shortest) return null;
  const problems: Problem[] = [];
  const checked = new Map<string, boolean>();

  function isMissing(reference: string): boolean {
    const before = checked.get(reference);
    if (before !== undefined) return before;
    const missing = isPlainFragment(reference)
      ? !followPointer(entry.value, reference.slice(1)).found
      : !reference.startsWith('#') && judgeReference(entry.path, reference, files).rule === 'file-missing';
    checked.set(reference, missing);
    return missing;
  }

  function visit(node: unknown, pointer: () => string): void {
    if (typeof node !== 'object' || node === null || problems.length >= maxFindings) return;
    const { $ref, discriminator } = node as { $ref?: unknown; discriminator?: unknown };
    if (typeof $ref === 'string' && isMissing($ref)) add(() => `${pointer()}/$ref`, $ref);
    const mapping = isObject(discriminator) && isObject(discriminator['mapping']) ? discriminator['mapping'] : {};
    for (const [name, text] of Object.entries(mapping))
      if (typeof text === 'string' && isMissing(text))
        add(() => joinPointer(pointer(), 'discriminator', 'mapping', name), text);
    for (const [key, child] of Object.entries(node))
      if (typeof child === 'object') visit(child, () => joinPointer(pointer(), key));
  }

  function add(pointerOf: () => string, reference: string): void {
    if (problems.length >= maxFindings) return;
    const pointer = pointerOf();
    const { rule, message } = judgeReference(entry.path, reference, files);
    const severity = severityOf(pointer, reference);
    const counts = severity === 'error' || pointer.includes('/discriminator/mapping/');
    if (rule !== null && severity !== null && counts)
      problems.push(problemAt(entry, pointer, rule, message, { severity }));
  }

  visit(entry.value, () => '');
  if (problems.length < maxFindings) return null;
  if (problems.some(({ severity }) => severity === 'error')) return problems;
  const message = `At least ${maxFindings} references of discriminators lead nowhere. Remove them, or add what they point to.`;
  return [problemAt(entry, '', 'limit-references', message), ...problems];
}
