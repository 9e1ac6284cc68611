import { type JsonObject, isObject, own } from '../../model/json.ts';
import { joinPointer } from '../../model/pointer.ts';
import { listOf, objectOf, textOf } from '../../render/json-value.ts';
import { itemsOf, memberOf, referenceOf, targetOf, type Place, type Side } from '../side.ts';
import { TooMuch } from '../walk.ts';
import { isText, keywordOf, keywordsCompared, textsOfValues } from './keywords.ts';
import { isAnything, plainForm, unfold } from './plain-form.ts';
import { commonMultiple, isNumeric, nearestMultiple, plus, type Numeric } from '../../model/exact-numbers.ts';

/** A schema whose value is an object, in its plain form. */
export interface Part extends Place {
  value: JsonObject;
  /** The parts that stand in it, by `allOf` or a reference. */
  inner: Set<Part>;
}

/** Schemas that all apply to the same value: one as written, or several through `allOf`. */
export type Schema = readonly Place[];

/** A schema with its references and its `allOf` resolved. */
export interface Flat {
  /** The schemas that apply together. The outermost is first. */
  parts: Part[];
  /** Whether one of them is `false`: no value is valid. */
  isNever: boolean;
  /** Where a union is that allows nothing but null. Null: there is none. */
  onlyNull: string | null;
  /** References that lead to nothing, or are read by rules that are not known here. */
  unresolved: string[];
}

/** `anyOf` or `oneOf`, without null: whether a schema allows null is judged as a whole. */
export interface Union {
  kind: 'anyOf' | 'oneOf';
  branches: Place[];
  /** Branches of `anyOf` that allow only what another one allows, such as the known values of an open enum. */
  covered: Place[];
  pointer: string;
}

/** A value and the pointer of the keyword that sets it. */
export interface Located<T> {
  value: T;
  pointer: string;
}

const maxParts = 2000;

/**
 * Resolves what applies to one value: targets of references, `allOf`, and `anyOf` or `oneOf` of one
 * schema beside null. `isListed`: values that are branches of a union are one.
 */
export function flatten(side: Side, schema: Schema, isListed = false): Flat {
  const flat: Flat = { parts: [], isNever: false, onlyNull: null, unresolved: [] };
  const seen = new Map<string, Part>();
  const stack: (Place & { owner?: Part })[] = schema.toReversed();
  for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
    const { value, pointer, owner } = place;
    if (value === false) flat.isNever = true;
    if (!isObject(value)) continue;
    const known = seen.get(pointer);
    const unfolded = unfold(plainForm(value, pointer), side.dialect.hasExclusiveFlags, isListed);
    const part: Part = known ?? { value: unfolded.schema, pointer, inner: new Set() };
    owner?.inner.add(part);
    if (known !== undefined) continue;
    seen.set(pointer, part);
    if (seen.size > maxParts) throw new TooMuch(`A schema combines more than ${maxParts} others.`);
    if (isAnything(part.value['not'])) flat.isNever = true;
    const reference = referenceOf(value);
    const isOwn = reference === '' || side.dialect.hasSiblings;
    const below: Place[] = [];
    if (isOwn) {
      flat.parts.push(part);
      below.push(...itemsOf(side, memberOf(side, part, 'allOf')), ...soleBranches(side, part, flat, isListed));
      below.push(...itemsOf(side, memberOf(side, part, 'anyOf')).flatMap((branch) => textsAround(side, branch)));
      below.push(...unfolded.always.map(([at, one]) => ({ value: one, pointer: pointer + at })));
    }
    const target = reference === '' ? null : targetOf(side, reference);
    if (reference !== '' && target === null) flat.unresolved.push(reference);
    if (target !== null) below.unshift(target);
    stack.push(...below.toReversed().map((one) => ({ ...one, owner: part })));
  }
  return flat;
}

/** A part and all that stand in it. */
export function partsIn(part: Part): Set<Part> {
  const all = new Set([part]);
  for (const one of all) for (const inner of one.inner) all.add(inner);
  return all;
}

/** The only branches of unions that have no other. */
function soleBranches(side: Side, part: Part, flat: Flat, isListed: boolean): Place[] {
  return unionsIn(side, part, isListed).flatMap(({ branches, pointer }) => {
    if (branches.length === 0) flat.onlyNull ??= pointer;
    return branches.length === 1 ? branches : [];
  });
}

