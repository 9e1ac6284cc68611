import type { Problem } from '../../model/problem.ts';
import { isParsed, maxFindings, problemAt, type CollectedDocument } from '../kind.ts';
import { holdsOf } from '../../model/openapi-shape.ts';
import { judgeReference } from './openapi-references.ts';
import { followPointer, joinPointer, pointerOf } from '../../model/pointer.ts';
import { resolveReference } from '../reference.ts';
import type { Tree } from './redocly.ts';

/**
 * Bundles references to other files inside extensions (`x-…`) at any depth; redocly handles only
 * the first level. Changes the document in place. Unresolved references stay, with a warning,
 * because the content of an extension is up to its author.
 */
export function bundleExtensions({ entry, files }: CollectedDocument, tree: Tree, document: unknown): Problem[] {
  const problems: Problem[] = [];
  const done = new Set<object>();
  const open = new Set<object>();

  function visit(node: unknown, pointer: string, within: string | null, isInside: boolean): void {
    if (typeof node !== 'object' || node === null || done.has(node)) return;
    done.add(node);
    open.add(node);
    const holder = node as Record<string, unknown>;
    for (const [name, child] of Object.entries(holder)) {
      if (typeof child !== 'object' || child === null) continue;
      const holds = holdsOf(within, name, child);
      const isExtension = isInside || holds === 'extension';
      const at = joinPointer(pointer, name);
      const brought = isExtension ? bringIn(child, at) : undefined;
      if (brought !== undefined) holder[name] = brought;
      visit(holder[name], at, holds === 'map' ? name : null, isExtension);
    }
    open.delete(node);
  }

  /** Returns the replacement for a reference node, or undefined to keep it. */
  function bringIn(node: object, pointer: string): unknown {
    const { $ref } = node as { $ref?: unknown };
    if (typeof $ref !== 'string' || $ref.startsWith('#')) return undefined;
    const origin = tree.origins.get(node);
    const from = origin?.file ?? entry.path;
    const { rule, message } = judgeReference(from, $ref, files);
    const target = resolveReference(from, $ref);
    if (rule === null && target.ok) {
      const referenced = followPointer(tree.documentOf(target.path).parsed, target.fragment ?? '');
      const isLoop = typeof referenced === 'object' && referenced !== null && open.has(referenced);
      if (referenced !== undefined && !isLoop) return referenced;
    }
    const file = files.get(from);
    if (isParsed(file) && problems.length < maxFindings) {
      const place = `${origin === undefined ? pointer : pointerOf(origin.way)}/$ref`;
      const text =
        rule === null
          ? `The reference ${JSON.stringify($ref)} points to a part that contains it, so it cannot be bundled.`
          : message;
      problems.push(problemAt(file, place, rule ?? 'ref-circular', text, { severity: 'warning' }));
    }
    return undefined;
  }

  visit(document, '', null, false);
  return problems;
}
