import { compareFormats } from './compare-formats.ts';
import { haveType } from './compare-types.ts';
import { keywordOf, keywordsCompared } from './keywords.ts';
import { codeOf, effectOf, kebab, placesOf, report, sayMust, type Pair } from '../report.ts';
import { limitOf, multipleIn, type Limit } from './limits.ts';
import type { SchemaView } from './read-schema.ts';
import { statedIn } from './schema-parts.ts';

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
  const details = {
    before: old && `${old.value}`,
    after: current && `${current.value}`,
    at: placesOf(pair, old, current),
  };
  const text = (limit: Limit) => `${limit.keyword} ${limit.value}`;
  const name = kebab(keyword);
  if (old === null || current === null) {
    const says = old ? `no longer has ${text(old)}` : `has ${text(current!)}; it had no such limit`;
    return report(pair, effectOf(old, current, 'unknown'), codeOf(name, old, current), says, details);
  }
  if (current.bound === old.bound && current.isOpen === old.isOpen) return;
  // Of the same bound, one that is excluded is tighter, in both kinds.
  const isUpper = keywordOf(keyword).compared === 'upper';
  const isTighter = current.bound === old.bound ? current.isOpen : isUpper === current.bound < old.bound;
  const instead = current.keyword === old.keyword ? `${old.value}` : text(old);
  const end = isTighter === isUpper ? 'decreased' : 'increased';
  report(
    pair,
    isTighter ? 'narrows' : 'widens',
    `${name}-${end}`,
    `has ${text(current)} instead of ${instead}`,
    details,
  );
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

function compareUnique(pair: Pair): void {
  const setIn = ({ flat }: SchemaView) => statedIn(flat.parts, 'uniqueItems').find(({ value }) => value === true);
  const [before, after] = [setIn(pair.before), setIn(pair.after)];
  const [was, is] = [before !== undefined, after !== undefined];
  if (was === is) return;
  const details = { before: `${was}`, after: `${is}`, at: placesOf(pair, before, after) };
  if (is) report(pair, 'narrows', 'unique-items-set', 'no longer allows equal items', details);
  else report(pair, 'widens', 'unique-items-unset', 'allows equal items', details);
}
