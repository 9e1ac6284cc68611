import { type JsonObject, isObject, typeNameOf } from '../../model/json.ts';
import { isNumeric } from '../../model/exact-numbers.ts';
import { entriesOf, objectOf, pointerKeys, createOnce, type Once, listOf, textOf, dereference } from '../json-value.ts';

/** The named schemas of a document, and the targets of references. */
export interface Schemas {
  /** Name of the referenced schema, or null. */
  nameOf(reference: string): string | null;
  document: JsonObject;
  /**
   * How many more schema members to read. A few large schemas that are referred to from everywhere
   * could take hours. Below zero, schemas are shown as "not shown".
   */
  left: number;
  /** How many more schemas to read for samples of their usual size. */
  samples: number;
  /** Remembers schemas that were read. */
  once: Once;
}

/**
 * How many members of schemas are read for a page: so many, and one more for each 20 bytes of the
 * document. The largest known documents need a quarter of that.
 */
const maxVisits = { atLeast: 250_000, each: 20 };
/** The same for schemas that samples read: one more for each 50 bytes. The known documents need at most 60 % of that. */
const maxSampled = { atLeast: 10_000, each: 50 };

/**
 * Finds the named schemas: those in `components/schemas`, `definitions` and `$defs`, and (as `''`)
 * the root of a JSON Schema. `bytes`: the length of the document.
 */
