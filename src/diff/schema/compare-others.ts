import { compareDemands, demandKeywords, isSameValue } from './compare-demands.ts';
import { textKeywords } from './keywords.ts';
import { report, type Below, type Pair } from '../report.ts';
import type { Effect } from '../walk.ts';
import type { SchemaView } from './read-schema.ts';
import { statedIn } from './schema-parts.ts';
import { memberOf } from '../side.ts';

/** Keywords that only restrict: to set one narrows, to drop it widens, to change it may do both. */
const restrictions = new Set(['contains', 'contentSchema']);

/** Keywords whose value says how a text is written. */
const encodings = new Set(['contentEncoding', 'contentMediaType']);

/** Keywords that other files of this folder compare, or that demand nothing. */
const compared = new Set(
  'type nullable enum const properties required additionalProperties patternProperties propertyNames items prefixItems additionalItems unevaluatedItems unevaluatedProperties allOf anyOf oneOf discriminator format pattern uniqueItems multipleOf maxLength minLength maxItems minItems maxProperties minProperties maxContains minContains maximum minimum exclusiveMaximum exclusiveMinimum readOnly writeOnly deprecated default $ref $dynamicRef $recursiveRef $id id $schema $anchor $dynamicAnchor $recursiveAnchor $defs definitions $vocabulary'.split(' '), // prettier-ignore
);

/** Members of a parameter or header of OpenAPI 2.0, which is its own schema. */
const ofParameters = new Set(['in', 'name', 'collectionFormat', 'allowEmptyValue']);

/** Compares the keywords that cannot be judged by what they say, and those that are not known. */
export function compareOthers(pair: Pair, below: Below): void {
  const { before, after } = pair;
  for (const keyword of before.keywords.union(after.keywords)) {
    if (compared.has(keyword) || demandKeywords.has(keyword) || textKeywords.has(keyword) || keyword.startsWith('x-'))
      continue;
    if (pair.walk.before.dialect.name === '2.0' && ofParameters.has(keyword)) continue;
    if (pair.walk.after.dialect.name === '2.0' && ofParameters.has(keyword)) continue;
    compareKeyword(pair, keyword);
  }
  compareDemands(pair);
  comparePropertyNames(pair, below);
}

function compareKeyword(pair: Pair, keyword: string): void {
  const [before, after] = [pair.before.all(keyword), pair.after.all(keyword)];
  if (before?.value === after?.value && isSameBelow(pair, keyword)) return;
  const at = { before: before?.pointer ?? pair.before.pointer, after: after?.pointer ?? pair.after.pointer };
  const said = { before: before?.value ?? null, after: after?.value ?? null, at };
  const isSet = before === null;
  const isUnset = after === null;
  const effect: Effect =
    !restrictions.has(keyword) && !encodings.has(keyword)
      ? 'unknown'
      : isSet
        ? 'narrows'
        : isUnset
          ? 'widens'
          : encodings.has(keyword)
            ? 'changes'
            : 'unknown';
  const verb = isSet ? `has ${keyword}; it had none` : isUnset ? `no longer has ${keyword}` : `has another ${keyword}`;
  const says = effect === 'unknown' ? `${verb}; what that means cannot be judged` : verb;
  report(pair, { effect, name: `${kebab(keyword)}-${isSet ? 'set' : isUnset ? 'unset' : 'changed'}`, says, ...said });
}

/** Whether what the values of a keyword refer to is the same, too. */
function isSameBelow({ walk, before, after }: Pair, keyword: string): boolean {
  const [old, current] = [statedIn(before.flat.parts, keyword), statedIn(after.flat.parts, keyword)];
  return old.every(({ value }, at) => isSameValue(walk, value, current[at]?.value));
}

function comparePropertyNames(pair: Pair, below: Below): void {
  const [old, current] = [namesOf(pair.before), namesOf(pair.after)];
  if (old.length === 0 && current.length === 0) return;
  if (old.length > 0 && current.length > 0) return below(old, current);
  const at = { before: old[0]?.pointer ?? pair.before.pointer, after: current[0]?.pointer ?? pair.after.pointer };
  if (current.length > 0)
    report(pair, { effect: 'narrows', name: 'property-names-set', says: 'restricts the names of properties', at });
  else
    report(pair, {
      effect: 'widens',
      name: 'property-names-unset',
      says: 'no longer restricts the names of properties',
      at,
    });
}

function namesOf({ side, flat }: SchemaView) {
  return flat.parts.flatMap((part) => memberOf(side, part, 'propertyNames') ?? []);
}

function kebab(keyword: string): string {
  return (
    keyword
      .replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
      .replace(/[^a-z0-9]+/gi, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, 60) || 'keyword'
  );
}
