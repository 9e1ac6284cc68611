import { jsonpath, JSONPathEnvironment, JSONPathError } from 'json-p3';
import { type Budget, compileRegex } from '../ruleset/spectral/pattern.ts';
import { isNumeric } from '../../model/exact-numbers.ts';
import { isObject, type JsonObject } from '../../model/json.ts';

/** A node that a path selects, with the way to it. `parent` null: the root. */
export interface PathNode {
  value: unknown;
  parent: PathNode | null;
  key: string | number;
}

/** A path of RFC 9535, ready to be evaluated. */
export type JsonPath = readonly { isDeep: boolean; selectors: readonly jsonpath.JSONPathSelector[] }[];

const longest = 2000;

const environment = new JSONPathEnvironment();

/** Reads a path of RFC 9535 (JSONPath). Throws a `SyntaxError` whose message says what is wrong. */
export function parseJsonPath(text: string): JsonPath {
  if (text.length > longest) throw new SyntaxError(`it is longer than ${longest} characters`);
  try {
    return stepsOf(environment.compile(text));
  } catch (error) {
    if (!(error instanceof JSONPathError)) throw error;
    throw new SyntaxError(error.message.replace(/^[^:]*Error: /, ''));
  }
}

function stepsOf({ segments }: ReturnType<JSONPathEnvironment['compile']>): JsonPath {
  return segments.map((segment) => ({ isDeep: segment.toString().startsWith('..'), selectors: segment.selectors }));
}

/**
 * The nodes that a path selects, in order. json-p3 reads paths; they are evaluated here, because each node that is
 * looked at is paid from the budget.
 */
export function selectNodes(path: JsonPath, root: unknown, budget: Budget): PathNode[] {
  return select(path, { value: root, parent: null, key: '' }, { root, budget });
}

interface Scope {
  root: unknown;
  budget: Budget;
}

function select(path: JsonPath, from: PathNode, scope: Scope): PathNode[] {
  let nodes = [from];
  for (const { isDeep, selectors } of path) {
    const next: PathNode[] = [];
    for (const node of nodes)
      for (const each of isDeep ? descend(node, scope) : [node])
        for (const selector of selectors) for (const selected of pick(selector, each, scope)) next.push(selected);
    nodes = next;
  }
  return nodes;
}

/** The node and everything below it, parents first. */
function* descend(start: PathNode, scope: Scope): Generator<PathNode> {
  const open = [start];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    scope.budget.spend(1);
    yield node;
    for (const child of childrenOf(node, scope).reverse()) open.push(child);
  }
}

function childrenOf(parent: PathNode, { budget }: Scope): PathNode[] {
  const { value } = parent;
  if (typeof value !== 'object' || value === null) return [];
  const children = Array.isArray(value)
    ? value.map((child: unknown, key) => ({ value: child, parent, key }))
    : Object.entries(value).map(([key, child]) => ({ value: child as unknown, parent, key }));
  budget.spend(children.length);
  return children;
}

const { NameSelector, IndexSelector, SliceSelector, WildcardSelector, FilterSelector } = jsonpath.selectors;
type SliceSelector = InstanceType<typeof SliceSelector>;

function pick(selector: jsonpath.JSONPathSelector, parent: PathNode, scope: Scope): PathNode[] {
  scope.budget.spend(1);
  const { value } = parent;
  const at = (key: string | number): PathNode[] => [{ value: (value as JsonObject)[key], parent, key }];
  if (selector instanceof NameSelector)
    return isObject(value) && Object.hasOwn(value, selector.name) ? at(selector.name) : [];
  if (selector instanceof WildcardSelector) return childrenOf(parent, scope);
  if (selector instanceof FilterSelector)
    return childrenOf(parent, scope).filter((child) => isTrue(evaluate(selector.expression, child, scope)));
  if (!Array.isArray(value)) return [];
  if (selector instanceof IndexSelector) {
    const index = selector.index < 0 ? value.length + selector.index : selector.index;
    return index in value ? at(index) : [];
  }
  if (selector instanceof SliceSelector) return indexesIn(value.length, selector, scope).flatMap(at);
  throw new SyntaxError(`${selector.toString()} is not a selector of RFC 9535`);
}

/** The items of a slice (RFC 9535 §2.3.4.2). */
function indexesIn(length: number, { start, stop, step = 1 }: SliceSelector, { budget }: Scope): number[] {
  const from = (index: number, least: number, most: number) =>
    Math.min(Math.max(index >= 0 ? index : length + index, least), most);
  const [least, most] = step > 0 ? [0, length] : [-1, length - 1];
  const first = from(start ?? (step > 0 ? 0 : length - 1), least, most);
  const end = stop === undefined ? (step > 0 ? length : -1) : from(stop, least, most);
  const indexes: number[] = [];
  if (step > 0) for (let at = first; at < end; at += step) indexes.push(at);
  if (step < 0) for (let at = first; at > end; at += step) indexes.push(at);
  budget.spend(indexes.length);
  return indexes;
}

