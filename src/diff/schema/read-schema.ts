import { isObject, type JsonObject } from '../../model/json.ts';
import { isDigits } from '../../model/exact-numbers.ts';
import { entriesOf, listOf, objectOf, textOf } from '../../render/json-value.ts';
import { TooMuch } from '../walk.ts';
import { itemsOf, memberOf, membersOf, type Place, type Side, referenceOf, targetOf } from '../side.ts';
import { isAnything } from './plain-form.ts';
import {
  coversTypes,
  isImpossible,
  partsIn,
  multipleIn,
  type Limited,
  flatten,
  statedIn,
  listedIn,
  typesOfValues,
  unionsIn,
  without,
  type Flat,
  type Part,
  type Schema,
  type Located,
  type Union,
} from './schema-parts.ts';

/** What a schema demands of a value, with `allOf` merged. */
export interface SchemaView {
  side: Side;
  schema: Schema;
  flat: Flat;
  /** Where it stands: the schema as written, or the target of its reference. */
  pointer: string;
  allowsNull: Answer;
  /** Whether no value is valid, or none but null. */
  isNever: boolean;
  /** The stated types, or else those of the stated values, without null. Null: any type. */
  types: (Located<ReadonlySet<string>> & { isStated: boolean }) | null;
  /** The allowed values by their JSON text, without null. Null: any. */
  values: Located<ReadonlySet<string>> | null;
  /** Values that are named beside a type that allows them anyway, by their JSON text. Null: none. */
  names: Located<ReadonlySet<string>> | null;
  /** Alternatives that allow only what another one allows. */
  covered: readonly Place[];
  /** Own properties. One may be described in several places. */
  properties: ReadonlyMap<string, Schema>;
  /** Names of required properties, with the place of the list that has them. */
  required: ReadonlyMap<string, string>;
  /** Names of properties that a part with `additionalProperties: false` does not have. */
  blocked: ReadonlySet<string>;
  /** Other properties: whether they are allowed, their schema, and that of words alone. */
  additional: { isClosed: boolean; schema: Schema; words: Schema; pointer: string };
  /** The items of lists: the first ones, and the others. */
  items: { first: readonly Schema[]; rest: Schema; isClosed: boolean; pointer: string };
  /** Its unions of several branches. */
  unions: Union[];
  keywords: ReadonlySet<string>;
  /** The first value of a keyword, and where. */
  first(keyword: string): Located<unknown> | null;
  /** All values of a keyword, as one text that shows whether they differ. Null: absent. */
  all(keyword: string): Located<string> | null;
}

/** Reads a schema. `isListed`: values that are branches of a union are one. */
export function viewOf(side: Side, schema: Schema, isListed = false): SchemaView {
  const flat = flatten(side, schema, isListed);
  const { parts } = flat;
  const keywords = new Set(parts.flatMap(({ value }) => Object.keys(value)));
  const first = (keyword: string) => (keywords.has(keyword) ? (statedIn(parts, keyword)[0] ?? null) : null);
  const hasUnions = keywords.has('anyOf') || keywords.has('oneOf');
  const unions = hasUnions ? parts.flatMap((part) => unionsIn(side, part, isListed)) : [];
  const covered = unions.flatMap((union) => union.covered);
  const properties = propertiesOf(side, parts);
  const pointer = parts[0]?.pointer ?? schema[0]?.pointer ?? '';
  const allowsNull = allAccept(schema.map((place) => acceptsAt(side, place)));
  const required = new Map(
    statedIn(parts, 'required').flatMap(({ value, pointer: at }) =>
      listOf(value).flatMap((name, index) => (typeof name === 'string' ? [[name, `${at}/${index}`]] : [])),
    ),
  );
  const read = { side, flat, pointer, keywords, properties, required };
  const more = { additional: additionalOf(side, parts), items: readItems(side, parts) };
  const types = possibleTypes({ ...read, ...more, types: typesOf(flat) });
  return {
    ...read,
    ...more,
    schema,
    allowsNull,
    isNever: flat.isNever || (types?.value.size === 0 && allowsNull === false),
    types,
    values: valuesOf(side, flat, types),
    covered,
    names: knownOf(side, covered),
    blocked: blockedIn(parts, properties),
    unions: unions.filter(({ branches }) => branches.length > 1),
    first,
    all(keyword) {
      const stated = keywords.has(keyword) ? statedIn(parts, keyword) : [];
      if (stated.length === 0) return null;
      return { value: stated.map(({ value }) => textOfValue(value)).join(' and '), pointer: stated[0]!.pointer };
    },
  };
}

