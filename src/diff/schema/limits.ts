import { isNumeric, nearestMultiple, plus, type Numeric } from '../../model/exact-numbers.ts';
import { keywordOf, keywordsCompared } from './keywords.ts';
import { statedIn, type Flat } from './schema-parts.ts';
import type { Side } from '../side.ts';

/** A limit of a schema: the tightest of those that apply together. */
export interface Limit {
  keyword: string;
  value: Numeric;
  /** The last value that it allows, or the first one beyond where `isOpen`. It differs from `value` among multiples. */
  bound: Numeric;
  isOpen: boolean;
  pointer: string;
}

/** The part of a schema that limits are read from. */
export interface Limited {
  side: Side;
  flat: Flat;
  pointer: string;
  types: { value: ReadonlySet<string> } | null;
  keywords: ReadonlySet<string>;
}

/** The tightest limit that a keyword sets. Null: it demands nothing. */
export function limitOf(view: Limited, keyword: string): Limit | null {
  const { compared, exclusive } = keywordOf(keyword);
  const isUpper = compared === 'upper';
  const limits = statedLimits(view, keyword, exclusive);
  if (keyword === 'minContains' && limits.length === 0)
    return { keyword, value: 1, bound: 1, isOpen: false, pointer: view.pointer };
  const step = exclusive === null || limits.length === 0 ? null : stepOf(view);
  const rounded = limits.map((limit) => (step === null ? limit : { ...limit, ...lastMultiple(limit, step, isUpper) }));
  // `minLength: 0` demands nothing.
  const isEffective = ({ value }: Limit) => isUpper || exclusive !== null || value > 0 || keyword === 'minContains';
  const tightest = rounded
    .filter(isEffective)
    .sort(
      (a, b) =>
        (isUpper ? byNumber(a.bound, b.bound) : byNumber(b.bound, a.bound)) || Number(b.isOpen) - Number(a.isOpen),
    );
  return tightest[0] ?? null;
}

function statedLimits({ side, flat, keywords }: Limited, keyword: string, exclusive: string | null): Limit[] {
  const numbers = (name: string, isOpen: boolean): Limit[] =>
    !keywords.has(name)
      ? []
      : statedIn(flat.parts, name).flatMap(({ value, pointer }) =>
          isNumeric(value) ? [{ keyword: name, value, bound: value, isOpen, pointer }] : [],
        );
  if (exclusive === null) return numbers(keyword, false);
  if (!side.dialect.hasExclusiveFlags) return [...numbers(keyword, false), ...numbers(exclusive, true)];
  return numbers(keyword, false).map((limit) => {
    const owner = flat.parts.find((part) => `${part.pointer}/${keyword}` === limit.pointer);
    return owner?.value[exclusive] === true ? { ...limit, keyword: exclusive, isOpen: true } : limit;
  });
}

/** The last number that a limit allows of those that are multiples. */
function lastMultiple({ bound, isOpen }: Limit, step: number, isUpper: boolean): { bound: Numeric; isOpen: boolean } {
  const nearest = nearestMultiple(bound, step, isUpper);
  return { bound: isOpen && nearest === bound ? plus(bound, isUpper ? -step : step) : nearest, isOpen: false };
}

function byNumber(one: Numeric, other: Numeric): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

function stepOf(view: Limited): number | null {
  const multiple = multipleIn(view);
  if (multiple !== null)
    return typeof multiple === 'number' && Number.isInteger(multiple) && multiple > 0 ? multiple : null;
  return hasOnlyIntegers(view) ? 1 : null;
}

/** Whether all numbers of a schema are integers. */
function hasOnlyIntegers({ types }: Limited): boolean {
  return types !== null && types.value.has('integer') && !types.value.has('number');
}

/** The number of which a value must be a multiple: of all that are stated. */
export function multipleIn(view: Limited): Numeric | null {
  const isInteger = hasOnlyIntegers(view);
  const stated = statedIn(view.flat.parts, 'multipleOf').flatMap(({ value }) =>
    isNumeric(value) && !(isInteger && value === 1) ? [value] : [],
  );
  if (stated.length < 2 || !stated.every((value) => Number.isInteger(value))) return stated[0] ?? null;
  return (stated as number[]).reduce((one, other) => (one * other) / greatestDivisor(one, other));
}

function greatestDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestDivisor(other, one % other);
}

/** Whether a schema's limits leave no value of a type: what is at least 3 long is not at most 2 long. */
export function isImpossible(view: Limited, type: string): boolean {
  const of = type === 'integer' ? 'number' : type;
  const upper = upperLimits.map((keyword) => (keywordOf(keyword).restricts === of ? limitOf(view, keyword) : null));
  return upper.some((limit, at) => {
    const least = limit && limitOf(view, upperLimits[at]!.replace('max', 'min'));
    return least !== null && areApart(limit!, least);
  });
}

/** Those with a lower limit beside them. */
const upperLimits = keywordsCompared('upper').filter((keyword) => keyword !== 'maxContains');

/** Whether values up to one limit end before those from another one begin. */
export function areApart(upper: Limit, lower: Limit): boolean {
  return upper.bound < lower.bound || (upper.bound === lower.bound && (upper.isOpen || lower.isOpen));
}
