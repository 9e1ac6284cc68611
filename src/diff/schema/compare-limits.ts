import { compareFormats } from './compare-formats.ts';
import { haveType } from './compare-types.ts';
import { report, type Pair } from '../report.ts';
import type { Effect } from '../walk.ts';
import type { SchemaView } from './read-schema.ts';
import { statedIn } from './schema-parts.ts';

/** A limit of a schema: the tightest of those that apply together. */
interface Limit {
  keyword: string;
  value: number;
  isExclusive: boolean;
  pointer: string;
}

interface Kind {
  /** In codes. */
  name: string;
  keyword: string;
  /** The keyword of the same limit without its own value. */
  exclusive: string | null;
  isUpper: boolean;
  /** The type of the values that it limits. */
  type: string;
}

const kinds: readonly Kind[] = [
  { name: 'max-length', keyword: 'maxLength', exclusive: null, isUpper: true, type: 'string' },
  { name: 'max-items', keyword: 'maxItems', exclusive: null, isUpper: true, type: 'array' },
  { name: 'max-properties', keyword: 'maxProperties', exclusive: null, isUpper: true, type: 'object' },
  { name: 'max-contains', keyword: 'maxContains', exclusive: null, isUpper: true, type: 'array' },
  { name: 'maximum', keyword: 'maximum', exclusive: 'exclusiveMaximum', isUpper: true, type: 'number' },
  { name: 'min-length', keyword: 'minLength', exclusive: null, isUpper: false, type: 'string' },
  { name: 'min-items', keyword: 'minItems', exclusive: null, isUpper: false, type: 'array' },
  { name: 'min-properties', keyword: 'minProperties', exclusive: null, isUpper: false, type: 'object' },
  { name: 'min-contains', keyword: 'minContains', exclusive: null, isUpper: false, type: 'array' },
  { name: 'minimum', keyword: 'minimum', exclusive: 'exclusiveMinimum', isUpper: false, type: 'number' },
];

/** The limits of numbers. */
export const numberLimits = {
  maximum: kinds.find(({ name }) => name === 'maximum')!,
  minimum: kinds.find(({ name }) => name === 'minimum')!,
};

/** Compares limits of numbers, texts, lists and objects, formats and patterns. */
export function compareLimits(pair: Pair): void {
  for (const kind of kinds) if (haveType(pair, kind.type)) compareLimit(pair, kind);
  if (haveType(pair, 'number')) compareMultiples(pair);
  if (haveType(pair, 'array')) compareUnique(pair);
  compareFormats(pair);
}

function compareLimit(pair: Pair, kind: Kind): void {
  const isContains = kind.name.endsWith('-contains');
  // These count what "contains" matches. Without it they demand nothing, and it is a change of its own.
  if (isContains && !(pair.before.keywords.has('contains') && pair.after.keywords.has('contains'))) return;
  const [old, current] = [limitOf(pair.before, kind), limitOf(pair.after, kind)];
  const at = { before: old?.pointer ?? pair.before.pointer, after: current?.pointer ?? pair.after.pointer };
  const said = { before: old && `${old.value}`, after: current && `${current.value}`, at };
  const text = (limit: Limit) => `${limit.keyword} ${limit.value}`;
  if (old === null && current === null) return;
  if (old === null)
    return report(pair, {
      effect: 'narrows',
      name: `${kind.name}-set`,
      says: `has ${text(current!)}; it had no such limit`,
      ...said,
    });
  if (current === null)
    return report(pair, { effect: 'widens', name: `${kind.name}-unset`, says: `no longer has ${text(old)}`, ...said });
  const difference = current.value - old.value || Number(current.isExclusive) - Number(old.isExclusive);
  if (difference === 0) return;
  // An exclusive limit of the same value is tighter, in both kinds.
  const isTighter = current.value === old.value ? current.isExclusive : kind.isUpper === current.value < old.value;
  const isIncreased = current.value === old.value ? kind.isUpper !== current.isExclusive : current.value > old.value;
  const effect: Effect = isTighter ? 'narrows' : 'widens';
  const name = `${kind.name}-${isIncreased ? 'increased' : 'decreased'}`;
  const instead = current.keyword === old.keyword ? `${old.value}` : text(old);
  report(pair, { effect, name, says: `has ${text(current)} instead of ${instead}`, ...said });
}