/** The types of a schema, or else those that the branches of its unions state. Null: any. */
export function typesIn({ side, types, unions }: SchemaView): ReadonlySet<string> | null {
  if (types !== null) return types.value;
  const all = unions.flatMap(({ branches }) => {
    const stated = branches.map((branch) => viewOf(side, [branch]).types?.value);
    return stated.includes(undefined) ? [] : [new Set(stated.flatMap((names) => [...names!]))];
  });
  return all.length === 0 ? null : all.reduce(intersect);
}

/** Types in a sentence. */
export function namesOfTypes(types: ReadonlySet<string>, allowsNull: Answer): string {
  return [...types, ...(allowsNull === true ? ['null'] : [])].join(' or ') || 'none';
}

/** A JSON value as text, with sorted members. Equal values have equal texts. */
export function textOfValue(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    isObject(member) && !isDigits(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  );
}

/** The types of which some value is within the limits. */
function possibleTypes(limited: Limited & Pick<SchemaView, 'types'>): SchemaView['types'] {
  const { types } = limited;
  return types && { ...types, value: new Set([...types.value].filter((type) => !isImpossible(limited, type))) };
}

function typesOf(flat: Flat): SchemaView['types'] {
  const { parts, onlyNull } = flat;
  const stated = statedIn(parts, 'type').flatMap(({ value, pointer }) => {
    const names = (Array.isArray(value) ? value : [value])
      .map(textOf)
      .map((name) => (name === 'file' ? 'string' : name));
    return names.some((name) => name === '' || name === 'any') ? [] : [{ value: new Set(names), pointer }];
  });
  if (onlyNull !== null) stated.push({ value: new Set(), pointer: onlyNull });
  const listed = valueLists(parts).map(({ value, pointer }) => ({ value: typesOfValues(value), pointer }));
  const [first] = [...stated, ...listed];
  if (first === undefined) return null;
  const types = [...stated, ...listed].map(({ value }) => value).reduce(intersect);
  // Values of another type than the stated one, such as `1` for `"1"`, are the author's slip.
  const isSlip = types.size === 0 && stated.length > 0;
  const value = without(isSlip ? stated.map((one) => one.value).reduce(intersect) : types, 'null');
  // Multiples of an integer are integers.
  if (Number.isInteger(Number(multipleIn({ flat, types: null }) ?? 0.5)) && value.delete('number'))
    value.add('integer');
  return { value, pointer: first.pointer, isStated: stated.length > 0 };
}

/** The types that two schemas both allow. Null: any. */
export function typesInCommon(one: SchemaView, other: SchemaView): Set<string> | null {
  const [types, others] = [typesIn(one), typesIn(other)];
  if (types && others) return intersect(types, others);
  const stated = types ?? others;
  return stated && new Set(stated);
}

function intersect(one: ReadonlySet<string>, other: ReadonlySet<string>): Set<string> {
  const both = new Set([...one].filter((name) => other.has(name) || (name === 'integer' && other.has('number'))));
  if (other.has('integer') && one.has('number')) both.add('integer');
  return both;
}

function valuesOf(side: Side, { parts }: Flat, types: SchemaView['types']): SchemaView['values'] {
  const isOfType = (value: unknown) => value === null || coversTypes(types!.value, typesOfValues([value]));
  const stated = valueLists(parts).map(({ value, pointer }) => {
    // Where all are of another type, that is the author's slip.
    const possible = value.some((one) => one !== null && isOfType(one)) ? value.filter(isOfType) : value;
    return { value: new Set(possible.map(textOfValue)), pointer };
  });
  if (stated.length === 0) return null;
  const values = stated.map(({ value }) => value).reduce((one, other) => one.intersection(other));
  for (const part of parts) {
    const excluded = memberOf(side, part, 'not');
    for (const value of (excluded && listedIn(side, excluded)) ?? []) values.delete(textOfValue(value));
  }
  return { value: without(values, 'null'), pointer: stated[0]!.pointer };
}