export function createSchemas(document: JsonObject, kind: 'openapi' | 'json-schema', bytes: number): Schemas {
  const starts =
    kind === 'openapi'
      ? ['#/components/schemas/', '#/definitions/']
      : definitionFolders(document).map((name) => `#/${name}/`);
  const ids = new Map<string, string>();
  if (kind === 'json-schema') {
    for (const [name, one] of [['', document] as const, ...definitionsOf(document)]) {
      const { $id, id, $anchor, $dynamicAnchor } = objectOf(one);
      for (const uri of [$id, id]) if (typeof uri === 'string' && uri !== '') ids.set(uri.replace(/#$/, ''), name);
      for (const anchor of [$anchor, $dynamicAnchor]) if (typeof anchor === 'string') ids.set(`#${anchor}`, name);
    }
  }
  const names = new Map<string, string | null>();
  return {
    document,
    left: maxVisits.atLeast + bytes / maxVisits.each,
    samples: maxSampled.atLeast + bytes / maxSampled.each,
    once: createOnce(),
    nameOf: (reference) => names.getOrInsertComputed(reference, nameBehind),
  };

  function nameBehind(reference: string): string | null {
    if (reference === '#' && kind === 'json-schema') return '';
    const folder = starts.find((start) => reference.startsWith(start));
    if (folder === undefined) return ids.get(reference.replace(/#$/, '')) ?? null;
    const keys = pointerKeys(reference);
    const schemas =
      folder === '#/components/schemas/' ? objectOf(document['components'])['schemas'] : document[keys[0]!];
    const name = keys.at(-1)!;
    return keys.length === folder.split('/').length - 1 && Object.hasOwn(objectOf(schemas), name) ? name : null;
  }
}

/** Definitions of a JSON Schema, in any of its members. */
export function definitionsOf(document: JsonObject): [string, unknown][] {
  return definitionFolders(document).flatMap((folder) => [...entriesOf(document[folder])]);
}

const keywords = new Set(
  'properties patternProperties dependentSchemas dependencies items additionalProperties not if then else contains propertyNames default const contentSchema'.split(' '), // prettier-ignore
);

const folders = new WeakMap<JsonObject, string[]>();

/**
 * The members with definitions: those of the specification, and those that the document's own
 * references use (Vega has `defs` and `refs`).
 */
export function definitionFolders(document: JsonObject): string[] {
  return folders.getOrInsertComputed(document, readFolders);
}

function readFolders(document: JsonObject): string[] {
  const named = ['definitions', '$defs'];
  const others = Object.keys(document).filter(
    (key) => /^\w[\w.-]{0,50}$/.test(key) && !named.includes(key) && !keywords.has(key) && isObject(document[key]),
  );
  const text = others.length === 0 ? '' : writtenOut(document);
  const names = others.filter((key) =>
    entriesOf(document[key])
      .slice(0, 50)
      .some(([name, one]) => isObject(one) && text.includes(JSON.stringify(`#/${key}/${name}`))),
  );
  return [...named, ...names.slice(0, 5)];
}

/** The document as JSON; empty if it is nested too deep. */
function writtenOut(document: JsonObject): string {
  try {
    return JSON.stringify(document);
  } catch {
    return '';
  }
}

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
  const hasName = schemas.nameOf(reference) !== null;
  const followed = via.has(reference) || (hasName && !follow) ? null : dereference(schemas.document, schema);
  if (followed === null) return { reference, value: beside, bases: [], via, isFollowed: false };
  const target = Object.keys(beside).length === 0 ? followed : { ...followed, ...beside };
  const merge = () => mergeAllOf(schemas, target, new Set([...via, reference]));
  // Most places refer to a schema from outside of any other, and many may refer to the same.
  const merged = via.size === 0 && target === followed ? schemas.once(followed, `merged ${reference}`, merge) : merge();
  return hasName
    ? { ...merged, reference, bases: [], isFollowed: true }
    : { ...merged, reference: null, isFollowed: false };
}

/** `T or null` as `T` that may be null, and a schema that adds only words to a reference as that with words beside. */
function unwrap(written: JsonObject): JsonObject {
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

/** A schema that adds only words to a reference in its `allOf`, there or beside it, is that with words beside. */
function wordsBeside(schema: JsonObject): JsonObject {
  const [part, ...words] = listOf(schema['allOf']);
  if (!isObject(part) || textOf(part['$ref']) === '' || schema['properties'] !== undefined) return schema;
  if (!words.every((one) => Object.keys(objectOf(one)).every((key) => besideReference.has(key)))) return schema;
  const { allOf: _, ...beside } = schema;
  return Object.assign({}, ...words, beside, { $ref: part['$ref'] }) as JsonObject;
}

const besideReference = new Set(['title', 'description', 'example', 'examples', 'deprecated']);

/** Keywords that apply to one part of `allOf`, and not to all parts together. */
const ofOnePart = new Set(
  '$ref allOf discriminator title description example examples $id id $schema xml externalDocs definitions $defs'.split(
    ' ',
  ),
);

/** Keywords that two parts of `allOf` may state, and that no one value says. */
const allHold = new Set(['oneOf', 'anyOf', 'pattern']);

/** What holds where two parts of `allOf` limit the same; else the later one. */
function stricter(key: string, before: unknown, after: unknown): unknown {
  if (!isNumeric(before) || !isNumeric(after) || !/^(?:m|exclusiveM)(?:ax|in)/.test(key)) return after;
  return before > after === /^(?:min|exclusiveMin)/.test(key) ? before : after;
}

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
      const before = members.get(key);
      const isListed = before !== undefined && before !== member && allHold.has(key);
      if (isListed) rest.push({ [key]: member });
      else members.set(key, stricter(key, before, member));
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

/** A part of a type: text, or a named schema. */
export type TypePart = string | { schema: string };

const typeNames = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null', 'file']);

/** A type in words: `array of Pet`, `string (date-time) or null`. */
export function typeOf(schemas: Schemas, written: unknown, depth: number): TypePart[] {
  if (!isObject(written)) return [written === false ? 'nothing' : 'anything'];
  const schema = unwrap(written);
  const reference = textOf(schema['$ref']);
  const isNullable = schema['nullable'] === true || schema['x-nullable'] === true;
  const orNull = isNullable ? [' or null'] : [];
  if (reference !== '') {
    const name = schemas.nameOf(reference);
    return [name === null ? `reference ${reference.slice(0, 200)}` : { schema: name }, ...orNull];
  }
  const types = [schema['type']].flat().filter((name) => typeof name === 'string' && name !== '') as string[];
  if (types.length === 0) {
    const alternatives = plainAlternatives(schemas, schema, depth);
    if (alternatives !== null) return [...alternatives, ...orNull];
  }
  const names = types.length > 0 ? [...new Set(types.slice(0, 10))] : [guessType(schema)];
  const parts = names.map((name): TypePart[] => {
    if (name === 'array') return arrayOf(schemas, schema, depth);
    const isMap = name === 'object' && isObject(schema['additionalProperties']) && !isObject(schema['properties']);
    if (isMap && depth < 4) return ['map of ', ...typeOf(schemas, schema['additionalProperties'], depth + 1)];
    const format = textOf(schema['format']);
    const isFormatted = format !== '' && (name !== 'null' || names.length === 1) && name !== 'boolean';
    return [`${typeNames.has(name) ? name : name.slice(0, 100)}${isFormatted ? ` (${format.slice(0, 100)})` : ''}`];
  });
  return [...joinParts(parts, ' or '), ...orNull];
}

function arrayOf(schemas: Schemas, schema: JsonObject, depth: number): TypePart[] {
  const items = schema['items'];
  if (Array.isArray(items) || schema['prefixItems'] !== undefined) return ['tuple'];
  return items === undefined || depth >= 4 ? ['array'] : ['array of ', ...typeOf(schemas, items, depth + 1)];
}

function guessType(schema: JsonObject): string {
  if ('properties' in schema || 'additionalProperties' in schema || 'patternProperties' in schema) return 'object';
  if ('items' in schema || 'prefixItems' in schema) return 'array';
  const values = 'const' in schema ? [schema['const']] : listOf(schema['enum']).slice(0, 100);
  const types = new Set(values.map(typeNameOf));
  if (types.size > 0 && types.size < 4) return [...types].join(' or ');
  if ('pattern' in schema || 'minLength' in schema || 'maxLength' in schema || 'format' in schema) return 'string';
  if ('minimum' in schema || 'maximum' in schema || 'multipleOf' in schema) return 'number';
  const composed = (['allOf', 'oneOf', 'anyOf'] as const).find((keyword) => Array.isArray(schema[keyword]));
  return composed === undefined ? 'anything' : wordOf[composed];
}

/** `Cat or Dog` for a schema that consists only of alternatives with short names. */
export function plainAlternatives(schemas: Schemas, schema: JsonObject, depth: number): TypePart[] | null {
  const [keyword, ...others] = compositions.filter((name) => Array.isArray(schema[name]));
  if (keyword === undefined || others.length > 0 || depth > 3 || guessType(schema) !== wordOf[keyword]) return null;
  const options = listOf(schema[keyword]);
  if (options.length === 0 || options.length > 8 || !options.every((option) => isPlain(option))) return null;
  return joinParts(
    options.map((option) => typeOf(schemas, option, depth + 1)),
    keyword === 'allOf' ? ' and ' : ' or ',
  );
}

export const compositions = ['oneOf', 'anyOf', 'allOf'] as const;
const wordOf = { allOf: 'all of', oneOf: 'one of', anyOf: 'any of' } as const;
const silent = new Set(['$ref', 'type', 'format', 'nullable', 'items']);

/** Whether a schema has nothing but a type. */
function isPlain(schema: unknown, depth = 0): boolean {
  if (!isObject(schema)) return true;
  if (depth > 4 || !Object.keys(schema).every((key) => silent.has(key) || key.startsWith('x-'))) return false;
  return isPlain(schema['items'], depth + 1);
}

/** Whether the words for its type are the whole schema. */
export function isNamed(schemas: Schemas, schema: unknown): boolean {
  if (isPlain(schema)) return true;
  const keys = Object.keys(objectOf(schema));
  return keys.length === 1 && plainAlternatives(schemas, objectOf(schema), 1) !== null;
}

function joinParts(parts: TypePart[][], separator: string): TypePart[] {
  return parts.flatMap((part, at) => (at === 0 ? part : [separator, ...part]));
}
