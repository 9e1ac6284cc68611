import { isMultipleOf, isNumeric, parseExactly, type Numeric } from '../../model/exact-numbers.ts';
import type { Direction } from '../../model/comparison.ts';
import {
  areBytes,
  haveSameCoding,
  compareFormat,
  compareNull,
  comparePattern,
  compareTypes,
  haveType,
  compareValues,
  isSameValue,
} from './compare-values.ts';
import { compareDemands } from './compare-demands.ts';
import { compareEvaluated, compareObjects, isNamed } from './compare-objects.ts';
import { compareUnions, isWrapped } from './compare-unions.ts';
import { matchBranches } from './match-branches.ts';
import {
  createPair,
  report,
  type Below,
  type CompareFurther,
  type Pair,
  codeOf,
  describeText,
  kebab,
  placesOf,
  quote,
  sayHas,
  effectOf,
  sayMust,
} from '../report.ts';
import { deref, keyOf, type Located, type Schema, statedIn, limitOf, multipleIn, type Limit } from './schema-parts.ts';
import { type SchemaView, textOfValue, viewOf } from './read-schema.ts';
import { childrenOf, dialectText, mayBeXml, type Place, memberOf } from '../side.ts';
import { createUnit, type Unit, type Walk } from '../walk.ts';
import { objectOf, textOf } from '../../render/json-value.ts';
import { pointersOf, reportPart } from '../api/report-part.ts';
import { isObject } from '../../model/json.ts';
import { judgeSunset } from '../sunset.ts';
import { isText, keywordOf, keywordsCompared } from './keywords.ts';

function compareLimits(pair: Pair): void {
  for (const keyword of limits) if (haveType(pair, keywordOf(keyword).restricts!)) compareLimit(pair, keyword);
  if (haveType(pair, 'number')) compareMultiples(pair);
  if (haveType(pair, 'array')) compareUnique(pair);
  compareFormat(pair);
  comparePattern(pair);
}

const limits = keywordsCompared('upper', 'lower');

function compareLimit(pair: Pair, keyword: string): void {
  // These count what "contains" matches. Without it they demand nothing, and it is a change of its own.
  const isContains = keyword === 'maxContains' || keyword === 'minContains';
  if (isContains && !(pair.before.keywords.has('contains') && pair.after.keywords.has('contains'))) return;
  const isUpper = keywordOf(keyword).compared === 'upper';
  const tightest = [limitOf(pair.before, keyword), limitOf(pair.after, keyword)] as const;
  const isTighter = (one: Limit | null, other: Limit | null) => {
    if (one === null || other === null || one.bound === other.bound)
      return other === null ? one !== null : one?.isOpen === true && !other.isOpen;
    return isUpper === one.bound < other.bound;
  };
  const [one, other] = tightest;
  // The rule of another keyword says what becomes of the limit that follows from it.
  const isSaid = (mine: Limit | null, its: Limit | null) => mine?.isImplied === true && !isTighter(its, mine);
  if (isSaid(one, other) || isSaid(other, one)) return;
  const isNarrower = isTighter(other, one);
  if (haveValuesWithin(isNarrower ? pair.before : pair.after, keyword, isNarrower ? other : one)) return;
  const [old, current] = tightest.map((limit) => (limit?.isImplied ? null : limit)) as [Limit | null, Limit | null];
  if (old === null && current === null) return;
  const details = {
    before: old && `${old.value}`,
    after: current && `${current.value}`,
    at: placesOf(pair, old, current),
  };
  // Among other multiples, another number is the last one.
  if (old?.value === current?.value && old?.keyword === current?.keyword) return;
  const text = (limit: Limit) => `${limit.keyword} ${limit.value}`;
  const name = kebab(keyword);
  if (old === null || current === null) {
    const says = old ? `no longer has ${text(old)}` : `has ${text(current!)}; it had no such limit`;
    return report(pair, effectOf(old, current, 'unknown'), codeOf(name, old, current), says, details);
  }
  const [narrows, widens] = [isTighter(current, old), isTighter(old, current)];
  if (!narrows && !widens) return;
  const instead = current.keyword === old.keyword ? `${old.value}` : text(old);
  const end = narrows === isUpper ? 'decreased' : 'increased';
  report(pair, narrows ? 'narrows' : 'widens', `${name}-${end}`, `has ${text(current)} instead of ${instead}`, details);
}

