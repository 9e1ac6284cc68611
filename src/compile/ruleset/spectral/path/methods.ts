import type { Budget } from '../budget.ts';
import { nothing, numberOf, stringOf, type Nature } from './values.ts';

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
  [
    'includes',
    ofPart(
      (text, part) => text.includes(part),
      (list, item) => list.includes(item),
    ),
  ],
  [
    'indexOf',
    ofPart(
      (text, part) => text.indexOf(part),
      (list, item) => list.indexOf(item),
    ),
  ],
  [
    'lastIndexOf',
    ofPart(
      (text, part) => text.lastIndexOf(part),
      (list, item) => list.lastIndexOf(item),
    ),
  ],
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
    {
      takes: [1, 1],
      any: (value, [name], budget) => Object.hasOwn(value as object, stringOf(name, budget)),
    },
  ],
]);

function ofPart(
  string: (text: string, part: string) => unknown,
  list?: (list: readonly unknown[], item: unknown) => unknown,
): Method {
  return {
    takes: [1, 1],
    string: (text, [part], budget) => string(text, stringOf(part, budget)),
    ...(list && { list: (whole: readonly unknown[], [item]: readonly unknown[]) => list(whole, item) }),
  };
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
