import type { Budget } from '../pattern.ts';

/**
 * An expression in a filter, as nimma's parser returns it. A kind or an operator that stands here has
 * an evaluator, or `filter.ts` does not compile; one that does not stand here is refused.
 */
export type Expression =
  | { type: 'Literal'; value: string | number | boolean | null | RegExp }
  | { type: 'Identifier'; name: string }
  | { type: 'ArrayExpression'; elements: Expression[] }
  | { type: 'UnaryExpression'; operator: UnaryOperator; argument: Expression }
  | { type: 'BinaryExpression'; operator: BinaryOperator; left: Expression; right: Expression }
  | { type: 'MemberExpression'; computed: boolean; object: Expression; property: Expression }
  | { type: 'CallExpression'; callee: Expression; arguments: Expression[] };

export type UnaryOperator = '-' | '!' | '~' | '+' | 'void';

/** The operators that decide by their left side alone whether the right one counts. */
export type LogicalOperator = '&&' | '||';

/** `~=` tests its left side with the regular expression on its right. */
export type BinaryOperator = LogicalOperator | ValueOperator | '~=';

type ValueOperator = keyof typeof operators;

/** The value where JavaScript would throw, such as for a member of null. Anything that uses it does not match. */
export const nothing = Symbol('nothing');

/**
 * A function that texts, lists and objects have in JavaScript, where it stands without being called:
 * `@.x.match && …`. It is true and has a name. Nothing of the program can be reached through it.
 */