function haveValuesWithin({ values }: SchemaView, keyword: string, limit: Limit | null): boolean {
  if (values === null || limit === null) return false;
  const { compared, restricts } = keywordOf(keyword);
  return [...values.value].every((text) => {
    const value = parseExactly(text);
    const size = sizeOfValue(value, restricts);
    if (size === null) return true;
    if (size === limit.bound) return !limit.isOpen;
    return compared === 'upper' ? size < limit.bound : size > limit.bound;
  });
}

/** What limits of values of a type count. Null: it is of another type. */
function sizeOfValue(value: unknown, type: string | null): Numeric | null {
  if (type === 'number') return isNumeric(value) ? value : null;
  if (type === 'string') return typeof value === 'string' ? [...value].length : null;
  if (type === 'array') return Array.isArray(value) ? value.length : null;
  return isObject(value) ? Object.keys(value).length : null;
}

function compareMultiples(pair: Pair): void {
  const [old, current] = [multipleIn(pair.before), multipleIn(pair.after)];
  if (old === current) return;
  const isOf = (one: Numeric | null, other: Numeric | null) =>
    one !== null && other !== null && isMultipleOf(one, other);
  const changed = isOf(old, current) ? 'widens' : isOf(current, old) ? 'narrows' : 'changes';
  const [before, after] = [old, current].map((number) => (number === null ? null : `${number}`));
  const at = placesOf(pair, pair.before.first('multipleOf'), pair.after.first('multipleOf'));
  const says = sayMust('be a multiple of', before!, after!);
  report(pair, effectOf(old, current, changed), codeOf('multiple-of', old, current), says, { before, after, at });
}

/** Whether a part of each schema sets a flag: one is enough. */
function compareFlag(pair: Pair, keyword: string) {
  const both = [pair.before, pair.after].map(({ flat }) => statedIn(flat.parts, keyword).find(({ value }) => value === true)); // prettier-ignore
  const [was, is] = both.map((set) => set !== undefined) as [boolean, boolean];
  return { was, is, details: { before: `${was}`, after: `${is}`, at: placesOf(pair, both[0], both[1]) } };
}

function compareUnique(pair: Pair): void {
  const { was, is, details } = compareFlag(pair, 'uniqueItems');
  // One item is unique.
  const isMoot = (view: SchemaView) => (limitOf(view, 'maxItems')?.bound ?? 2) <= 1;
  if (was === is || isMoot(is ? pair.before : pair.after)) return;
  if (is) report(pair, 'narrows', 'unique-items-set', 'no longer allows equal items', details);
  else report(pair, 'widens', 'unique-items-unset', 'allows equal items', details);
}

/**
 * Compares two schemas, below a unit. A pair of schemas is compared once for each direction,
 * wherever it is used.
 */
export function compareSchemas(walk: Walk, parent: Unit, direction: Direction, before: Schema, after: Schema): void {
  compareBelow({ ...alone, walk, unit: parent, direction }, before, after);
}

const alone = { isBranch: false, isHarmless: false, beside: [[], []] } as const;

