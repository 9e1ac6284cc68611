import { isObject, own } from '../../../../model/json.ts';
import { type Budget, compileRegex, type Matches } from '../pattern.ts';
import {
  type BinaryOperator,
  type Expression,
  type UnaryOperator,
  callMethod,
  methods,
  naturalMember,
  natureOf,
  nothing,
  numberOf,
  type Operate,
  operators,
  stringOf,
} from './values.ts';

/** What a filter can read: the tested node, its key, and what is around it. */
export interface FilterScope {
  value: unknown;
  property: string | number;
  /** What contains the container of the node, as in Spectral; `parentProperty` is the container's key there. */
  parent: unknown;
  parentProperty: string | number | undefined;
  root: unknown;
  /** Replaces a reference by its target. */
  follow(value: unknown): unknown;
  /** Pays for work that grows with texts and lists. */
  budget: Budget;
}

export type Filter = (scope: FilterScope) => boolean;

/** The error for expressions that are valid but not supported. */
export class UnsupportedExpression extends SyntaxError {}

type Evaluate = (scope: FilterScope) => unknown;

/**
 * Compiles an operand. `isTruth`: only whether it is there or true is asked of it, so that it may be the
 * result of `match`.
 */
type Inner = (child: Expression, isTruth?: boolean) => Evaluate;

const deepest = 40;

/**
 * Compiles a filter (`[?(…)]`) from the syntax tree of nimma's parser into closures over a closed
 * set of expressions, with the results that JavaScript has in Spectral. Nothing in it can call a function
 * of the program or reach a prototype. Throws `UnsupportedExpression` for everything else: what is
 * accepted is evaluated.
 */
export function compileFilter(tree: unknown): Filter {
  const evaluate = compile(tree as Expression, 0, true);
  return (scope) => {
    const result = evaluate(scope);
    return result !== nothing && Boolean(result);
  };
}

function compile(node: Expression, depth: number, isTruth: boolean): Evaluate {
  if (depth > deepest) throw new UnsupportedExpression('it is nested too deeply');
  if (!isObject(node)) throw new UnsupportedExpression('an operand is missing');
  const { type } = node;
  if (!Object.hasOwn(compilers, type)) throw new UnsupportedExpression(`${String(type)} is not supported`);
  const compiler = compilers[type] as (node: Expression, inner: Inner, isTruth: boolean) => Evaluate;
  return compiler(node, (child, asked = false) => compile(child, depth + 1, asked), isTruth);
}

type Kind = Expression['type'];
type Compiler<K extends Kind> = (node: Extract<Expression, { type: K }>, inner: Inner, isTruth: boolean) => Evaluate;

/** Every kind of expression that is accepted, and how it is evaluated. */
export const compilers: { readonly [K in Kind]: Compiler<K> } = {
  Literal({ value }) {
    if (value instanceof RegExp)
      throw new UnsupportedExpression('a regular expression stands alone; use .match or .test');
    return () => value;
  },
  Identifier({ name }) {
    if (Object.hasOwn(names, name)) return names[name]!;
    const variables = Object.keys(names).filter((one) => one.startsWith('@'));
    throw new UnsupportedExpression(`${JSON.stringify(name)} is not known; use one of ${variables.join(', ')}`);
  },
  ArrayExpression({ elements }, inner) {
    const items = elements.map((item) => inner(item));
    return (scope) => {
      const values = items.map((item) => item(scope));
      return values.includes(nothing) ? nothing : values;
    };
  },
  UnaryExpression({ operator, argument }, inner) {
    if (!Object.hasOwn(unaryOperators, operator)) throw unknownOperator(operator);
    const apply = unaryOperators[operator];
    const operand = inner(argument, operator === '!' || operator === 'void');
    return (scope) => {
      const value = operand(scope);
      return value === nothing ? nothing : apply(value, scope.budget);
    };
  },
  BinaryExpression(node, inner, isTruth) {
    const { operator } = node;
    if (!Object.hasOwn(binaryOperators, operator)) throw unknownOperator(operator);
    return binaryOperators[operator](node, inner, isTruth);
  },
  MemberExpression({ object, property, computed }, inner) {
    const whole = inner(object);
    if (computed) {
      const key = inner(property);
      return (scope) => memberOf(whole(scope), key(scope), scope);
    }
    const name = nameOf(property);
    return (scope) => memberOf(whole(scope), name, scope);
  },
  CallExpression({ callee, arguments: given }, inner, isTruth) {
    if (callee.type === 'Identifier') return compileTypeTest(callee.name, given.length);
    if (callee.type !== 'MemberExpression' || callee.computed)
      throw new UnsupportedExpression('only a function with a name can be called');
    const name = nameOf(callee.property);
    if (name === 'test') return compileMatch(regexOf(callee.object), onlyOne(name, given, inner));
    if (name === 'match' || name === 'exec') {
      if (!isTruth) throw new UnsupportedExpression(`the result of ${name} is used; only ask whether there is one`);
      const isMatch = name === 'match';
      const subject = isMatch ? asText(callee.object, inner) : onlyOne(name, given, inner);
      const matches = regexOf(isMatch ? given[0] : callee.object);
      if (given.length !== 1) throw new UnsupportedExpression(`${name} needs one argument`);
      const isFound = compileMatch(matches, subject, isMatch);
      return (scope) => isFound(scope) || null;
    }
    return compileMethod(name, asText(callee.object, inner), given, inner);
  },
};