/** The tightest limit of a kind. */
export function limitOf(view: SchemaView, { keyword, exclusive, isUpper }: Kind): Limit | null {
  const { flat, side, types, keywords } = view;
  if (!keywords.has(keyword) && (exclusive === null || !keywords.has(exclusive)))
    return keyword === 'minContains' ? { keyword, value: 1, isExclusive: false, pointer: view.pointer } : null;
  const { hasExclusiveFlags } = side.dialect;
  const found: Limit[] = statedIn(flat.parts, keyword).flatMap(({ value, pointer }) =>
    typeof value === 'number' ? [{ keyword, value, isExclusive: false, pointer }] : [],
  );
  if (exclusive !== null && hasExclusiveFlags) {
    for (const limit of found) {
      const owner = flat.parts.find((part) => `${part.pointer}/${keyword}` === limit.pointer);
      if (owner?.value[exclusive] === true) Object.assign(limit, { isExclusive: true, keyword: exclusive });
    }
  } else if (exclusive !== null) {
    for (const { value, pointer } of statedIn(flat.parts, exclusive))
      if (typeof value === 'number') found.push({ keyword: exclusive, value, isExclusive: true, pointer });
  }
  // `minLength: 0` demands nothing.
  const effective = found.filter(
    ({ value }) => isUpper || exclusive !== null || value > 0 || keyword === 'minContains',
  );
  const isInteger = types !== null && [...types.value].every((type) => type === 'integer');
  const tightest = effective.sort(
    (a, b) => (isUpper ? a.value - b.value : b.value - a.value) || Number(b.isExclusive) - Number(a.isExclusive),
  )[0];
  if (tightest === undefined) return null;
  if (!isInteger || !tightest.isExclusive || !Number.isInteger(tightest.value)) return tightest;
  return { ...tightest, keyword, value: tightest.value + (isUpper ? -1 : 1), isExclusive: false };
}

function compareMultiples(pair: Pair): void {
  const [before, after] = [pair.before.first('multipleOf'), pair.after.first('multipleOf')];
  const [old, current] = [multipleIn(pair.before), multipleIn(pair.after)];
  if (old === current) return;
  const at = { before: before?.pointer ?? pair.before.pointer, after: after?.pointer ?? pair.after.pointer };
  const said = { before: old === null ? null : `${old}`, after: current === null ? null : `${current}`, at };
  if (old === null)
    return report(pair, {
      effect: 'narrows',
      name: 'multiple-of-set',
      says: `must be a multiple of ${current}`,
      ...said,
    });
  if (current === null)
    return report(pair, {
      effect: 'widens',
      name: 'multiple-of-unset',
      says: `need not be a multiple of ${old} any more`,
      ...said,
    });
  const effect: Effect = Number.isInteger(old / current)
    ? 'widens'
    : Number.isInteger(current / old)
      ? 'narrows'
      : 'changes';
  report(pair, {
    effect,
    name: 'multiple-of-changed',
    says: `must be a multiple of ${current} instead of ${old}`,
    ...said,
  });
}

/** The number of which a value must be a multiple: of all that are stated. */
function multipleIn({ flat, types }: SchemaView): number | null {
  // Integers are multiples of 1 anyway.
  const isInteger = types !== null && [...types.value].every((type) => type === 'integer');
  const stated = statedIn(flat.parts, 'multipleOf').flatMap(({ value }) =>
    typeof value === 'number' && !(isInteger && value === 1) ? [value] : [],
  );
  if (stated.length < 2 || !stated.every(Number.isInteger)) return stated[0] ?? null;
  return stated.reduce((one, other) => (one * other) / greatestDivisor(one, other));
}

function greatestDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestDivisor(other, one % other);
}

function compareUnique(pair: Pair): void {
  const isSet = ({ flat }: SchemaView) => statedIn(flat.parts, 'uniqueItems').find(({ value }) => value === true);
  const [before, after] = [isSet(pair.before), isSet(pair.after)];
  if ((before?.value === true) === (after?.value === true)) return;
  const at = { before: before?.pointer ?? pair.before.pointer, after: after?.pointer ?? pair.after.pointer };
  if (after?.value === true)
    report(pair, {
      effect: 'narrows',
      name: 'unique-items-set',
      says: 'no longer allows equal items',
      before: 'false',
      after: 'true',
      at,
    });
  else
    report(pair, {
      effect: 'widens',
      name: 'unique-items-unset',
      says: 'allows equal items',
      before: 'true',
      after: 'false',
      at,
    });
}
