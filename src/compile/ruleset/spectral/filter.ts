import { isObject } from '../../schema/schema-dialect.ts';
import type { Budget } from './budget.ts';
import { compileRegex, type Matches } from './pattern.ts';

/** What a filter can read: the tested node, its key, and the container. */
export interface FilterScope {
  value: unknown;
  property: string | number;
  parent: unknown;
  parentProperty: string | number | null;
  root: unknown;
  /** Replaces a reference by its target. */
  follow(value: unknown): unknown;
  /** Pays for what takes longer in long texts and lists. */
  budget: Budget;
}

export type Filter = (scope: FilterScope) => boolean;

/** The error for expressions that are valid but not supported. */
export class UnsupportedExpression extends SyntaxError {}

type Evaluate = (scope: FilterScope) => unknown;

/** The value of a member of null or of nothing. Whatever uses it does not match. */
const nothing = Symbol('nothing');
const deepest = 40;

/**
 * Compiles a filter (`[?(…)]`) from the syntax tree of nimma's parser into closures over a closed
 * set of expressions. Nothing in it can call a function of the program or reach a prototype. Throws
 * `UnsupportedExpression` for everything else.
 */
export function compileFilter(tree: unknown): Filter {
  const evaluate = compile(tree, 0);
  return (scope) => {
    const found = evaluate(scope);
    return found !== nothing && Boolean(found);
  };
}

function compile(node: unknown, depth: number): Evaluate {
  if (depth > deepest) throw new UnsupportedExpression('it is nested too deeply');
  if (!isObject(node)) throw new UnsupportedExpression('an operand is missing');
  const inner = (child: unknown) => compile(child, depth + 1);
  switch (node['type']) {
    case 'Literal':
      return compileLiteral(node['value']);
    case 'Identifier':
      return compileName(String(node['name']));
    case 'ArrayExpression': {
      const items = (node['elements'] as unknown[]).map(inner);
      return (scope) => items.map((item) => item(scope));
    }
    case 'UnaryExpression':
      return compileUnary(String(node['operator']), inner(node['argument']));
    case 'BinaryExpression':
      return compileBinary(String(node['operator']), inner(node['left']), inner(node['right']));
    case 'MemberExpression':
      return compileMember(node, inner);
    case 'CallExpression':
      return compileCall(node, inner);
    default:
      throw new UnsupportedExpression(`${String(node['type'])} is not supported`);
  }
}

function compileLiteral(value: unknown): Evaluate {
  if (value instanceof RegExp)
    throw new UnsupportedExpression('a regular expression stands alone; use .match or .test');
  return () => value;
}

const names: Readonly<Record<string, Evaluate>> = {
  '@': ({ value }) => value,
  '@property': ({ property }) => property,
  '@parent': ({ parent }) => parent,
  '@parentProperty': ({ parentProperty }) => parentProperty,
  '@root': ({ root }) => root,
  undefined: () => undefined,
};

function compileName(name: string): Evaluate {
  if (Object.hasOwn(names, name)) return names[name]!;
  const known = Object.keys(names).filter((one) => one.startsWith('@'));
  throw new UnsupportedExpression(`${JSON.stringify(name)} is not known; use one of ${known.join(', ')}`);
}

function compileMember(node: Record<string, unknown>, inner: (child: unknown) => Evaluate): Evaluate {
  const object = inner(node['object']);
  const property = node['property'];
  if (node['computed'] === true) {
    const key = inner(property);
    return (scope) => memberOf(object(scope), key(scope), scope);
  }
  const name = isObject(property) ? String(property['name']) : '';
  if (['constructor', 'prototype', '__proto__'].includes(name))
    throw new UnsupportedExpression(`${JSON.stringify(name)} is not a member of documents`);
  return (scope) => memberOf(object(scope), name, scope);
}

function memberOf(object: unknown, key: unknown, { follow }: FilterScope): unknown {
  if (typeof object === 'object' && object !== null) {
    if (key === nothing) return nothing;
    const name = String(key);
    if (!Object.hasOwn(object, name)) return undefined;
    const member = (object as Record<string, unknown>)[name];
    return typeof member === 'object' ? follow(member) : member;
  }
  if (object === null || object === undefined || object === nothing || key === nothing) return nothing;
  return typeof object === 'string' && key === 'length' ? object.length : undefined;
}

function compileUnary(operator: string, argument: Evaluate): Evaluate {
  const apply = { '!': (value: unknown) => !value, '-': (value: unknown) => -numberOf(value), void: () => undefined };
  if (!Object.hasOwn(apply, operator)) throw new UnsupportedExpression(`the operator ${operator} is not supported`);
  const own = apply[operator as keyof typeof apply];
  return (scope) => {
    const value = argument(scope);
    return value === nothing ? nothing : own(value);
  };
}