class Uncalled {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

const uncalled = new Map<string, Uncalled>();

function uncalledAs(name: string): Uncalled {
  return uncalled.getOrInsertComputed(name, () => new Uncalled(name));
}

/** The types of values that have members by nature: JavaScript's name of each, and its functions. */
const natures = {
  string: ['String', String.prototype],
  number: ['Number', Number.prototype],
  boolean: ['Boolean', Boolean.prototype],
  list: ['Array', Array.prototype],
  object: ['Object', Object.prototype],
} as const;

type Nature = keyof typeof natures;

/** The type of a value, or null for null and undefined, which have no members. */
export function natureOf(value: unknown): Nature | null {
  if (value === null || value === undefined) return null;
  const type = typeof value;
  if (type === 'string' || type === 'number' || type === 'boolean') return type;
  return Array.isArray(value) ? 'list' : 'object';
}

/** Reads a member that is not in the document: the length and the letters of a text, and functions. */
export function naturalMember(value: unknown, nature: Nature, name: string): unknown {
  if (value instanceof Uncalled) return name === 'name' ? value.name : undefined;
  if (typeof value === 'string') {
    if (name === 'length') return value.length;
    if (/^(?:0|[1-9]\d{0,9})$/.test(name)) return value[Number(name)];
  }
  const [constructor, functions] = natures[nature];
  if (name === 'constructor') return uncalledAs(constructor);
  return name in functions ? uncalledAs(name) : undefined;
}

/** Writes a value as JavaScript does where a text is needed. */
export function stringOf(value: unknown, budget: Budget): string {
  if (value instanceof Uncalled) return value.name;
  if (!Array.isArray(value)) return typeof value === 'object' && value !== null ? '[object Object]' : String(value);
  budget.spend(value.length);
  const text = value
    .map((item: unknown) => (item === null || item === undefined ? '' : stringOf(item, budget)))
    .join(',');
  budget.spend(text.length >> 3);
  return text;
}

function primitiveOf(value: unknown, budget: Budget): unknown {
  return typeof value === 'object' && value !== null ? stringOf(value, budget) : value;
}

export type Operate = (left: unknown, right: unknown, budget: Budget) => unknown;

/** The result of each operator for two values, as in JavaScript. */
export const operators = {
  '==': looselyEqual,
  '!=': (left, right, budget) => !looselyEqual(left, right, budget),
  '===': (left, right) => left === right,
  '!==': (left, right) => left !== right,
  '<': ofOrder((left, right) => left < right),
  '<=': ofOrder((left, right) => left <= right),
  '>': ofOrder((left, right) => left > right),
  '>=': ofOrder((left, right) => left >= right),
  '+': add,
  '-': ofNumbers((left, right) => left - right),
  '*': ofNumbers((left, right) => left * right),
  '/': ofNumbers((left, right) => left / right),
  '%': ofNumbers((left, right) => left % right),
  '|': ofNumbers((left, right) => left | right),
  '^': ofNumbers((left, right) => left ^ right),
  '&': ofNumbers((left, right) => left & right),
  '<<': ofNumbers((left, right) => left << right),
  '>>': ofNumbers((left, right) => left >> right),
  '>>>': ofNumbers((left, right) => left >>> right),
  // As in nimma: one of a list, not a key of an object.
  in(left, right, budget) {
    if (Array.isArray(right)) {
      budget.spend(right.length >> 6);
      return right.includes(left);
    }
    return typeof right === 'string' ? right.includes(stringOf(left, budget)) : nothing;
  },
} as const satisfies Record<string, Operate>;

function looselyEqual(left: unknown, right: unknown, budget: Budget): boolean {
  if (left === null || left === undefined || right === null || right === undefined)
    return (left ?? null) === (right ?? null);
  if (typeof left === 'object' && typeof right === 'object') return left === right;
  // oxlint-disable-next-line eqeqeq -- the filters are written in JavaScript's terms
  return primitiveOf(left, budget) == primitiveOf(right, budget);
}

function ofOrder(is: (left: string | number, right: string | number) => boolean): Operate {
  return (left, right, budget) => {
    const [a, b] = [primitiveOf(left, budget), primitiveOf(right, budget)];
    return typeof a === 'string' && typeof b === 'string' ? is(a, b) : is(Number(a), Number(b));
  };
}

function ofNumbers(apply: (left: number, right: number) => number): Operate {
  return (left, right, budget) => apply(numberOf(left, budget), numberOf(right, budget));
}

/** Turns a value into a number as JavaScript does. */
export function numberOf(value: unknown, budget: Budget): number {
  return Number(primitiveOf(value, budget));
}

function add(left: unknown, right: unknown, budget: Budget): unknown {
  const [a, b] = [primitiveOf(left, budget), primitiveOf(right, budget)];
  if (typeof a !== 'string' && typeof b !== 'string') return Number(a) + Number(b);
  const [first, second] = [String(a), String(b)];
  budget.spend((first.length + second.length) >> 3);
  return first + second;
}

type Apply<Subject> = (subject: Subject, given: readonly unknown[], budget: Budget) => unknown;

/** A function that filters can call, for each type of value that has it. */
interface Method {
  /** The fewest and the most arguments. */
  takes: readonly [least: number, most: number];
  string?: Apply<string>;
  list?: Apply<readonly unknown[]>;
  /** Of every value but null and undefined. */
  any?: Apply<unknown>;
}

/** The functions that filters can call: those of JavaScript, which change nothing and cannot grow a text. */
export const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['endsWith', ofPart((text, part) => text.endsWith(part))],
  ['startsWith', ofPart((text, part) => text.startsWith(part))],
  ...(['includes', 'indexOf', 'lastIndexOf'] as const).map((name): [string, Method] => [
    name,
    { ...ofPart((text, part) => text[name](part)), list: (list, [item]) => list[name](item) },
  ]),
  [
    'at',
    {
      takes: [1, 1],
      string: (text, [at], budget) => text.at(numberOf(at, budget)),
      list: (list, [at], budget) => list.at(numberOf(at, budget)),
    },
  ],
  ['charAt', { takes: [1, 1], string: (text, [at], budget) => text.charAt(numberOf(at, budget)) }],
  [
    'slice',
    {
      takes: [0, 2],
      string: (text, [from, to], budget) => text.slice(offsetOf(from, budget), offsetOf(to, budget)),
      list: (list, [from, to], budget) => list.slice(offsetOf(from, budget), offsetOf(to, budget)),
    },
  ],
  [
    'substring',
    {
      takes: [1, 2],
      string: (text, [from, to], budget) => text.substring(numberOf(from, budget), offsetOf(to, budget)),
    },
  ],
  ['toLowerCase', ofText((text) => text.toLowerCase())],
  ['toUpperCase', ofText((text) => text.toUpperCase())],
  ['trim', ofText((text) => text.trim())],
  [
    'split',
    {
      takes: [1, 1],
      string(text, [separator], budget) {
        budget.spend(text.length >> 2);
        return separator === undefined ? [text] : text.split(stringOf(separator, budget));
      },
    },
  ],
  ['toString', { takes: [0, 0], any: (value, _, budget) => stringOf(value, budget) }],
  [
    'hasOwnProperty',
    { takes: [1, 1], any: (value, [name], budget) => Object.hasOwn(value as object, stringOf(name, budget)) },
  ],
]);

function ofPart(apply: (text: string, part: string) => unknown): Method {
  return { takes: [1, 1], string: (text, [part], budget) => apply(text, stringOf(part, budget)) };
}

function ofText(apply: (text: string) => string): Method {
  return { takes: [0, 0], string: (text) => apply(text) };
}

function offsetOf(value: unknown, budget: Budget): number | undefined {
  return value === undefined ? undefined : numberOf(value, budget);
}

/** Calls a function. `nothing` where the value has no such function. */
export function callMethod(
  method: Method,
  subject: unknown,
  nature: Nature,
  given: readonly unknown[],
  budget: Budget,
): unknown {
  // Looking through a text or a list takes about a nanosecond for each part.
  if (typeof subject === 'string' || Array.isArray(subject)) budget.spend(subject.length >> 6);
  if (nature === 'string' && method.string) return method.string(subject as string, given, budget);
  if (nature === 'list' && method.list) return method.list(subject as unknown[], given, budget);
  return method.any ? method.any(subject, given, budget) : nothing;
}
