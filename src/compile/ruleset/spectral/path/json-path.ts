import parse, { type Node } from 'nimma/parser';
import { compileFilter, UnsupportedExpression, type Filter } from './filter.ts';

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

/** The deepest nesting of brackets in an expression. */
const deepest = 30;

/**
 * Writes an expression as nimma's parser reads it: without spaces around names, and with quotes around
 * names that it reads only with them. jsonpath-plus, which Spectral falls back to, needs none:
 * `.get,post`, `[application/json-patch+json]`.
 */
function normalizePath(written: string): string {
  const trimmed = written.trim();
  let text = '';
  let depth = 0;
  let inFilter = false;
  for (const { char, isPlain, at } of scan(trimmed)) {
    if (isPlain && (char === '[' || char === '(') && depth++ === 0) inFilter = /^\s*[?(]/.test(trimmed.slice(at + 1));
    if (isPlain && (char === ']' || char === ')')) depth--;
    if (depth > deepest) throw new SyntaxError(`it has more than ${deepest} nested brackets`);
    // The parser passes over it, and reads `a?.b` as `a.b`.
    if (isPlain && char === '?' && depth > 1)
      throw new UnsupportedExpression('"?" inside of a filter is not supported');
    const isAround = /\s/.test(char) && (/[[\],.^~$]$/.test(text) || /^\s*(?:[[\],.^~]|$)/.test(trimmed.slice(at)));
    if (!isPlain || (inFilter && depth > 0) || !isAround) text += char;
  }
  if (depth !== 0) throw new SyntaxError('a bracket, a parenthesis or a quote is not closed');
  return quoteNames(text.replace(/^\$(?=[A-Za-z_])/, '$.').replace(/\.{3,}/g, '..'));
}

/** Puts names into quotes that the parser does not read without them. */
function quoteNames(text: string): string {
  const ends = bracketsIn(text);
  const names = /(?:"[^"]*"|'[^']*'|[^.[\]^~"'])*/y;
  let written = '';
  for (let at = 0; at < text.length;) {
    const char = text[at]!;
    const end = ends.get(at);
    if (char === '[' && end !== undefined) {
      const inside = text.slice(at + 1, end);
      written += /^[?(]/.test(inside) ? `[${inside}]` : `[${splitNames(inside).map(quotedName).join(',')}]`;
      at = end + 1;
      continue;
    }
    if (char === '.') {
      const dots = text[at + 1] === '.' ? '..' : '.';
      names.lastIndex = at + dots.length;
      const [name] = names.exec(text)!;
      written += afterDots(dots, name);
      at += dots.length + name.length;
      continue;
    }
    written += char;
    at++;
  }
  return written;
}

function afterDots(dots: string, name: string): string {
  if (name === '') return dots;
  const parts = splitNames(name);
  if (parts.includes('$'))
    throw new UnsupportedExpression('it is two expressions with a comma between them; write them as a list');
  const quoted = parts.map(quotedName);
  if (quoted.length === 1 && quoted[0] === name) return dots + name;
  return `${dots === '..' ? dots : ''}[${quoted.join(',')}]`;
}

function splitNames(text: string): string[] {
  return [...text.matchAll(/(?:"[^"]*"|'[^']*'|[^,"'])+/g)].map(([name]) => name.trim());
}

/** What the parser reads as it is, or refuses: plain names, quoted ones, slices, type tests and filters. */
function quotedName(name: string): string {
  return /^[\w$/-]*$|^[-\d:]+$|[`'"\\()*?@]/.test(name) ? name : `"${name}"`;
}

/** Where the brackets at the root of an expression begin and end. */
function bracketsIn(text: string): Map<number, number> {
  const ends = new Map<number, number>();
  let depth = 0;
  let start = 0;
  for (const { char, isPlain, at } of scan(text)) {
    if (isPlain && (char === '[' || char === '(') && depth++ === 0) start = at;
    if (isPlain && (char === ']' || char === ')') && --depth === 0) ends.set(start, at);
  }
  return ends;
}

/** Splits behind each `^` that something else follows: the parser allows it only at the end. */
function splitAtParents(text: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let start = 0;
  for (const { char, isPlain, at } of scan(text)) {
    if (isPlain && (char === '[' || char === '(')) depth++;
    if (isPlain && (char === ']' || char === ')')) depth--;
    const next = text[at + 1];
    if (!isPlain || depth > 0 || char !== '^' || next === undefined || next === '^' || next === '~') continue;
    parts.push((start === 0 ? '' : '$') + text.slice(start, at + 1));
    start = at + 1;
  }
  parts.push((start === 0 ? '' : '$') + text.slice(start));
  return parts;
}

/** The characters of an expression. `isPlain`: outside of quotes and regular expressions. */
function* scan(text: string): Generator<{ char: string; isPlain: boolean; at: number }> {
  let closing: string | null = null;
  let inClass = false;
  let inFilter = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!;
    if (closing !== null) {
      yield { char, isPlain: false, at };
      if (char === '\\' && at + 1 < text.length) yield { char: text[++at]!, isPlain: false, at };
      else if (closing === '/' && char === '[') inClass = true;
      else if (inClass && char === ']') inClass = false;
      else if (char === closing && !inClass) closing = null;
      continue;
    }
    if (char === '(') inFilter++;
    if (char === ')') inFilter--;
    // In a filter a slash behind an operand is a division; outside it is part of a name.
    const isRegex = char === '/' && inFilter > 0 && !/[\w$)\]'"@]\s*$/.test(text.slice(Math.max(0, at - 50), at));
    const isQuote = char === '"' || char === "'" || isRegex;
    if (isQuote) closing = char;
    yield { char, isPlain: !isQuote, at };
  }
  if (closing !== null) throw new SyntaxError('a bracket, a parenthesis or a quote is not closed');
}