function unknownOperator(operator: string): Error {
  return new UnsupportedExpression(`the operator ${operator} is not supported`);
}

const names: Readonly<Record<string, Evaluate>> = {
  '@': ({ value }) => value,
  '@property': ({ property }) => property,
  '@parent': ({ parent }) => parent,
  '@parentProperty': ({ parentProperty }) => parentProperty,
  '@root': ({ root }) => root,
  undefined: () => undefined,
};

const typeTests: Readonly<Record<string, (value: unknown) => boolean>> = {
  '@string': (value) => typeof value === 'string',
  '@number': (value) => typeof value === 'number',
  '@boolean': (value) => typeof value === 'boolean',
  '@null': (value) => value === null,
  '@scalar': (value) => value === null || typeof value !== 'object',
  '@array': (value) => Array.isArray(value),
  '@object': (value) => value !== null && typeof value === 'object',
  '@integer': (value) => Number.isInteger(value),
};

/** `@object()` and the like, which ask for the type of the node. */
function compileTypeTest(name: string, given: number): Evaluate {
  const isOfType = own(typeTests, name);
  if (isOfType !== undefined && given === 0) return ({ value }) => isOfType(value);
  const tests = Object.keys(typeTests).map((one) => `${one}()`);
  throw new UnsupportedExpression(`${JSON.stringify(name)} is not a test of a type; use one of ${tests.join(', ')}`);
}

const unaryOperators: Readonly<Record<UnaryOperator, (value: unknown, budget: Budget) => unknown>> = {
  '!': (value) => !value,
  '-': (value, budget) => -numberOf(value, budget),
  '+': (value, budget) => numberOf(value, budget),
  '~': (value, budget) => ~numberOf(value, budget),
  void: () => undefined,
};

type Binary = Extract<Expression, { type: 'BinaryExpression' }>;

/** Every operator of two expressions, and how it is evaluated. */
export const binaryOperators: Readonly<
  Record<BinaryOperator, (node: Binary, inner: Inner, isTruth: boolean) => Evaluate>
> = {
  '||': compileLogical(true),
  '&&': compileLogical(false),
  '~=': ({ left, right }, inner) => compileMatch(regexOf(right), inner(left)),
  ...(Object.fromEntries(
    Object.entries(operators).map(([operator, apply]) => [operator, compileOperator(operator, apply)]),
  ) as Record<keyof typeof operators, ReturnType<typeof compileOperator>>),
};

function compileLogical(isOr: boolean) {
  return ({ left, right }: Binary, inner: Inner, isTruth: boolean): Evaluate => {
    const [first, second] = [inner(left, isTruth), inner(right, isTruth)];
    return (scope) => {
      const value = first(scope);
      return value === nothing || Boolean(value) === isOr ? value : second(scope);
    };
  };
}