/** Null: they are the same. */
function compareBelow(given: Parameters<typeof createPair>[0], before: Schema, after: Schema): Unit | null {
  const { walk, unit: parent, direction, isBranch, isHarmless, beside } = given;
  compareIgnored(walk, parent, before[0], after[0]);
  const old = before.map((place) => deref(walk.before, place));
  const current = after.map((place) => deref(walk.after, place));
  if (old.length === current.length && old.every((place, at) => isSame(walk, place, current[at]!))) return null;
  const way = `${direction}${isBranch ? ' branch' : ''}${isHarmless ? ' harmless' : ''}`;
  const key = [way, keyOf(old), keyOf(current), ...(beside.flat().length > 0 ? beside.map(keyOf) : [])].join(' | ');
  return walk.below(parent, key, (unit) => {
    const pair = createPair({ ...given, unit }, old, current);
    for (const view of [pair.before, pair.after, ...pair.around]) if (view) walk.spend(sizeOf(view));
    comparePair(pair, {
      below(one, other, name) {
        const around = name === undefined ? alone.beside : besideOf(pair, name);
        compareBelow({ ...pair, isBranch: false, beside: around }, one, other);
      },
      within: (one, other, how) => compareBelow({ ...pair, ...how, beside: besideIn(pair, one, other) }, one, other),
      excluded: (one, other) => compareBelow({ ...alone, walk, unit: createUnit(), direction: 'both' }, one, other),
    });
  });
}

/** Tells of what stands beside a reference where its dialect ignores that. */
function compareIgnored(
  { before: { dialect }, after: { dialect: other } }: Walk,
  unit: Unit,
  before?: Place,
  after?: Place,
): void {
  if (dialect.hasSiblings || other.hasSiblings || !before || !after) return;
  const [old, current] = [objectOf(before.value), objectOf(after.value)];
  if (old['$ref'] === undefined || current['$ref'] === undefined) return;
  if (textOfValue({ ...old, $ref: '' }) === textOfValue({ ...current, $ref: '' })) return;
  const message =
    'What stands beside a "$ref" was changed; it has no effect in this version of JSON Schema or OpenAPI.';
  reportPart(unit, 'docs', 'schema-beside-reference-changed', message, { at: pointersOf({ before, after }) });
}

/** What describes a property, or items, beside a pair. */
function besideOf({ around }: Pair, name: string | null): Pair['beside'] {
  const of = (view: SchemaView | null): Schema => (name === null ? view?.items.rest : view?.properties.get(name)) ?? [];
  return [of(around[0]), of(around[1])];
}

/** What describes the values of a branch beside it: the schema around it, and what is beside that one, if they speak of the same. */
function besideIn({ before, after, beside, around, walk }: Pair, one: Schema, other: Schema): Pair['beside'] {
  const inner = [viewOf(before.side, one), viewOf(after.side, other)];
  const names = inner.flatMap(({ properties }) => [...properties.keys()]);
  walk.spend(5 + names.length);
  const isList = inner.some(({ items }) => items.rest.length > 0);
  const isSaid = (view: SchemaView | null) =>
    view !== null && ((isList && view.items.rest.length > 0) || names.some((name) => isNamed(view, name)));
  const isOpen = inner.some(({ unions }) => unions.length > 0);
  if (!isOpen && ![before, after, ...around].some(isSaid)) return alone.beside;
  const withOuter = (others: Schema, view: SchemaView) => (isDescribing(view) ? [...others, ...view.schema] : others);
  return [withOuter(beside[0], before), withOuter(beside[1], after)];
}

/** Whether a schema says itself what members there are. */
function isDescribing({ properties, additional, items, keywords }: SchemaView): boolean {
  const isSaid = [properties.size, additional.schema.length, items.rest.length].some((count) => count > 0);
  return isSaid || keywords.has('patternProperties');
}

function isSame(walk: Walk, before: Place, after: Place): boolean {
  if (!walk.same(before.value, after.value)) return false;
  if (childrenOf(walk.before, before).length + childrenOf(walk.after, after).length === 0) return true;
  const [old, current] = [before, after].map(({ pointer }) => ({ $ref: `#${pointer}` }));
  return walk.same(old, current);
}

