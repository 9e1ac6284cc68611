import parse, { type Node } from 'nimma/parser';
import { isObject } from '../../schema/schema-dialect.ts';
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

/** The longest expression, and the deepest nesting of brackets in it. */
const longest = 2000;
const deepest = 30;

/**
 * Reads a path expression in the dialect that Spectral's rulesets are written in (nimma's, with
 * what Spectral leaves to jsonpath-plus: `^` in the middle and repeated dots). Throws a
 * `SyntaxError` whose message says what is wrong.
 */
export function parsePath(written: string): Step[] {
  if (written.length > longest) throw new SyntaxError(`it is longer than ${longest} characters`);
  const parts = splitAtParents(normalize(written));
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

function stepOf(node: Node): Step {
  const { type, value } = node;
  const deep = node.deep === true;
  if (type === 'MemberExpression') return { kind: 'names', names: [String(value)], deep };
  if (type === 'MultipleMemberExpression') return { kind: 'names', names: (value as unknown[]).map(String), deep };
  if (type === 'WildcardExpression') return { kind: 'all', deep };
  if (type === 'AllParentExpression') return { kind: 'self', deep: true };
  if (type === 'ParentExpression') return { kind: 'parent', deep: false };
  if (type === 'KeyExpression') return { kind: 'key', deep: false };
  if (type === 'SliceExpression') return { kind: 'slice', range: value as [number, number, number], deep };
  if (type === 'ScriptFilterExpression' && isObject(value)) {
    const text = JSON.stringify(value, (_, part: unknown) => (part instanceof RegExp ? String(part) : part));
    return { kind: 'filter', text, filter: compileFilter(value), deep };
  }
  throw new UnsupportedExpression(`${type} is not supported`);
}

/** Writes an expression as nimma's parser reads it: without spaces, except in filters. */
function normalize(written: string): string {
  const trimmed = written.trim();
  let text = '';
  let depth = 0;
  let inFilter = false;
  for (const { char, isPlain, at } of scan(trimmed)) {
    if (isPlain && (char === '[' || char === '(') && depth++ === 0) inFilter = /^\s*[?(]/.test(trimmed.slice(at + 1));
    if (isPlain && (char === ']' || char === ')')) depth--;
    if (depth > deepest) throw new SyntaxError(`it has more than ${deepest} nested brackets`);
    if (!isPlain || (inFilter && depth > 0) || !/\s/.test(char)) text += char;
  }
  if (depth !== 0) throw new SyntaxError('a bracket, a parenthesis or a quote is not closed');
  return text.replace(/^\$(?=[A-Za-z_])/, '$.').replace(/\.{3,}/g, '..');
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
    // In a filter a slash is never a division; outside it is part of a name.
    const isQuote = char === '"' || char === "'" || (char === '/' && inFilter > 0);
    if (isQuote) closing = char;
    yield { char, isPlain: !isQuote, at };
  }
  if (closing !== null) throw new SyntaxError('a bracket, a parenthesis or a quote is not closed');
}