/** The unions of one schema, also those that have one branch or none besides null. `isListed`: their values are one branch. */
export function unionsIn(side: Side, part: Part, isListed: boolean): Union[] {
  return (['anyOf', 'oneOf'] as const).flatMap((kind) => {
    const place = memberOf(side, part, kind);
    const all = itemsOf(side, place).flatMap((branch) => (kind === 'anyOf' ? nestedIn(side, branch) : branch));
    if (place === null || all.length === 0) return [];
    const others = all.filter((branch) => !isNull(side, branch));
    const covered = kind === 'anyOf' ? coveredIn(side, others) : new Set<Place>();
    const branches = others.filter((branch) => !covered.has(branch));
    const listed = isListed ? listValues(side, kind, branches, place.pointer) : branches;
    return [{ kind, branches: listed, covered: [...covered], pointer: place.pointer }];
  });
}

/** The branches of a union, with those that are only values as one. */
function listValues(side: Side, kind: Union['kind'], branches: Place[], pointer: string): Place[] {
  const lists = branches.map((branch) => listedIn(side, branch));
  if (lists.filter((list) => list !== null).length < 2) return branches;
  const values = valuesOfUnion(kind, lists);
  const said = branches.filter((_, at) => lists[at] !== null).map((branch) => objectOf(deref(side, branch).value));
  const texts = said.map((one) => Object.entries(one).filter(([key]) => isText(key) || key === 'deprecated'));
  const value = { enum: values, ...(texts.some((one) => one.length > 0) && { [textsOfValues]: texts }) };
  return [{ value, pointer }, ...branches.filter((_, at) => lists[at] === null)];
}

/** The values that a schema lists, if it says nothing else. */
export function listedIn(side: Side, place: Place, depth = 4): unknown[] | null {
  const target = deref(side, place);
  if (!isObject(target.value) || depth === 0) return null;
  const value = plainForm(target.value, target.pointer);
  const said = Object.keys(value).filter((key) => !isText(key));
  if (said.length === 1 && (said[0] === 'anyOf' || said[0] === 'oneOf')) {
    const lists = itemsOf(side, memberOf(side, target, said[0])).map((one) => listedIn(side, one, depth - 1));
    return lists.includes(null) ? null : valuesOfUnion(said[0], lists);
  }
  if (!said.every((key) => listing.has(key))) return null;
  const { type, enum: values, const: constant } = value;
  if ((values === undefined) === (constant === undefined)) return null;
  const listed = values === undefined ? [constant] : listOf(values);
  const types = type === undefined ? null : ownTypes({ type });
  return types === null || coversTypes(types, without(typesOfValues(listed), 'null')) ? listed : null;
}

/** `oneOf` refuses a value that two of its alternatives have. */
function valuesOfUnion(kind: Union['kind'], lists: readonly (unknown[] | null)[]): unknown[] {
  const groups = Map.groupBy(
    lists.flatMap((list) => list ?? []),
    (value) => JSON.stringify(value),
  );
  return [...groups.values()].filter((same) => kind === 'anyOf' || same.length === 1).map(([value]) => value);
}

const listing = new Set(['type', 'enum', 'const', 'nullable', 'deprecated']);

/** The branches of an `anyOf` that stands in another one. */
function nestedIn(side: Side, branch: Place, depth = 5): Place[] {
  const inner = isObject(branch.value) && !Object.keys(branch.value).some((key) => key !== 'anyOf' && !isText(key));
  const branches = inner ? itemsOf(side, memberOf(side, branch, 'anyOf')) : [];
  if (branches.length === 0 || depth === 0) return [branch];
  return branches.flatMap((one) => nestedIn(side, one, depth - 1));
}

/** The texts of branches that are only an `anyOf` themselves: those of that are compared in their place. */
function textsAround(side: Side, branch: Place, depth = 5): Place[] {
  const nested = nestedIn(side, branch, 1);
  if (depth === 0 || nested[0] === branch) return [];
  const { anyOf: _, ...texts } = objectOf(branch.value);
  return [{ value: texts, pointer: branch.pointer }, ...nested.flatMap((one) => textsAround(side, one, depth - 1))];
}

/** Whether a schema allows nothing but null, if that. */
function isNull(side: Side, place: Place, depth = 3): boolean {
  const target = deref(side, place);
  if (!isObject(target.value)) return target.value === false;
  const { type, enum: values, const: constant } = target.value;
  const [only, ...others] = listOf(values);
  if ([type].flat().join() === 'null' || constant === null || (only === null && others.length === 0)) return true;
  if (depth === 0) return false;
  const below = (keyword: string) => itemsOf(side, memberOf(side, target, keyword));
  const isOnly = (branches: Place[]) => branches.length > 0 && branches.every((one) => isNull(side, one, depth - 1));
  return below('allOf').some((one) => isNull(side, one, depth - 1)) || isOnly(below('anyOf')) || isOnly(below('oneOf'));
}