/** How much there is to compare, in steps. */
function sizeOf({ flat, properties, required }: SchemaView): number {
  return 10 * (flat.parts.length + properties.size) + required.size;
}

function comparePair(given: Pair, further: CompareFurther): void {
  const { below } = further;
  const { before, after } = given;
  if (areBytes(given)) return compareTexts(given);
  compareNull(given);
  if (before.isNever !== after.isNever) return comparePossible(given);
  if (before.flat.isNever || after.flat.isNever) return compareTexts(given);
  const isSlip = isContradiction(before) && isContradiction(after);
  // What a slip says besides is compared as if it had no type.
  const pair = isSlip ? { ...given, types: { before: null, after: null } } : given;
  compareReferences(pair);
  if (isWrapped(pair)) compareUnions(pair, further);
  else if (isSlip || compareTypes(pair)) {
    if (isSlip && statedTypes(before) !== statedTypes(after)) compareWhole(pair, 'type', null);
    compareValues(pair);
    compareLimits(pair);
    if (haveType(pair, 'object')) compareObjects(pair, below);
    if (haveType(pair, 'array')) compareArrays(pair, below);
    compareUnions(pair, further);
    compareOthers(pair, further);
  }
  compareTexts(pair);
}

/** Whether its types contradict each other, so that it allows none of them. */
function isContradiction(view: SchemaView): boolean {
  return view.types?.value.size === 0 && !/^(?:null)?$/.test(statedTypes(view));
}

function statedTypes({ flat }: SchemaView): string {
  return [...new Set(statedIn(flat.parts, 'type').flatMap(({ value }) => value))].sort().join();
}

/** Compares a schema that allows no value besides null with one that does. */
function comparePossible(pair: Pair): void {
  const isNarrower = pair.after.isNever;
  const isNull = (isNarrower ? pair.after : pair.before).allowsNull === true;
  if (isNarrower)
    return report(pair, 'narrows', 'became-impossible', isNull ? 'allows only null' : 'no longer allows any value');
  const says = isNull ? 'allows other values; it allowed only null' : 'allows values; it allowed none';
  report(pair, 'widens', 'became-possible', says);
}

/** References that lead to nothing can only be compared as they are written. */
function compareReferences(pair: Pair): void {
  const [old, current] = [pair.before.flat.unresolved.join(', '), pair.after.flat.unresolved.join(', ')];
  if (old === current) return;
  const says = `refers to ${current || 'nothing'} instead of ${old || 'nothing'}, which cannot be compared`;
  report(pair, 'unknown', 'reference-changed', says, { before: old || null, after: current || null });
}

function compareArrays(pair: Pair, below: Below): void {
  const { before, after } = pair;
  const length = Math.max(before.items.first.length, after.items.first.length);
  // Items beyond the longest valid list cannot break anybody.
  const most = [before, after].map((view) => limitOf(view, 'maxItems'));
  const longest = Math.min(...most.map((limit) => (limit && !limit.isImplied ? Number(limit.value) : Infinity)));
  for (let at = 0; at < Math.min(length, longest); at++) below(itemAt(before, at), itemAt(after, at));
  const [old, current] = [before.items, after.items];
  const at = { before: old.pointer, after: current.pointer };
  if (old.isClosed !== current.isClosed) {
    // A limit that allows no more than the closed ones says it.
    if (most.every((limit) => limit !== null) && (old.isClosed ? most[1] : most[0])!.bound <= length) return;
    if (current.isClosed)
      report(pair, 'narrows', 'additional-items-forbidden', `allows no more than ${length} items`, { at });
    else report(pair, 'widens', 'additional-items-allowed', `allows more than ${length} items`, { at });
  } else if (!current.isClosed && length < longest && (old.rest.length > 0 || current.rest.length > 0))
    below(restOf(before), restOf(after), null);
}

function itemAt(view: SchemaView, at: number): Schema {
  const { first, isClosed } = view.items;
  return first[at] ?? (isClosed ? [{ value: false, pointer: view.items.pointer }] : restOf(view));
}

