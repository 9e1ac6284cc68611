import { isObject, listOf, textOf } from '../../render/json-value.ts';
import { flatten, soleBranch, type Flat, type Part, type Schema } from './schema-parts.ts';
import { escapeKey, itemsOf, memberOf, membersOf, type Place, type Side } from '../side.ts';

/** A value and the pointer of the keyword that sets it. */
export interface Stated<T> {
  value: T;
  pointer: string;
}

/** `anyOf` or `oneOf` with several branches. */
export interface Union {
  kind: 'anyOf' | 'oneOf';
  branches: Place[];
  pointer: string;
}

/** What a schema demands of a value, with `allOf` merged. */
export interface SchemaView {
  side: Side;
  flat: Flat;
  /** Where it stands: the schema as written, or the target of its reference. */
  pointer: string;
  /** Null: any type. Contains `null`. */
  types: Stated<ReadonlySet<string>> | null;
  /** The allowed values by their JSON text. Null: any. */
  values: Stated<ReadonlySet<string>> | null;
  /** Own properties. One may be described in several places. */
  properties: ReadonlyMap<string, Schema>;
  /** Names of required properties, with the place of the list that has them. */
  required: ReadonlyMap<string, string>;
  /** Other properties: whether they are allowed, and their schema. */
  additional: { isClosed: boolean; schema: Schema; pointer: string };
  /** The items of lists: the first ones, and the others. */
  items: { first: readonly Schema[]; rest: Schema; isClosed: boolean; pointer: string };
  unions: Union[];
  /** All members that it has. */
  keywords: ReadonlySet<string>;
  /** The first value of a keyword, and where. */
  first(keyword: string): Stated<unknown> | null;
  /** All values of a keyword, as one text that shows whether they differ. Null: absent. */
  all(keyword: string): Stated<string> | null;
}

/** Reads a schema. */
export function viewOf(side: Side, schema: Schema): SchemaView {
  const flat = flatten(side, schema);
  const { parts } = flat;
  const keywords = new Set(parts.flatMap(({ value }) => Object.keys(value)));
  const first = (keyword: string) => (keywords.has(keyword) ? (statedIn(parts, keyword)[0] ?? null) : null);
  return {
    side,
    flat,
    pointer: parts[0]?.pointer ?? schema[0]?.pointer ?? '',
    types: typesOf(flat),
    values: valuesOf(flat),
    properties: propertiesOf(side, parts),
    required: new Map(
      statedIn(parts, 'required').flatMap(({ value, pointer }) =>
        listOf(value).flatMap((name, at) => (typeof name === 'string' ? [[name, `${pointer}/${at}`]] : [])),
      ),
    ),
    additional: additionalOf(side, parts),
    items: readItems(side, parts),
    unions: keywords.has('anyOf') || keywords.has('oneOf') ? unionsOf(side, parts) : [],
    keywords,
    first,
    all(keyword) {
      const stated = keywords.has(keyword) ? statedIn(parts, keyword) : [];
      if (stated.length === 0) return null;
      return { value: stated.map(({ value }) => textOfValue(value)).join(' and '), pointer: stated[0]!.pointer };
    },
  };
}

/** The values of a keyword, outermost first. */
export function statedIn(parts: readonly Part[], keyword: string): Stated<unknown>[] {
  return parts.flatMap(({ value, pointer }) =>
    Object.hasOwn(value, keyword) && value[keyword] !== undefined
      ? [{ value: value[keyword], pointer: `${pointer}/${escapeKey(keyword)}` }]
      : [],
  );
}

/** A JSON value as text, with sorted members. Equal values have equal texts. */
export function textOfValue(value: unknown): string {
  return JSON.stringify(value, (_, member: unknown) =>
    isObject(member) ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1))) : member,
  );
}

function typesOf({ parts, isNullable }: Flat): SchemaView['types'] {
  const stated = statedIn(parts, 'type').flatMap(({ value, pointer }) => {
    const names = (Array.isArray(value) ? value : [value])
      .map(textOf)
      .map((name) => (name === 'file' ? 'string' : name));
    return names.some((name) => name === '' || name === 'any') ? [] : [{ value: new Set(names), pointer }];
  });
  if (stated.length === 0) return null;
  const types = stated.map(({ value }) => value).reduce(intersect);
  if (isNullable) types.add('null');
  return { value: types, pointer: stated[0]!.pointer };
}

function intersect(one: Set<string>, other: Set<string>): Set<string> {
  const both = new Set([...one].filter((name) => other.has(name) || (name === 'integer' && other.has('number'))));
  if (other.has('integer') && one.has('number')) both.add('integer');
  return both;
}

function valuesOf({ parts, isNullable }: Flat): SchemaView['values'] {
  const stated = [
    ...statedIn(parts, 'enum').map(({ value, pointer }) => ({ value: listOf(value), pointer })),
    ...statedIn(parts, 'const').map(({ value, pointer }) => ({ value: [value], pointer })),
  ].map(({ value, pointer }) => ({ value: new Set(value.map(textOfValue)), pointer }));
  if (stated.length === 0) return null;
  const values = stated.map(({ value }) => value).reduce((one, other) => one.intersection(other));
  if (isNullable) values.add('null');
  return { value: values, pointer: stated[0]!.pointer };
}

function propertiesOf(side: Side, parts: readonly Part[]): Map<string, Place[]> {
  const properties = new Map<string, Place[]>();
  for (const part of parts)
    for (const [name, place] of membersOf(side, memberOf(side, part, 'properties'))) {
      const known = properties.get(name);
      if (known) known.push(place);
      else properties.set(name, [place]);
    }
  return properties;
}

function additionalOf(side: Side, parts: readonly Part[]): SchemaView['additional'] {
  const places = parts.flatMap((part) =>
    ['additionalProperties', 'unevaluatedProperties'].flatMap((key) => memberOf(side, part, key) ?? []),
  );
  const closing = places.find(({ value }) => value === false);
  const schema = places.filter(({ value }) => isObject(value) && Object.keys(value).length > 0);
  const pointer = (closing ?? schema[0] ?? places[0])?.pointer ?? parts[0]?.pointer ?? '';
  return { isClosed: closing !== undefined, schema, pointer };
}

function readItems(side: Side, parts: readonly Part[]): SchemaView['items'] {
  const { hasListItems } = side.dialect;
  const first: Place[][] = [];
  const rest: Place[] = [];
  for (const part of parts) {
    const items = memberOf(side, part, 'items');
    const isList = hasListItems && Array.isArray(items?.value);
    const positions = isList ? items : hasListItems ? null : memberOf(side, part, 'prefixItems');
    itemsOf(side, positions).forEach((place, at) => (first[at] ??= []).push(place));
    const others = isList ? memberOf(side, part, 'additionalItems') : items;
    rest.push(...[others, memberOf(side, part, 'unevaluatedItems')].filter((place) => place !== null));
  }
  const closing = rest.find(({ value }) => value === false);
  return {
    first,
    rest: rest.filter(({ value }) => isObject(value)),
    isClosed: closing !== undefined,
    pointer: closing?.pointer ?? parts[0]?.pointer ?? '',
  };
}

function unionsOf(side: Side, parts: readonly Part[]): Union[] {
  return parts.flatMap((part) =>
    (['anyOf', 'oneOf'] as const).flatMap((kind) => {
      const place = memberOf(side, part, kind);
      const branches = itemsOf(side, place);
      if (place === null || branches.length === 0 || soleBranch(side, part, kind) !== null) return [];
      return [{ kind, branches, pointer: place.pointer }];
    }),
  );
}