/** What an expression of a filter gives: a value, the values that a path selects, or nothing. */
type Result = { value: unknown } | { values: readonly unknown[] } | null;

function isTrue(result: Result): boolean {
  if (result === null) return false;
  return 'values' in result ? result.values.length > 0 : result.value === true;
}

const kinds = jsonpath.expressions;

function evaluate(expression: jsonpath.expressions.FilterExpression, node: PathNode, scope: Scope): Result {
  scope.budget.spend(1);
  if (expression instanceof kinds.LogicalExpression)
    return { value: isTrue(evaluate(expression.expression, node, scope)) };
  if (expression instanceof kinds.NullLiteral) return { value: null };
  if (
    expression instanceof kinds.BooleanLiteral ||
    expression instanceof kinds.StringLiteral ||
    expression instanceof kinds.NumberLiteral
  )
    return { value: expression.value };
  if (expression instanceof kinds.PrefixExpression) return { value: !isTrue(evaluate(expression.right, node, scope)) };
  if (expression instanceof kinds.InfixExpression) return evaluateInfix(expression, node, scope);
  if (expression instanceof kinds.FilterQuery) {
    const start = expression instanceof kinds.RootQuery ? scope.root : node.value;
    const found = select(stepsOf(expression.path), { value: start, parent: null, key: '' }, scope);
    return { values: found.map(({ value }) => value) };
  }
  if (expression instanceof kinds.FunctionExtension) {
    const given = expression.args.map((argument) => evaluate(argument, node, scope));
    return callFunction(expression.name, given, scope);
  }
  throw new SyntaxError(`${expression.toString()} is not an expression of RFC 9535`);
}

function evaluateInfix(
  { left, operator, right }: jsonpath.expressions.InfixExpression,
  node: PathNode,
  scope: Scope,
): Result {
  const first = evaluate(left, node, scope);
  if (operator === '&&' || operator === '||') {
    const isFirst = isTrue(first);
    return { value: isFirst === (operator === '||') ? isFirst : isTrue(evaluate(right, node, scope)) };
  }
  const [a, b] = [single(first), single(evaluate(right, node, scope))];
  const isEqual = () => (a === null || b === null ? a === b : areEqual(a.value, b.value, scope));
  const isLess = (one: typeof a, other: typeof a) =>
    one !== null && other !== null && comesBefore(one.value, other.value);
  if (operator === '==') return { value: isEqual() };
  if (operator === '!=') return { value: !isEqual() };
  const isOrdered = operator.startsWith('<') ? isLess(a, b) : isLess(b, a);
  return { value: isOrdered || (operator.endsWith('=') && isEqual()) };
}

/** The value of an operand. Null: nothing, such as a path that selects no node. */
function single(result: Result): { value: unknown } | null {
  if (result === null || 'value' in result) return result;
  return result.values.length === 1 ? { value: result.values[0] } : null;
}

function comesBefore(a: unknown, b: unknown): boolean {
  const isText = typeof a === 'string' && typeof b === 'string';
  if (isText) return a < b;
  return isNumeric(a) && isNumeric(b) && a < b;
}

function areEqual(a: unknown, b: unknown, scope: Scope): boolean {
  scope.budget.spend(1);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b;
  if (Array.isArray(a) || Array.isArray(b)) {
    const isSized = Array.isArray(a) && Array.isArray(b) && a.length === b.length;
    return isSized && a.every((item, index) => areEqual(item, b[index], scope));
  }
  const [keys, others] = [Object.keys(a), Object.keys(b)];
  scope.budget.spend(keys.length + others.length);
  const at = (value: object, key: string) => (value as JsonObject)[key];
  const isSame = (key: string) => Object.hasOwn(b, key) && areEqual(at(a, key), at(b, key), scope);
  return keys.length === others.length && keys.every(isSame);
}

/** The functions of RFC 9535 §2.4. */
function callFunction(name: string, given: readonly Result[], scope: Scope): Result {
  const [first = null, second = null] = given;
  if (name === 'count') return { value: first !== null && 'values' in first ? first.values.length : 0 };
  const value = single(first)?.value;
  if (name === 'value') return single(first);
  if (name === 'length') {
    if (typeof value === 'string') return { value: [...value].length };
    const size = typeof value === 'object' && value !== null ? Object.keys(value).length : null;
    return size === null ? null : { value: size };
  }
  const pattern = single(second)?.value;
  if (typeof value !== 'string' || typeof pattern !== 'string') return { value: false };
  return { value: matchesPattern(value, pattern, name === 'match', scope) };
}

/** Matches a pattern of RFC 9485 (I-Regexp) in linear time. One that is not valid matches nothing. */
function matchesPattern(text: string, pattern: string, isWhole: boolean, { budget }: Scope): boolean {
  const source = pattern.replace(/\\.|\[(?:\\.|[^\]\\])*\]|\./gsu, (part) => (part === '.' ? '[^\\n\\r]' : part));
  budget.spend(pattern.length);
  try {
    return compileRegex(isWhole ? `^(?:${source})$` : source, 'u').matches(text, budget);
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