/** The branches whose values another branch allows by its type alone, or that say what another one says. */
function coveredIn(side: Side, branches: readonly Place[]): Set<Place> {
  const plain = branches.filter((branch) => isPlain(deref(side, branch).value));
  const texts = branches.map(({ value }) => JSON.stringify(value));
  const covered = new Set(branches.filter((_, at) => texts.indexOf(texts[at]!) < at));
  for (const branch of plain.length === 0 ? [] : branches) {
    const types = ownTypes(deref(side, branch).value);
    const isWithin = (other: Place) => {
      const wide = ownTypes(deref(side, other).value);
      return wide === null || (types !== null && coversTypes(wide, types));
    };
    if (plain.some((other) => other !== branch && !covered.has(other) && isWithin(other))) covered.add(branch);
  }
  return covered;
}

/** Whether a schema restricts nothing but the type. */
function isPlain(value: unknown): boolean {
  if (value === true) return true;
  return isObject(value) && Object.keys(value).every((key) => key === 'type' || key === 'nullable' || isText(key));
}

/** The types that a schema names itself, or those of its values, without null. Null: it names none. */
function ownTypes(value: unknown): ReadonlySet<string> | null {
  if (!isObject(value)) return null;
  const { type, enum: values } = value;
  const names = (Array.isArray(type) ? type : [type]).map(textOf).filter((name) => name !== '');
  if (names.includes('any')) return null;
  if (names.length > 0) return without(new Set(names), 'null');
  if (!Array.isArray(values) && !Object.hasOwn(value, 'const')) return null;
  return without(typesOfValues(Array.isArray(values) ? values : [value['const']]), 'null');
}

/** Whether all of these types are among the others. An integer is a number. */
export function coversTypes(wide: ReadonlySet<string>, narrow: ReadonlySet<string>): boolean {
  return [...narrow].every((type) => wide.has(type) || (type === 'integer' && wide.has('number')));
}

export function typesOfValues(values: readonly unknown[]): Set<string> {
  return new Set(values.map(typeOfValue));
}

function typeOfValue(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) || typeof value === 'bigint' ? 'integer' : typeof value;
}

export function without(names: ReadonlySet<string>, name: string): Set<string> {
  return names.difference(new Set([name]));
}

/** The values of a keyword, outermost first. */
export function statedIn(parts: readonly Part[], keyword: string): Located<unknown>[] {
  return parts.flatMap(({ value, pointer }) =>
    Object.hasOwn(value, keyword) && value[keyword] !== undefined
      ? [{ value: value[keyword], pointer: joinPointer(pointer, keyword) }]
      : [],
  );
}

/** The key of a pair of schemas: equal for equal places. What allows anything often stands for what is not written. */
export function keyOf(schema: Schema): string {
  const keys = schema.map(({ value, pointer, form = '' }) => `${pointer}${value === true ? ' true' : ''}${form}`);
  return keys.join(' & ');
}

/** The schema at the end of references, so that users of one component share its comparison. */
export function deref(side: Side, place: Place): Place {
  let part = place;
  for (let hops = 0; hops < 20 && isObject(part.value); hops++) {
    const reference = textOf(part.value['$ref']);
    if (reference === '' || (side.dialect.hasSiblings && Object.keys(part.value).length > 1)) break;
    const target = targetOf(side, reference);
    if (target === null) break;
    part = target;
  }
  return part;
}

/** A limit of a schema: the tightest of those that apply together. */
export interface Limit {
  keyword: string;
  value: Numeric;
  /** The last value that it allows, or the first one beyond where `isOpen`. It differs from `value` among multiples. */
  bound: Numeric;
  isOpen: boolean;
  pointer: string;
  /** Whether it follows from another keyword, whose rule says what becomes of it. */
  isImplied?: true;
}

/** The part of a schema that limits are read from. */
export interface Limited {
  side: Side;
  flat: Flat;
  pointer: string;
  types: { value: ReadonlySet<string> } | null;
  keywords: ReadonlySet<string>;
  items: { first: readonly Schema[]; isClosed: boolean };
  properties: ReadonlyMap<string, Schema>;
  required: ReadonlyMap<string, string>;
  additional: { isClosed: boolean };
}

/** The numbers of formats, where a dialect says that a format restricts. */
const ranges: Readonly<Record<string, readonly [Numeric, Numeric]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2n ** 63n), 2n ** 63n - 1n],
};

/** The least and the greatest number of a format. Null: it sets none, or only describes, as it does since 3.1. */
export function rangeOf({ dialect }: Side, format: unknown): readonly [Numeric, Numeric] | null {
  return dialect.name === '2.0' || dialect.name === '3.0' ? (own(ranges, textOf(format)) ?? null) : null;
}

const evaluatingOthers = new Set(['anyOf', 'oneOf', 'if', 'dependentSchemas', 'contains']);

