import { compareFormats } from './compare-formats.ts';
import { haveType } from './compare-types.ts';
import { keywordOf, keywordsCompared } from './keywords.ts';
import { codeOf, effectOf, kebab, placesOf, report, sayMust, type Pair } from '../report.ts';
import type { SchemaView } from './read-schema.ts';
import { statedIn } from './schema-parts.ts';

/** A limit of a schema: the tightest of those that apply together. */
interface Limit {
  keyword: string;
  value: number;
  isExclusive: boolean;
  pointer: string;
}

/** Compares limits of numbers, texts, lists and objects, formats and patterns. */
export function compareLimits(pair: Pair): void {
  for (const keyword of limits) if (haveType(pair, keywordOf(keyword).restricts!)) compareLimit(pair, keyword);
  if (haveType(pair, 'number')) compareMultiples(pair);
  if (haveType(pair, 'array')) compareUnique(pair);
  compareFormats(pair);
}

const limits = keywordsCompared('upper', 'lower');

function compareLimit(pair: Pair, keyword: string): void {
  // These count what "contains" matches. Without it they demand nothing, and it is a change of its own.
  const isContains = keyword === 'maxContains' || keyword === 'minContains';
  if (isContains && !(pair.before.keywords.has('contains') && pair.after.keywords.has('contains'))) return;
  const [old, current] = [limitOf(pair.before, keyword), limitOf(pair.after, keyword)];
  if (old === null && current === null) return;
  const said = {
    before: old && `${old.value}`,
    after: current && `${current.value}`,
    at: placesOf(pair, old, current),
  };
  const text = (limit: Limit) => `${limit.keyword} ${limit.value}`;
  const name = kebab(keyword);
  if (old === null || current === null) {
    const says = old ? `no longer has ${text(old)}` : `has ${text(current!)}; it had no such limit`;
    return report(pair, effectOf(old, current, 'unknown'), codeOf(name, old, current), says, said);
  }
  const isSameValue = current.value === old.value;
  if (isSameValue && current.isExclusive === old.isExclusive) return;
  // An exclusive limit of the same value is tighter, in both kinds.
  const isUpper = keywordOf(keyword).compared === 'upper';
  const isTighter = isSameValue ? current.isExclusive : isUpper === current.value < old.value;
  const instead = current.keyword === old.keyword ? `${old.value}` : text(old);
  const end = isTighter === isUpper ? 'decreased' : 'increased';
  report(pair, isTighter ? 'narrows' : 'widens', `${name}-${end}`, `has ${text(current)} instead of ${instead}`, said);
}

/** The tightest limit that a keyword sets. */
export function limitOf(view: SchemaView, keyword: string): Limit | null {
  const { flat, side, types, keywords } = view;
  const { compared, exclusive } = keywordOf(keyword);
  const isUpper = compared === 'upper';
  if (!keywords.has(keyword) && (exclusive === null || !keywords.has(exclusive)))
    return keyword === 'minContains' ? { keyword, value: 1, isExclusive: false, pointer: view.pointer } : null;
  const numbersOf = (name: string, isExclusive: boolean): Limit[] =>
    statedIn(flat.parts, name).flatMap(({ value, pointer }) =>
      typeof value === 'number' ? [{ keyword: name, value, isExclusive, pointer }] : [],
    );
  const found = numbersOf(keyword, false);
  if (exclusive !== null && side.dialect.hasExclusiveFlags) {
    for (const limit of found) {
      const owner = flat.parts.find((part) => `${part.pointer}/${keyword}` === limit.pointer);
      if (owner?.value[exclusive] === true) Object.assign(limit, { isExclusive: true, keyword: exclusive });
    }
  } else if (exclusive !== null) found.push(...numbersOf(exclusive, true));
  // `minLength: 0` demands nothing.
  const effective = found.filter(
    ({ value }) => isUpper || exclusive !== null || value > 0 || keyword === 'minContains',
  );
  const tightest = effective.sort(
    (a, b) => (isUpper ? a.value - b.value : b.value - a.value) || Number(b.isExclusive) - Number(a.isExclusive),
  )[0];
  if (tightest === undefined) return null;
  const isInteger = types !== null && [...types.value].every((type) => type === 'integer');
  if (!isInteger || !tightest.isExclusive || !Number.isInteger(tightest.value)) return tightest;
  return { ...tightest, keyword, value: tightest.value + (isUpper ? -1 : 1), isExclusive: false };
}

function compareMultiples(pair: Pair): void {
  const [old, current] = [multipleIn(pair.before), multipleIn(pair.after)];
  if (old === current) return;
  const isMultiple = (one: number, other: number) => Number.isInteger(one / other);
  const changed = isMultiple(old!, current!) ? 'widens' : isMultiple(current!, old!) ? 'narrows' : 'changes';
  const [before, after] = [old, current].map((number) => (number === null ? null : `${number}`));
  const at = placesOf(pair, pair.before.first('multipleOf'), pair.after.first('multipleOf'));
  const says = sayMust('be a multiple of', before!, after!);
  report(pair, effectOf(old, current, changed), codeOf('multiple-of', old, current), says, { before, after, at });
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
  const setIn = ({ flat }: SchemaView) => statedIn(flat.parts, 'uniqueItems').find(({ value }) => value === true);
  const [before, after] = [setIn(pair.before), setIn(pair.after)];
  const [was, is] = [before !== undefined, after !== undefined];
  if (was === is) return;
  const said = { before: `${was}`, after: `${is}`, at: placesOf(pair, before, after) };
  if (is) report(pair, 'narrows', 'unique-items-set', 'no longer allows equal items', said);
  else report(pair, 'widens', 'unique-items-unset', 'allows equal items', said);
}