function restOf({ items, pointer }: SchemaView): Schema {
  return items.rest.length > 0 ? items.rest : [{ value: true, pointer: `${pointer}/items` }];
}

/** Compares what does not restrict values: texts, extensions, `deprecated` and `default`. */
function compareTexts(pair: Pair): void {
  // Without listed values, it is compared as they are.
  const isListed = pair.before.values !== null || pair.after.values !== null;
  const isOther = (keyword: string) => keyword === 'x-nullable' || (keyword === 'x-extensible-enum' && !isListed);
  for (const keyword of pair.before.keywords.union(pair.after.keywords))
    if (isText(keyword) && !isOther(keyword)) compareText(pair, keyword);
  compareDeprecated(pair);
  compareDefault(pair);
  const [old, current] = [pair.before, pair.after].map(({ covered }) => covered.map((place) => ({ place, schema: [place] }))); // prettier-ignore
  const { walk } = pair;
  for (const [one, other] of matchBranches(walk.before, walk.after, old!, current!).pairs)
    compareTexts({ ...pair, before: viewOf(walk.before, one.schema), after: viewOf(walk.after, other.schema) });
}

function compareText(pair: Pair, keyword: string): void {
  const [old, current] = [textsOf(pair.before, keyword), textsOf(pair.after, keyword)];
  const [gone, come] = [missingIn(current, old), missingIn(old, current)];
  if (gone === null && come === null) return;
  const stated = asStated(pair, gone, come);
  if (keyword === 'x-sunset' && pair.walk.rules.removal !== undefined) return compareSunset(pair, stated);
  const name = keyword.startsWith('x-') ? 'extension' : kebab(keyword);
  report(pair, 'docs', `${name}-changed`, describeText(keyword, stated.before, stated.after), stated);
}

function compareSunset(pair: Pair, stated: ReturnType<typeof asStated>): void {
  const textAt = (view: SchemaView) => textOf(view.first('x-sunset')?.value) || null;
  const judged = judgeSunset(pair.walk, textAt(pair.before), textAt(pair.after));
  if (judged) report(pair, judged.verdict, `sunset-${judged.name}`, judged.says, { ...stated, isSideless: true });
}

/** What a schema says itself, in several parts of `allOf`, or adds as words alone to what it refers to; else what that says. */
function textsOf({ flat: { parts }, pointer, schema }: Pair['before'], keyword: string): readonly Located<unknown>[] {
  const places = [pointer, ...schema.map((place) => place.pointer)];
  const isOwn = (one: { pointer: string }) =>
    places.some((place) => one.pointer === place || one.pointer.startsWith(`${place}/`));
  const { own = [], others = [] } = Object.groupBy(statedIn(parts, keyword), (one) => (isOwn(one) ? 'own' : 'others'));
  const isBeside = (key: string) => isText(key) || key === 'allOf' || key === '$ref';
  const isPlain = !parts.some((part) => isOwn(part) && !Object.keys(part.value).every(isBeside));
  return own.length === 0 || isPlain ? [...own, ...others] : own;
}

/** The first of the values that no other list has. Null: there is none. */
function missingIn(others: readonly Located<unknown>[], values: readonly Located<unknown>[]): Located<unknown> | null {
  const texts = new Set(others.map(({ value }) => textOfValue(value)));
  return values.find(({ value }) => !texts.has(textOfValue(value))) ?? null;
}

/** The values of a keyword as texts, and where they stand. Null: absent. */
function asStated(pair: Pair, before: Located<unknown> | null, after: Located<unknown> | null) {
  const [old, current] = [before && textOfValue(before.value), after && textOfValue(after.value)];
  return { before: old, after: current, at: placesOf(pair, before, after) };
}

