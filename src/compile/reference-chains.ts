import type { Problem } from '../model/problem.ts';
import { isParsed, problemAt, type Files } from './kind.ts';
import { resolveReference } from './reference.ts';
import type { ParsedFile } from './text/parse.ts';
import { eachNode, joinPointer, parsePointer, pointerOf } from '../model/pointer.ts';

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
export function createFollow(files: Files): (reference: Reference) => Reference | null {
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

function follow({ path, text }: Reference, files: Files): Reference | null {
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
 * Follows a reference through others, whose keys are added to `way`. Returns where it stops: at one that
 * is known, or that is on the way already; null at a value.
 */
export function followChain(
  from: Reference,
  next: (reference: Reference) => Reference | null,
  way: Set<string>,
  isKnown: (key: string) => boolean,
): Reference | null {
  let at: Reference | null = from;
  for (; at !== null && !way.has(keyOf(at)) && !isKnown(keyOf(at)); at = next(at)) way.add(keyOf(at));
  return at;
}

/**
 * Finds the first reference that goes through more than `longestChain` others, as a problem.
 * Takes linear time. Must run before other code follows references, which takes quadratic time.
 * `isLeftOut`: members that hold no references, by key and value.
 */
export function findLongChain(
  files: Files,
  isLeftOut: (key: string, child: object) => boolean = () => false,
): Problem | null {
  const next = createFollow(files);
  /** The number of references that each one goes through. In a cycle, at least its length. */
  const lengths = new Map<string, number>();

  function isLong(reference: Reference): boolean {
    // Most lead to a value at once.
    if (next(reference) === null) return false;
    const way = new Set<string>();
    const isKnown = (key: string) => lengths.has(key) || way.size > longestChain;
    const end = followChain(reference, next, way, isKnown);
    if (way.size > longestChain) return true;
    let length = (end !== null && lengths.get(keyOf(end))) || 0;
    for (const key of [...way].reverse()) lengths.set(key, ++length);
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
