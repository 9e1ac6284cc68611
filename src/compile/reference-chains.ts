import type { Problem } from '../model/problem.ts';
import { isParsed, problemAt, type KindInput } from './kind.ts';
import { resolveReference } from './reference.ts';
import type { ParsedFile } from './text/parse.ts';
import { eachNode, joinPointer, parsePointer, pointerOf } from './text/pointer.ts';

/** A reference in a file, as written or as rewritten by following another one. */
export interface Reference {
  path: string;
  text: string;
}

/** The most references that may follow one another. Real documents have only a few. */
export const longestChain = 100;

/** Returns the problem for a reference that goes through too many others. */
export function chainProblem(file: ParsedFile, pointer: string, text: string): Problem {
  const shown = JSON.stringify(text.slice(0, 200));
  const message = `The reference ${shown} goes through more than ${longestChain} other references. Reference the target directly.`;
  return problemAt(file, pointer, 'limit-references', message);
}

/**
 * Returns a function that finds the next reference that a reference leads to or through, or null.
 * Results are cached.
 */
export function createFollow(files: KindInput['files']): (reference: Reference) => Reference | null {
  const targets = new Map<string, Reference | null>();
  return (reference) => {
    const key = keyOf(reference);
    return targets.getOrInsertComputed(key, () => follow(reference, files));
  };
}

/** Returns a map key for a reference. */
export function keyOf({ path, text }: Reference): string {
  return `${path} ${text}`;
}

function follow({ path, text }: Reference, files: KindInput['files']): Reference | null {
  const target = resolveReference(path, text);
  const file = target.ok ? files.get(target.path) : undefined;
  if (!target.ok || !isParsed(file)) return null;
  let node: unknown = file.value;
  const tokens = parsePointer(target.fragment ?? '');
  for (const [index, token] of [...tokens, null].entries()) {
    const through = typeof node === 'object' && node !== null ? (node as { $ref?: unknown }).$ref : undefined;
    const inside = token !== null && typeof node === 'object' && node !== null && Object.hasOwn(node, token);
    if (typeof through === 'string' && !inside) {
      const rest = joinPointer('', ...tokens.slice(index));
      return {
        path: target.path,
        text: rest === '' ? through : `${through}${through.includes('#') ? '' : '#'}${rest}`,
      };
    }
    if (token === null || !inside) return null;
    node = (node as Record<string, unknown>)[token];
  }
  return null;
}

/**
 * Finds the first reference that goes through more than `longestChain` others, as a problem.
 * Takes linear time. Must run before other code follows references, which takes quadratic time.
 * `isLeftOut`: members that hold no references, by key and value.
 */
export function findLongChain(
  files: KindInput['files'],
  isLeftOut: (key: string, child: object) => boolean = () => false,
): Problem | null {
  const next = createFollow(files);
  /** The number of references that each one goes through. In a cycle, at least its length. */
  const lengths = new Map<string, number>();

  function isLong(reference: Reference): boolean {
    // Most lead to a value at once.
    if (next(reference) === null) return false;
    const way: string[] = [];
    const onWay = new Set<string>();
    let at: Reference | null = reference;
    let length = 0;
    for (; at !== null; at = next(at)) {
      const key = keyOf(at);
      const stored = lengths.get(key);
      if (stored !== undefined || onWay.has(key)) {
        length = stored ?? 0;
        break;
      }
      way.push(key);
      onWay.add(key);
      if (way.length > longestChain) return true;
    }
    while (way.length > 0) lengths.set(way.pop()!, ++length);
    return length > longestChain;
  }

  for (const file of files.values()) {
    if (!isParsed(file)) continue;
    let problem: Problem | null = null;
    eachNode(file.value, (node, way) => {
      if (way !== null && isLeftOut(way.key, node)) return 'pass';
      const { $ref } = node;
      if (typeof $ref !== 'string' || !isLong({ path: file.path, text: $ref })) return;
      problem = chainProblem(file, `${pointerOf(way)}/$ref`, $ref);
      return 'end';
    });
    if (problem) return problem;
  }
  return null;
}