const operators: Readonly<Record<string, (left: unknown, right: unknown) => unknown>> = {
  '==': looselyEqual,
  '!=': (left, right) => !looselyEqual(left, right),
  '===': (left, right) => left === right,
  '!==': (left, right) => left !== right,
  '<': (left, right) => compare(left, right, (a, b) => a < b),
  '<=': (left, right) => compare(left, right, (a, b) => a <= b),
  '>': (left, right) => compare(left, right, (a, b) => a > b),
  '>=': (left, right) => compare(left, right, (a, b) => a >= b),
  '-': (left, right) => numberOf(left) - numberOf(right),
  // As in nimma: one of a list, not a key of an object.
  in: (left, right) => (Array.isArray(right) || typeof right === 'string') && right.includes(left as string),
};

function compileBinary(operator: string, left: Evaluate, right: Evaluate): Evaluate {
  if (operator === '&&' || operator === '||') {
    return (scope) => {
      const value = left(scope);
      return value === nothing || Boolean(value) === (operator === '||') ? value : right(scope);
    };
  }
  if (!Object.hasOwn(operators, operator)) throw new UnsupportedExpression(`the operator ${operator} is not supported`);
  const apply = operators[operator]!;
  return (scope) => {
    const a = left(scope);
    if (a === nothing) return nothing;
    const b = right(scope);
    if (b === nothing) return nothing;
    payFor(operator === 'in' ? b : shorterOf(a, b), scope);
    return apply(a, b);
  };
}

/** `==` of JavaScript for values of JSON, which never calls anything of an object. */
function looselyEqual(left: unknown, right: unknown): boolean {
  if (typeof left === 'object' || typeof right === 'object') return left === right || (left ?? right ?? null) === null;
  // oxlint-disable-next-line eqeqeq -- the filters are written in JavaScript's terms
  return left == right;
}

function compare(left: unknown, right: unknown, is: (a: number | string, b: number | string) => boolean): boolean {
  if (typeof left === 'string' && typeof right === 'string') return is(left, right);
  return is(numberOf(left), numberOf(right));
}

function numberOf(value: unknown): number {
  return typeof value === 'object' && value !== null ? NaN : Number(value);
}

const textFunctions: Readonly<Record<string, (text: string, part: string) => unknown>> = {
  endsWith: (text, part) => text.endsWith(part),
  startsWith: (text, part) => text.startsWith(part),
  includes: (text, part) => text.includes(part),
  indexOf: (text, part) => text.indexOf(part),
};

/** `text.match(/…/)`, `/…/.test(text)`, and functions of texts and lists that look for a part. */
function compileCall(node: Record<string, unknown>, inner: (child: unknown) => Evaluate): Evaluate {
  const callee = isObject(node['callee']) ? node['callee'] : {};
  const given = node['arguments'] as unknown[];
  const property = isObject(callee['property']) ? String(callee['property']['name']) : '';
  const isMember = callee['type'] === 'MemberExpression' && callee['computed'] !== true && given.length === 1;
  if (isMember && property === 'test') {
    const matches = regexOf(callee['object']);
    const subject = inner(given[0]);
    return (scope) => applyTo(subject(scope), matches, scope);
  }
  if (isMember && property === 'match') {
    const matches = regexOf(given[0]);
    const subject = inner(callee['object']);
    return (scope) => applyTo(subject(scope), matches, scope);
  }
  if (isMember && Object.hasOwn(textFunctions, property)) {
    const subject = inner(callee['object']);
    const part = inner(given[0]);
    const apply = textFunctions[property]!;
    return (scope) => {
      const [whole, piece] = [subject(scope), part(scope)];
      if (whole === nothing || piece === nothing) return nothing;
      payFor(whole, scope);
      if (Array.isArray(whole)) return property === 'indexOf' ? whole.indexOf(piece) : whole.includes(piece);
      const text = textOf(whole);
      return text === null || typeof piece === 'object' ? nothing : apply(text, String(piece));
    };
  }
  throw new UnsupportedExpression(
    `the function ${JSON.stringify(property.slice(0, 50))} is not supported; use match, test, ${Object.keys(textFunctions).join(', ')}`,
  );
}

function applyTo(subject: unknown, matches: Matches, { budget }: FilterScope): unknown {
  const text = textOf(subject);
  return text === null ? nothing : matches(text, budget);
}

/** Of two texts, the one that a comparison reads at most; else null. */
function shorterOf(a: unknown, b: unknown): string | null {
  if (typeof a !== 'string' || typeof b !== 'string') return null;
  return a.length < b.length ? a : b;
}

/** Pays for looking through a text or a list, which takes about a nanosecond for each part. */
function payFor(whole: unknown, { budget }: FilterScope): void {
  if (typeof whole === 'string' || Array.isArray(whole)) budget.spend(whole.length >> 6);
}

/** Texts and keys, which may be indexes; other values have no such functions. */
function textOf(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

function regexOf(node: unknown): Matches {
  const value = isObject(node) ? node['value'] : null;
  if (value instanceof RegExp) return compileRegex(value.source, value.flags).matches;
  if (typeof value === 'string') return compileRegex(value, '').matches;
  throw new UnsupportedExpression('match and test need a regular expression that is written out');
}
