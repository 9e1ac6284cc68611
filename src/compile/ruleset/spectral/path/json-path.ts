import { Jsep } from 'nimma/parser';
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

type Selector = Step extends infer S ? (S extends Step ? Omit<S, 'deep'> : never) : never;

const longest = 2000;

/**
 * Reads a path expression in the dialect that Spectral's rulesets are written in: nimma's, with what
 * Spectral leaves to jsonpath-plus (`^` in the middle, repeated dots, `.get,post`,
 * `[application/json-patch+json]`). Throws a `SyntaxError` whose message says what is wrong.
 */
export function parsePath(written: string): Step[] {
  if (written.length > longest) throw new SyntaxError(`it is longer than ${longest} characters`);
  const text = written.trim();
  if (!text.startsWith('$')) throw new SyntaxError('it does not begin with "$"');
  const steps: Step[] = [];
  let at = 1;

  /** Takes what matches here. */
  function take(pattern: RegExp): RegExpExecArray | null {
    const match = new RegExp(pattern, 'y');
    match.lastIndex = at;
    const taken = match.exec(text);
    if (taken !== null) at = match.lastIndex;
    return taken;
  }

  function takeBrackets(): Selector {
    const fromEnd = take(/\[\s*\(\s*@(?:\.length|\[\s*["']length["']\s*\])\s*-\s*([1-9]\d*)\s*\)\s*\]/);
    if (fromEnd !== null) return { kind: 'slice', range: [-Number(fromEnd[1]), Infinity, 1] };
    if (take(/\[\s*\?(?=\()/) !== null) {
      const source = text.slice(at, at + lengthOfFilter(text.slice(at)));
      at += source.length + 1;
      return { kind: 'filter', text: source, filter: compileFilter(parseFilter(source)) };
    }
    const inside = take(/\[((?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^\]"'])*)\]/)?.[1];
    if (inside === undefined) throw new SyntaxError('a bracket or a quote is not closed');
    return /^[-\d:\s]*[-:][-\d:\s]*$/.test(inside) ? readSlice(inside) : readNames(inside);
  }

  while (at < text.length) {
    const [dots] = take(/\s*\.*\s*/)!.map((part) => part.trim());
    const next = text[at] ?? '';
    const deep = dots!.length > 1 || (dots === '.' && next === '[');
    if (next === '[') steps.push({ ...takeBrackets(), deep });
    else if (deep && /^[~^]?$/.test(next)) steps.push({ kind: 'self', deep });
    else if (dots !== '' || next === '@' || (at === 1 && /\w/.test(next)))
      steps.push({ ...readNames(take(/\*|@\w+\s*\(\s*\)|(?:"[^"]*"|'[^']*'|[^.[\]^~"'@])*/)![0]), deep });
    else if (take(/\^/) !== null) steps.push({ kind: 'parent', deep });
    else if (take(/~\^*$/) !== null) steps.push({ kind: 'key', deep });
    else throw new SyntaxError(`it cannot be read from ${JSON.stringify(text.slice(at, at + 50))}`);
  }
  return steps;
}

/** The deepest nesting of brackets in a filter. */
const deepest = 30;

/** Strings and regular expressions in a filter. Behind an operand a slash is a division. */
const literals = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|(?<![\w$)\]'"@]\s*)\/(?:\\.|\[(?:\\.|[^\]\\])*\]|[^/\\[])+\//g;

/** The length of the filter that a text begins with, up to the bracket that closes it. */
function lengthOfFilter(text: string): number {
  const plain = text.replace(literals, (literal) => '_'.repeat(literal.length));
  let depth = 0;
  for (let at = 0; at < plain.length; at++) {
    const char = plain[at]!;
    if (char === '(' || char === '[') depth++;
    if ((char === ')' || char === ']') && --depth < 0) return at;
    if (depth > deepest) throw new SyntaxError(`it has more than ${deepest} nested brackets`);
    // The parser passes over it, and reads `a?.b` as `a.b`.
    if (char === '?') throw new UnsupportedExpression('"?" inside of a filter is not supported');
  }
  throw new SyntaxError('a bracket, a parenthesis or a quote is not closed');
}

function parseFilter(source: string): unknown {
  const parser = new Jsep(source);
  try {
    const tree = parser.parse();
    if (source.slice(parser.index).trim() === '') return tree;
  } catch (error) {
    if (error instanceof SyntaxError) throw new SyntaxError(error.message.replace(/\.$/, ''));
    // The parser reads some invalid filters as if they were complete.
    if (!(error instanceof TypeError)) throw error;
  }
  throw new SyntaxError('a filter is incomplete');
}

function readSlice(text: string): Selector {
  const parts = text.split(':').map((part) => part.trim());
  const [start, end, step] = [0, Infinity, 1].map((usual, at) => (parts[at] ? Number(parts[at]) : usual));
  if (parts.length > 3 || Number.isNaN(start! + end! + step!)) throw new SyntaxError(`[${text}] is not a slice`);
  return { kind: 'slice', range: [start!, end!, step!] };
}

function readNames(text: string): Selector {
  const parts = [...text.matchAll(/(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^,"'])+/g)].map(([part]) => part.trim());
  if (parts.includes('$'))
    throw new UnsupportedExpression('it is two expressions with a comma between them; write them as a list');
  const [only = ''] = parts;
  if (parts.length === 1 && only === '*') return { kind: 'all' };
  const name = parts.length === 1 ? /^(@[a-z]+)\s*\(\s*\)$/i.exec(only)?.[1] : undefined;
  if (name !== undefined) {
    const tree = { type: 'CallExpression', callee: { type: 'Identifier', name }, arguments: [] };
    return { kind: 'filter', text: name, filter: compileFilter(tree) };
  }
  return { kind: 'names', names: (parts.length === 0 ? [''] : parts).map(readName) };
}

function readName(written: string): string {
  const quoted = /^(["'])(.*)\1$/s.exec(written)?.[2];
  if (quoted !== undefined) return quoted.replace(/\\(.)/gs, '$1');
  if (written === '' || /[`'"\\()*?@]/.test(written))
    throw new SyntaxError(`${JSON.stringify(written)} is not a name; put it in quotes`);
  return /^\d+$/.test(written) ? String(Number.parseInt(written, 10)) : written;
}