function compileOperator(operator: string, apply: Operate) {
  return ({ left, right }: Binary, inner: Inner): Evaluate => {
    const isEquality = /^[!=]==?$/.test(operator);
    const first = inner(left, isEquality && isNone(right));
    const second = inner(right, isEquality && isNone(left));
    return (scope) => {
      const a = first(scope);
      if (a === nothing) return nothing;
      const b = second(scope);
      if (b === nothing) return nothing;
      if (typeof a === 'string' && typeof b === 'string') scope.budget.spend(Math.min(a.length, b.length) >> 6);
      return apply(a, b, scope.budget);
    };
  };
}

function isNone(node: Expression): boolean {
  return (node.type === 'Literal' && node.value === null) || (node.type === 'Identifier' && node.name === 'undefined');
}

function nameOf(property: Expression): string {
  if (property.type === 'Identifier') return property.name;
  throw new UnsupportedExpression('the name of a member is missing');
}

function memberOf(whole: unknown, key: unknown, { follow, budget }: FilterScope): unknown {
  const nature = natureOf(whole);
  if (whole === nothing || key === nothing || nature === null) return nothing;
  const name = typeof key === 'string' ? key : stringOf(key, budget);
  const isOwn = (nature === 'list' || nature === 'object') && Object.hasOwn(whole as object, name);
  if (!isOwn) return naturalMember(whole, nature, name);
  const member = (whole as Record<string, unknown>)[name];
  return typeof member === 'object' ? follow(member) : member;
}

/** The subject of a call. As in nimma, functions of texts take the key of an item of a list as a text. */
function asText(node: Expression, inner: Inner): Evaluate {
  const subject = inner(node);
  if (node.type !== 'Identifier' || node.name !== '@property') return subject;
  return (scope) => String(subject(scope));
}

function onlyOne(name: string, given: readonly Expression[], inner: Inner): Evaluate {
  if (given.length !== 1) throw new UnsupportedExpression(`${name} needs one argument`);
  return inner(given[0]!);
}

/** `onlyTexts`: only strings can match, since other values have no such function. */
function compileMatch(matches: Matches, subject: Evaluate, onlyTexts = false): Evaluate {
  return (scope) => {
    const value = subject(scope);
    if (value === nothing || (onlyTexts && typeof value !== 'string')) return nothing;
    return matches(stringOf(value, scope.budget), scope.budget);
  };
}

function compileMethod(name: string, subject: Evaluate, given: readonly Expression[], inner: Inner): Evaluate {
  const method = methods.get(name);
  if (method === undefined) {
    const methodNames = ['match', 'test', 'exec', ...methods.keys()].join(', ');
    throw new UnsupportedExpression(
      `the function ${JSON.stringify(name.slice(0, 50))} is not supported; use ${methodNames}`,
    );
  }
  const [least, most] = method.takes;
  if (given.length < least || given.length > most)
    throw new UnsupportedExpression(
      `${name} has ${given.length} arguments; it takes ${[...new Set([least, most])].join(' to ')}`,
    );
  const values = given.map((one) => inner(one));
  return (scope) => {
    const whole = subject(scope);
    const passed = values.map((value) => value(scope));
    const nature = whole === nothing ? null : natureOf(whole);
    if (nature === null || passed.includes(nothing)) return nothing;
    // A member of the document of that name is not a function.
    if (nature === 'object' && Object.hasOwn(whole as object, name)) return nothing;
    return callMethod(method, whole, nature, passed, scope.budget);
  };
}

function regexOf(node: Expression | undefined): Matches {
  const value = node?.type === 'Literal' ? node.value : null;
  if (value instanceof RegExp) {
    if (value.flags.includes('y')) throw new UnsupportedExpression('the flag "y" is not supported; start with ^');
    return compileRegex(value.source, value.flags).matches;
  }
  if (typeof value === 'string') return compileRegex(value, '').matches;
  throw new UnsupportedExpression('match and test need a regular expression that is written out');
}
