import parse, { type Node } from 'nimma/parser';
import { compileFilter, UnsupportedExpression, type Filter } from './filter.ts';
import { normalizePath, splitAtParents } from './path-text.ts';

/**
 * One step of a path expression. `deep`: at any depth below. `self` is the node itself and, if deep,
 * every container below it; `key` the key instead of the value; `parent` the container.
 */
export type Step = { deep: boolean } & (
  | { kind: 'names'; names: readonly string[] }
  | { kind: 'all' | 'self' | 'key' | 'parent' }
  | { kind: 'slice'; range: readonly [start: number, end: number, step: number] }
  | { kind: 'filter'; text: string; filter: Filter }
);

/** The longest expression. */
const longest = 2000;

/**
 * Reads a path expression in the dialect that Spectral's rulesets are written in (nimma's, with
 * what Spectral leaves to jsonpath-plus: `^` in the middle and repeated dots). Throws a
 * `SyntaxError` whose message says what is wrong.
 */
export function parsePath(written: string): Step[] {
  if (written.length > longest) throw new SyntaxError(`it is longer than ${longest} characters`);
  const parts = splitAtParents(normalizePath(written));
  return parts.flatMap((part) => parsePart(part).map((node) => stepOf(node)));
}

function parsePart(part: string): Node[] {
  try {
    return parse(part);
  } catch (error) {
    if (error instanceof SyntaxError) throw new SyntaxError(error.message.replace(/\.$/, ''));
    // The parser reads some invalid filters as if they were complete.
    if (error instanceof TypeError) throw new SyntaxError('a filter is incomplete');
    throw error;
  }
}

/** The kinds of steps as nimma's parser returns them, each with its value. */
interface ParsedValues {
  MemberExpression: string | number;
  MultipleMemberExpression: (string | number)[];
  WildcardExpression: undefined;
  AllParentExpression: undefined;
  ParentExpression: undefined;
  KeyExpression: undefined;
  SliceExpression: [start: number, end: number, step: number];
  ScriptFilterExpression: unknown;
}

/** What each kind of step is here. One that does not stand here is refused. */
export const steps: { readonly [K in keyof ParsedValues]: (value: ParsedValues[K], deep: boolean) => Step } = {
  MemberExpression: (name, deep) => ({ kind: 'names', names: [String(name)], deep }),
  MultipleMemberExpression: (names, deep) => ({ kind: 'names', names: names.map(String), deep }),
  WildcardExpression: (_, deep) => ({ kind: 'all', deep }),
  AllParentExpression: () => ({ kind: 'self', deep: true }),
  ParentExpression: () => ({ kind: 'parent', deep: false }),
  KeyExpression: () => ({ kind: 'key', deep: false }),
  SliceExpression: (range, deep) => ({ kind: 'slice', range, deep }),
  ScriptFilterExpression(value, deep) {
    const text = JSON.stringify(value, (_, part: unknown) => (part instanceof RegExp ? String(part) : part));
    return { kind: 'filter', text, filter: compileFilter(value), deep };
  },
};

function stepOf({ type, value, deep }: Node): Step {
  if (!Object.hasOwn(steps, type)) throw new UnsupportedExpression(`${type} is not supported`);
  return (steps[type as keyof ParsedValues] as (value: unknown, deep: boolean) => Step)(value, deep === true);
}