function valueLists(parts: readonly Part[]): Located<unknown[]>[] {
  return [
    ...statedIn(parts, 'enum').map(({ value, pointer }) => ({ value: listOf(value), pointer })),
    ...statedIn(parts, 'const').map(({ value, pointer }) => ({ value: [value], pointer })),
  ];
}

function knownOf(side: Side, covered: readonly Place[]): SchemaView['names'] {
  const lists = covered.flatMap((place) => valueLists(flatten(side, [place]).parts));
  if (lists.length === 0) return null;
  const values = new Set(lists.flatMap(({ value }) => value.map(textOfValue)));
  return { value: without(values, 'null'), pointer: lists[0]!.pointer };
}

function propertiesOf(side: Side, parts: readonly Part[]): Map<string, Place[]> {
  const properties = new Map<string, Place[]>();
  for (const part of parts)
    for (const [name, place] of membersOf(side, memberOf(side, part, 'properties')))
      properties.getOrInsertComputed(name, () => []).push(place);
  // What a part says of other properties applies to those that only another part names.
  for (const part of parts.length > 1 ? parts : []) {
    const others = memberOf(side, part, 'additionalProperties');
    if (!isObject(others?.value)) continue;
    for (const [name, places] of properties)
      if (!Object.hasOwn(objectOf(part.value['properties']), name)) places.push(others);
  }
  return properties;
}

function blockedIn(parts: readonly Part[], properties: ReadonlyMap<string, Schema>): Set<string> {
  const closed = parts.flatMap((part) => {
    const { additionalProperties, unevaluatedProperties } = part.value;
    if (additionalProperties === false) return [[part]];
    const within = unevaluatedProperties === false ? [...partsIn(part)] : [];
    return within.some(({ value }) => maybeNaming.some((keyword) => value[keyword] !== undefined)) ? [] : [within];
  });
  const named = closed.flatMap((group) => {
    if (group.length === 0 || group.some(({ value }) => entriesOf(value['patternProperties']).length > 0)) return [];
    return [new Set(group.flatMap(({ value }) => Object.keys(objectOf(value['properties']))))];
  });
  if (named.length * parts.length > 500_000) throw new TooMuch('A schema closes too many others.');
  return new Set([...properties.keys()].filter((name) => named.some((names) => !names.has(name))));
}

/** By these, a schema may speak of properties that it does not name itself. */
const maybeNaming = ['additionalProperties', 'anyOf', 'oneOf', 'if', 'dependentSchemas'];

function additionalOf(side: Side, parts: readonly Part[]): SchemaView['additional'] {
  const own = parts.map((part) => memberOf(side, part, 'additionalProperties'));
  const places = othersIn(side, parts, own, 'unevaluatedProperties').flat();
  const closing = places.find(({ value }) => value === false);
  const [words, schema] = [true, false].map((isAny) => places.filter(({ value }) => isObject(value) && isAnything(value) === isAny)); // prettier-ignore
  const pointer = (closing ?? schema![0] ?? places[0])?.pointer ?? parts[0]?.pointer ?? '';
  return { isClosed: closing !== undefined, schema: schema!, words: words!, pointer };
}

/** What each part says of other members: `unevaluated` says nothing where a part within its own speaks of them all. */
function othersIn(side: Side, parts: readonly Part[], own: readonly (Place | null)[], unevaluated: string): Place[][] {
  return parts.map((part, at) => {
    const place = own[at] ?? memberOf(side, part, unevaluated);
    if (own[at] || place === null) return place === null ? [] : [place];
    const inside = partsIn(part);
    const isMoot = parts.some(
      (one, index) => inside.has(one) && (own[index] || (one !== part && (one.value[unevaluated] ?? false) !== false)),
    );
    return isMoot ? [] : unevaluated === 'unevaluatedItems' ? [besideContains(side, inside, place)] : [place];
  });
}

/** The schema of items of which `unevaluatedItems` speaks: since 2020-12, or those that `contains` matches. */
function besideContains(side: Side, inside: ReadonlySet<Part>, unevaluated: Place): Place {
  const isEvaluating = side.dialect.name === '3.1' || side.dialect.name === '2020-12';
  const found = [...inside].flatMap((one) => (isEvaluating ? (memberOf(side, one, 'contains') ?? []) : []));
  const all = unevaluated.value === false && found.length > 0 ? found : [...found, unevaluated];
  return all.length === 1 ? all[0]! : { value: { anyOf: all.map(({ value }) => value) }, pointer: unevaluated.pointer };
}

