import { compareDemands, isSameValue } from './compare-demands.ts';
import { haveSameCoding } from './compare-formats.ts';
import { haveType } from './compare-types.ts';
import { keywordOf } from './keywords.ts';
import { codeOf, effectOf, kebab, placesOf, report, type Below, type Pair } from '../report.ts';
import type { SchemaView } from './read-schema.ts';
import { statedIn } from './schema-parts.ts';
import { memberOf } from '../side.ts';

/** Compares the keywords that cannot be judged by what they say, and those that are not known. */
export function compareOthers(pair: Pair, below: Below): void {
  const { before, after, walk } = pair;
  const [from, to] = [walk.before.dialect.name, walk.after.dialect.name];
  // In 2.0, a parameter is its own schema, and so is a field of a form.
  const isOwn = (keyword: string) =>
    [from, to].includes('2.0') && (pair.isText || from !== to || keyword === 'in' || keyword === 'name');
  for (const keyword of before.keywords.union(after.keywords)) {
    const { compared, restricts } = keywordOf(keyword);
    if (restricts !== null && restricts !== 'any' && !haveType(pair, restricts)) continue;
    if (keyword === 'contentEncoding' && haveSameCoding(pair)) continue;
    if (compared === 'changes') compareWhole(pair, keyword, 'changes');
    else if (compared === 'schema') compareWhole(pair, keyword, 'unknown');
    else if (compared === 'opaque' || (compared === 'parameter' && !isOwn(keyword))) compareWhole(pair, keyword, null);
  }
  compareDemands(pair);
  if (haveType(pair, 'object')) comparePropertyNames(pair, below);
}

/** Compares a keyword's values as a whole. `changed`: the effect of another value. Null: it is unknown. */
function compareWhole(pair: Pair, keyword: string, changed: 'changes' | 'unknown' | null): void {
  const [before, after] = [pair.before.all(keyword), pair.after.all(keyword)];
  if (before?.value === after?.value && isSameBelow(pair, keyword)) return;
  const effect = changed === null ? 'unknown' : effectOf(before, after, changed);
  const verb =
    before === null ? `has ${keyword}; it had none` : `${after === null ? 'no longer has' : 'has another'} ${keyword}`;
  const says = effect === 'unknown' ? `${verb}; what that means cannot be judged` : verb;
  report(pair, effect, codeOf(kebab(keyword), before, after), says, {
    before: before?.value,
    after: after?.value,
    at: placesOf(pair, before, after),
  });
}

/** Whether what the values of a keyword refer to is the same, too. */
function isSameBelow({ walk, before, after }: Pair, keyword: string): boolean {
  const [old, current] = [statedIn(before.flat.parts, keyword), statedIn(after.flat.parts, keyword)];
  return old.every(({ value }, at) => isSameValue(walk, value, current[at]?.value));
}

function comparePropertyNames(pair: Pair, below: Below): void {
  const [old, current] = [namesOf(pair.before), namesOf(pair.after)];
  const at = placesOf(pair, old[0], current[0]);
  if (old.length > 0 && current.length > 0) below(old, current);
  else if (current.length > 0)
    report(pair, 'narrows', 'property-names-set', 'restricts the names of properties', { at });
  else if (old.length > 0)
    report(pair, 'widens', 'property-names-unset', 'no longer restricts the names of properties', { at });
}

function namesOf({ side, flat }: SchemaView) {
  const names = flat.parts.flatMap((part) => memberOf(side, part, 'propertyNames') ?? []);
  return names.length === 0 ? [] : [...names, { value: { type: 'string' }, pointer: `${names[0]!.pointer}/type` }];
}
