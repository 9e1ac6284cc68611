import { type JsonObject, isObject } from '../../model/json.ts';
import { entriesOf, listOf, objectOf, textOf } from '../json-value.ts';
import { dereference } from '../local-reference.ts';
import type { Schemas } from './schemas.ts';

/** A schema with what it refers to and includes. */
export interface ResolvedSchema {
  /** Its reference, if it has one that gives the type its name. */
  reference: string | null;
  /** `$ref` replaced by its target (if it was followed), and `allOf` merged. */
  value: JsonObject;
  /** Named schemas merged from `allOf`. */
  bases: string[];
  /** References followed on the way here. A reference in it is not followed again. */
  via: ReadonlySet<string>;
  /** Whether a named schema was followed. */
  isFollowed: boolean;
}

// Most parts of `allOf`, properties and alternatives of one schema that are merged.
const maxParts = 100;
const maxMembers = 2000;

/**
 * Replaces the reference of a schema by its target, and merges its `allOf`. References to named
 * schemas stay, unless `follow` is true. References in `via` always stay.
 */
export function resolveSchema(
  schemas: Schemas,
  written: JsonObject,
  via: ReadonlySet<string>,
  follow: boolean,
): ResolvedSchema {
  const schema = unwrap(written);
  const reference = textOf(schema['$ref']) || textOf(schema['$dynamicRef']) || textOf(schema['$recursiveRef']);
  if (reference === '') return { reference: null, isFollowed: false, ...mergeAllOf(schemas, schema, via) };
  const { $ref: _, ...beside } = schema;
  const isNamed = schemas.nameOf(reference) !== null;
  const followed = via.has(reference) || (isNamed && !follow) ? null : dereference(schemas.document, schema);
  if (followed === null) return { reference, value: beside, bases: [], via, isFollowed: false };
  const target = Object.keys(beside).length === 0 ? followed : { ...followed, ...beside };
  const merge = () => mergeAllOf(schemas, target, new Set([...via, reference]));
  // Most places refer to a schema from outside of any other, and many may refer to the same.
  const merged = via.size === 0 && target === followed ? schemas.once(followed, `merged ${reference}`, merge) : merge();
  return isNamed
    ? { ...merged, reference, bases: [], isFollowed: true }
    : { ...merged, reference: null, isFollowed: false };
}

/** `T or null` as `T` that may be null, and a schema that adds only words to a reference as that with words beside. */
export function unwrap(written: JsonObject): JsonObject {
  const keyword = (['anyOf', 'oneOf'] as const).find((name) => listOf(written[name]).length === 2);
  if (keyword === undefined) return wordsBeside(written);
  const { [keyword]: _, ...beside } = written;
  const others = listOf(written[keyword]).filter((one) => !isNull(one));
  const [only] = others;
  const isAlone =
    others.length === 1 &&
    isObject(only) &&
    Object.keys(beside).every((key) => besideNull.has(key) || key.startsWith('x-'));
  return isAlone ? wordsBeside({ ...only, ...beside, nullable: true }) : written;
}

/** Keywords that may stand beside `T or null` and mean the same beside `T`. */
const besideNull = new Set(
  'title description default example examples deprecated readOnly writeOnly nullable'.split(' '),
);

function isNull(schema: unknown): boolean {
  const { type, const: value = 0, enum: values } = objectOf(schema);
  return type === 'null' || value === null || (Array.isArray(values) && values.length === 1 && values[0] === null);
}

/** A schema that adds only words to the one schema in its `allOf` is a reference with words beside. */
function wordsBeside(schema: JsonObject): JsonObject {
  const [part, ...others] = listOf(schema['allOf']);
  if (!isObject(part) || others.length > 0 || textOf(part['$ref']) === '' || schema['properties'] !== undefined)
    return schema;
  const { allOf: _, ...beside } = schema;
  return { ...beside, $ref: part['$ref'] };
}

/** Keywords that apply to one part of `allOf`, and not to all parts together. */
const ofOnePart = new Set(
  '$ref allOf discriminator title description example examples $id id $schema xml externalDocs definitions $defs'.split(
    ' ',
  ),
);

function mergeAllOf(
  schemas: Schemas,
  schema: JsonObject,
  via: ReadonlySet<string>,
): Pick<ResolvedSchema, 'value' | 'bases' | 'via'> {
  const parts = listOf(schema['allOf']);
  if (parts.length === 0) return { value: schema, bases: [], via };
  const seen = new Set(via);
  const bases: string[] = [];
  const rest: unknown[] = [];
  const members = new Map<string, unknown>();
  const properties = new Map<string, unknown>();
  const required = new Set<unknown>();
  let left = maxParts;

  function visit(part: unknown, depth: number): void {
    if (!isObject(part) || left-- <= 0 || depth > 20 || schemas.left < 0) {
      rest.push(part);
      return;
    }
    const reference = textOf(part['$ref']);
    if (reference === '') {
      take(part, depth);
      return;
    }
    // A base that several parts share is taken once. One that is being shown needs no repetition.
    if (seen.has(reference)) return;
    seen.add(reference);
    const target = dereference(schemas.document, part);
    const name = schemas.nameOf(reference);
    if (name !== null && depth === 0) bases.push(name);
    if (target === null) rest.push(part);
    else take(target, depth);
  }

  function take(part: JsonObject, depth: number): void {
    for (const one of listOf(part['allOf']).slice(0, maxParts)) visit(one, depth + 1);
    add(part);
  }

  function add(part: JsonObject): void {
    schemas.left -= Math.min(maxMembers, entriesOf(part['properties']).length) + entriesOf(part).length;
    for (const [name, property] of entriesOf(part['properties']).slice(0, maxMembers)) {
      if (properties.size >= maxMembers && !properties.has(name)) continue;
      const existing = properties.get(name);
      const isSame = existing === undefined || existing === property;
      properties.set(name, isSame ? property : { allOf: [existing, property] });
    }
    for (const name of listOf(part['required']).slice(0, maxMembers)) required.add(name);
    for (const [key, member] of entriesOf(part)) {
      if (key === 'properties' || key === 'required' || ofOnePart.has(key) || key.startsWith('x-')) continue;
      const list = key === 'oneOf' || key === 'anyOf' ? members.get(key) : undefined;
      if (list !== undefined && list !== member) rest.push({ [key]: member });
      else members.set(key, member);
    }
  }

  for (const part of parts.slice(0, maxMembers)) visit(part, 0);
  add(schema);
  for (const key of ofOnePart) if (key !== 'allOf' && Object.hasOwn(schema, key)) members.set(key, schema[key]);
  if (properties.size > 0) members.set('properties', Object.fromEntries(properties));
  if (required.size > 0) members.set('required', [...required]);
  if (rest.length > 0) members.set('allOf', rest);
  return { value: Object.fromEntries(members), bases, via: seen };
}