function impliedBy(view: Limited, keyword: string): Limit[] {
  const { side, flat, keywords, items, properties, required, additional, pointer } = view;
  const numbers: (Numeric | null | undefined)[] = [];
  // By these, others than its own may be evaluated.
  const isOwn = (name: string) => !keywords.has(name) || keywords.isDisjointFrom(evaluatingOthers);
  if (keyword === 'maxItems' && items.isClosed && isOwn('unevaluatedItems')) numbers.push(items.first.length);
  if (keyword === 'minItems' && keywords.has('contains')) numbers.push(limitOf(view, 'minContains')?.value);
  if (keyword === 'minProperties' && required.size > 0) numbers.push(required.size);
  const isListed = additional.isClosed && !keywords.has('patternProperties') && isOwn('unevaluatedProperties');
  if (keyword === 'maxProperties' && isListed) numbers.push(properties.size);
  if (keyword === 'minimum' || keyword === 'maximum')
    for (const { value } of keywords.has('format') ? statedIn(flat.parts, 'format') : [])
      numbers.push(rangeOf(side, value)?.[keyword === 'minimum' ? 0 : 1]);
  return numbers.flatMap((value) =>
    isNumeric(value) ? [{ keyword, value, bound: value, isOpen: false, pointer, isImplied: true }] : [],
  );
}

/** The tightest limit that a keyword sets. Null: it demands nothing. */
export function limitOf(view: Limited, keyword: string): Limit | null {
  const { compared, exclusive } = keywordOf(keyword);
  const isUpper = compared === 'upper';
  const limits = [...impliedBy(view, keyword), ...statedLimits(view, keyword, exclusive)];
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

function hasOnlyIntegers({ types }: Pick<Limited, 'types'>): boolean {
  return types !== null && types.value.has('integer') && !types.value.has('number');
}

/** The number of which a value must be a multiple: of all that are stated, and of 1 where it is an integer. */
export function multipleIn(view: Pick<Limited, 'types' | 'flat'>): Numeric | null {
  const isInteger = hasOnlyIntegers(view);
  const stated = statedIn(view.flat.parts, 'multipleOf').flatMap(({ value }) =>
    isNumeric(value) && value > 0 ? [value] : [],
  );
  const all = stated.length === 0 ? null : commonMultiple(isInteger ? [1, ...stated] : stated);
  return isInteger && all === 1 ? null : all;
}

/**
 * Whether a schema's limits, beside those of another one, leave no value of a type: what is at least
 * 3 long is not at most 2 long.
 */
export function isImpossible(view: Limited, type: string, beside = view): boolean {
  const of = type === 'integer' ? 'number' : type;
  const upper = upperLimits.map((keyword) => (keywordOf(keyword).restricts === of ? limitOf(view, keyword) : null));
  return upper.some((limit, at) => {
    if (limit === null) return false;
    const least = limitOf(beside, upperLimits[at]!.replace('max', 'min'));
    const patterns = limit.keyword === 'maxLength' ? statedIn(beside.flat.parts, 'pattern') : [];
    return (
      (least !== null && areApart(limit, least)) ||
      patterns.some(({ value }) => limit.bound < shortestOf(textOf(value)))
    );
  });
}

const atom = String.raw`(?:[$^]|\\[dDwWsS.\\/-]|\[\^?[^[\]\\]+\]|[^\\^$*+?()[\]{}|])`;
const pieces = new RegExp(String.raw`${atom}(?:\{(\d+)(?:,\d*)?\}\??|([*?])\??|\+\??)?`, 'gu');

/** The fewest characters that match a pattern. 0 where that is not seen at once: it has groups or alternatives. */
function shortestOf(pattern: string): number {
  if (pattern.length > 1000 || pattern.replace(pieces, '') !== '') return 0;
  const counts = [...pattern.matchAll(pieces)].map(([piece, least, none]) =>
    none || /^[$^]/.test(piece) ? 0 : Number(least ?? 1),
  );
  return counts.reduce((one, other) => one + other, 0);
}

/** Whether a pattern matches a text. Null: one of them is too long or not plain enough to be tried. */
export function triesPattern(pattern: string, tried: string): boolean | null {
  const mayBeTried = pattern.length <= 1000 && pattern.replace(pieces, '') === '' && /^[ -~]{0,1000}$/.test(tried);
  if (!mayBeTried || pattern.replace(/[^*+}]/g, '').length > 2) return null;
  try {
    return new RegExp(pattern).test(tried);
  } catch {
    return null; // `[z-a]`
  }
}

/** Those with a lower limit beside them. */
const upperLimits = keywordsCompared('upper').filter((keyword) => keyword !== 'maxContains');

/** Whether values up to one limit end before those from another one begin. */
function areApart(upper: Limit, lower: Limit): boolean {
  return upper.bound < lower.bound || (upper.bound === lower.bound && (upper.isOpen || lower.isOpen));
}
