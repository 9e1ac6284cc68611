import type { Problem } from '../../model/problem.ts';
import { isParsed, problemAt, type KindInput } from '../kind.ts';
import { judgeReference, namedMembers } from './openapi-references.ts';
import { followPointer, joinPointer } from '../text/pointer.ts';
import { resolveReference } from '../reference.ts';
import { pointerOf, type Tree } from './redocly.ts';

/**
 * Brings in what extensions (`x-…`) refer to in other files, however deep the reference stands in them; redocly looks at their first level only.
 * Changes the document in place. What cannot be brought in stays as it is, with a warning: an extension's content is its author's own.
 */
export function bundleExtensions(
  { entry, files }: Pick<KindInput, 'entry' | 'files'>,
  tree: Tree,
  document: unknown,
): Problem[] {
  const problems: Problem[] = [];
  const done = new Set<object>();
  const open = new Set<object>();

  function visit(node: unknown, pointer: string, key: string, isInside: boolean): void {
    if (typeof node !== 'object' || node === null || done.has(node)) return;
    done.add(node);
    open.add(node);
    const holder = node as Record<string, unknown>;
    for (const [name, child] of Object.entries(holder)) {
      if (typeof child !== 'object' || child === null) continue;
      const isExtension = isInside || (name.startsWith('x-') && !namedMembers.has(key));
      const at = joinPointer(pointer, name);
      const brought = isExtension ? bringIn(child, at) : undefined;
      if (brought !== undefined) holder[name] = brought;
      visit(holder[name], at, name, isExtension);
    }
    open.delete(node);
  }

  /** What a reference's node is to be replaced by; undefined where it stays. */
  function bringIn(node: object, pointer: string): unknown {
    const { $ref } = node as { $ref?: unknown };
    if (typeof $ref !== 'string' || $ref.startsWith('#')) return undefined;
    const origin = tree.origins.get(node);
    const from = origin?.file ?? entry.path;
    const { rule, message } = judgeReference(from, $ref, files);
    const target = resolveReference(from, $ref);
    if (rule === null && target.ok) {
      const found = followPointer(tree.documentOf(target.path).parsed, target.fragment ?? '');
      const isLoop = found.found && typeof found.value === 'object' && found.value !== null && open.has(found.value);
      if (found.found && !isLoop) return found.value;
    }
    const file = files.get(from);
    if (file !== undefined && isParsed(file)) {
      const place = `${origin === undefined ? pointer : pointerOf(origin)}/$ref`;
      const text = rule === null ? `The reference ${JSON.stringify($ref)} leads back to where it stands.` : message;
      problems.push(problemAt(file, place, rule ?? 'ref-circular', text, { severity: 'warning' }));
    }
    return undefined;
  }

  visit(document, '', '', false);
  return problems;
}