function readItems(side: Side, parts: readonly Part[]): SchemaView['items'] {
  const { hasListItems } = side.dialect;
  const read = parts.map((part) => {
    const items = memberOf(side, part, 'items');
    const isList = hasListItems && Array.isArray(items?.value);
    const positions = isList ? items : hasListItems ? null : memberOf(side, part, 'prefixItems');
    const others = isList ? memberOf(side, part, 'additionalItems') : items;
    return { first: itemsOf(side, positions), others };
  });
  const own = read.map(({ others }) => others);
  const others = othersIn(side, parts, own, 'unevaluatedItems');
  const lists = read.map(({ first }, at) => ({ first, rest: others[at]! }));
  const length = Math.max(0, ...lists.map(({ first }) => first.length));
  const rest = lists.flatMap((list) => list.rest);
  const closing = rest.find(({ value }) => value === false);
  return {
    // Where one part describes a position and another one does not, the latter's other items apply to it.
    first: Array.from({ length }, (_, at) => lists.flatMap((list) => list.first[at] ?? list.rest)),
    rest: rest.filter(({ value }) => isObject(value)),
    isClosed: closing !== undefined,
    pointer: closing?.pointer ?? parts[0]?.pointer ?? '',
  };
}

/** Null: it cannot be told, because of a reference that leads to nothing or to itself. */
type Answer = boolean | null;

/**
 * Whether null is valid. Unlike other values it is written in many ways (`nullable`, a list of types,
 * a branch of a union), so it is judged for the whole schema, and left out of the comparison of parts.
 */
function acceptsAt(side: Side, place: Place): Answer {
  const { value } = place;
  if (!isObject(value)) return value !== false;
  if (!side.nulls.has(value)) {
    side.nulls.set(value, null);
    side.nulls.set(value, judge(side, place, value));
  }
  return side.nulls.get(value) ?? null;
}

function judge(side: Side, place: Place, value: JsonObject): Answer {
  const reference = referenceOf(value);
  const answers: Answer[] = [];
  if (reference !== '') {
    const target = targetOf(side, reference);
    answers.push(target && acceptsAt(side, target));
    if (!side.dialect.hasSiblings) return answers[0]!;
  }
  if (Object.hasOwn(value, 'not')) answers.push(not(acceptsAt(side, memberOf(side, place, 'not')!)));
  // Authors write it beside `allOf` and `enum`, too, and mean that null is valid.
  const { nullable } = side.dialect;
  if (nullable !== null && value[nullable] === true) return allAccept(answers);
  const { type, enum: values } = value;
  const types = Array.isArray(type) ? type : [type];
  if (typeof types[0] === 'string') answers.push(types.includes('null') || types.includes('any'));
  if (Array.isArray(values)) answers.push(listOf(values).includes(null));
  if (Object.hasOwn(value, 'const')) answers.push(value['const'] === null);
  const below = (keyword: string) =>
    itemsOf(side, memberOf(side, place, keyword)).map((branch) => acceptsAt(side, branch));
  answers.push(...below('allOf'));
  if (listOf(value['anyOf']).length > 0) answers.push(not(allAccept(below('anyOf').map(not))));
  if (listOf(value['oneOf']).length > 0) answers.push(exactlyOne(below('oneOf')));
  const one = (keyword: string): Answer => {
    const member = memberOf(side, place, keyword);
    return member === null ? true : acceptsAt(side, member);
  };
  if (Object.hasOwn(value, 'if')) {
    const isMatched = one('if');
    answers.push(isMatched === null ? allAccept([one('then'), one('else'), null]) : one(isMatched ? 'then' : 'else'));
  }
  return allAccept(answers);
}

function allAccept(answers: readonly Answer[]): Answer {
  return answers.includes(false) ? false : answers.includes(null) ? null : true;
}

function not(answer: Answer): Answer {
  return answer === null ? null : !answer;
}

function exactlyOne(answers: readonly Answer[]): Answer {
  const sure = answers.filter((answer) => answer === true).length;
  if (sure > 1) return false;
  return answers.includes(null) ? null : sure === 1;
}