function compareDeprecated(pair: Pair): void {
  const { was, is, details } = compareFlag(pair, 'deprecated');
  const says = `is ${is ? '' : 'no longer '}deprecated`;
  if (was !== is) report(pair, 'safe', is ? 'deprecated' : 'reactivated', says, { ...details, isSideless: true });
}

/** A default is what the server takes where a request says nothing. A response only describes it. */
function compareDefault(pair: Pair): void {
  const stated = asStated(pair, pair.before.first('default'), pair.after.first('default'));
  const { before, after } = stated;
  if (before === after) return;
  const says = sayHas('the default', before && quote(before), after && quote(after));
  report(pair, pair.direction === 'response' ? 'safe' : 'risky', codeOf('default', before, after), says, stated);
}

/** Compares the keywords that cannot be judged by what they say, and those that are not known. */
function compareOthers(pair: Pair, further: CompareFurther): void {
  const { below } = further;
  const { before, after, walk } = pair;
  const [from, to] = [walk.before.dialect.name, walk.after.dialect.name];
  // In 2.0, a parameter is its own schema, and so is a field of a form.
  const isOwn = (keyword: string) =>
    [from, to].includes('2.0') && (pair.isText || from !== to || keyword === 'in' || keyword === 'name');
  const dialectIn = ({ side, first }: SchemaView) => dialectText(first('$schema')?.value ?? side.document['$schema']);
  for (const keyword of before.keywords.union(after.keywords)) {
    const { compared, restricts } = keywordOf(keyword);
    if (restricts !== null && restricts !== 'any' && !haveType(pair, restricts)) continue;
    if (keyword === 'contentEncoding' && haveSameCoding(pair)) continue;
    if (keyword === 'contains' && ![before, after].some(needsContains)) continue;
    if (keyword === '$schema' && dialectIn(before) === dialectIn(after)) continue;
    if (compared === 'changes') compareWhole(pair, keyword, 'changes');
    else if (keyword === 'xml' && ![walk.before, walk.after].some(mayBeXml)) compareWhole(pair, keyword, 'docs');
    else if (compared === 'schema') compareSubschema(pair, keyword, below);
    else if (compared === 'opaque' || (compared === 'parameter' && !isOwn(keyword))) compareWhole(pair, keyword, null);
  }
  compareDemands(pair, further);
  compareEvaluated(pair);
  if (haveType(pair, 'object')) comparePropertyNames(pair, below);
}

function needsContains({ keywords, first }: SchemaView): boolean {
  return keywords.has('contains') && (first('minContains')?.value !== 0 || keywords.has('maxContains'));
}

/** Compares the schema of a keyword that allows more where its schema does. */
function compareSubschema(pair: Pair, keyword: string, below: Below): void {
  const both = [pair.before, pair.after];
  const [old, current] = both.map(({ side, flat }) =>
    flat.parts.flatMap((part) => memberOf(side, part, keyword) ?? []),
  );
  // What must not match more items than some, or need not match any, is not of this kind.
  const isOther = both.some(({ keywords }) => keywords.has('maxContains') || keywords.has('unevaluatedItems'));
  const isPlain = keyword !== 'contains' || (!isOther && both.every(needsContains));
  if (old!.length === 1 && current!.length === 1 && isPlain) below(old!, current!);
  else compareWhole(pair, keyword, 'unknown');
}

/** Compares a keyword's values as a whole. `changed`: the effect of another value. Null: it is unknown. */
function compareWhole(pair: Pair, keyword: string, changed: 'changes' | 'unknown' | 'docs' | null): void {
  const [before, after] = [pair.before.all(keyword), pair.after.all(keyword)];
  if (before?.value === after?.value && isSameBelow(pair, keyword)) return;
  const effect = changed === null ? 'unknown' : changed === 'docs' ? changed : effectOf(before, after, changed);
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
  const current = statedIn(after.flat.parts, keyword);
  return statedIn(before.flat.parts, keyword).every(({ value }, at) => isSameValue(walk, value, current[at]?.value));
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
