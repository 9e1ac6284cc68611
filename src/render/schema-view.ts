import { valueText } from './example.ts';
import { entriesOf, isObject, listOf, objectOf, textOf, type JsonObject } from './json.ts';
import { dereference, pointerKeys } from './reference.ts';
import { constraintsOf, type Constraint } from './schema-constraints.ts';

/** A piece of a type: text, or a schema that has a name of its own. */
export type TypePart = string | { schema: string };

/** One line of a schema tree, with what is below it. `schema` is any JSON value: `true`, `false` and nonsense are schemas, too. */
export interface SchemaRow {
  /** What the line begins with: a property's name (`code`), or words (`text`). */
  label: { code: string } | { text: string } | null;
  isRequired: boolean;
  schema: unknown;
}

/** A schema's parts of one kind: properties, or alternatives under a heading. */
export interface SchemaGroup {
  /** `One of`; empty for properties. */
  heading: string;
  rows: SchemaRow[];
  /** How many rows are left out. */
  more: number;
}

/** One schema as a reader sees it: its own line, and groups of lines below. */
export interface SchemaView {
  type: TypePart[];
  title: string;
  /** Markdown. */
  description: string;
  /** `deprecated`, `read-only`, `write-only`. */
  flags: string[];
  constraints: Constraint[];
  /** Values of an enum, as JSON or plain text. */
  values: string[];
  /** How many values are left out. */
  moreValues: number;
  groups: SchemaGroup[];
  examples: unknown[];
}

/** The schemas of a document that have a name of their own, and what references lead to. */
export interface Schemas {
  /** Name of the schema that a reference leads to, or null. */
  nameOf(reference: string): string | null;
  document: JsonObject;
  /**
   * How many more members of schemas are looked at. A few large schemas, referred to from everywhere, would keep a reader of the document busy for
   * hours; below zero a schema is said to be more than is shown.
   */
  left: number;
}

/** Many times what the largest known documents need. */
const mostLookedAt = 4_000_000;

/** Finds named schemas: those in `components/schemas`, `definitions` and `$defs`, and (named `''`) the root of a JSON Schema. */
export function createSchemas(document: JsonObject, kind: 'openapi' | 'json-schema'): Schemas {
  const folders = kind === 'openapi' ? ['#/components/schemas/', '#/definitions/'] : ['#/$defs/', '#/definitions/'];
  const ids = new Map<string, string>();
  if (kind === 'json-schema') {
    for (const [name, one] of [['', document] as const, ...definitionsOf(document)]) {
      const { $id, id, $anchor, $dynamicAnchor } = objectOf(one);
      for (const uri of [$id, id]) if (typeof uri === 'string' && uri !== '') ids.set(uri.replace(/#$/, ''), name);
      for (const anchor of [$anchor, $dynamicAnchor]) if (typeof anchor === 'string') ids.set(`#${anchor}`, name);
    }
  }
  return {
    document,
    left: mostLookedAt,
    nameOf(reference) {
      if (reference === '#' && kind === 'json-schema') return '';
      const folder = folders.find((start) => reference.startsWith(start));
      if (folder === undefined) return ids.get(reference.replace(/#$/, '')) ?? null;
      const keys = pointerKeys(reference);
      const found =
        folder === '#/components/schemas/' ? objectOf(document['components'])['schemas'] : document[keys[0]!];
      const name = keys.at(-1)!;
      return keys.length === folder.split('/').length - 1 && Object.hasOwn(objectOf(found), name) ? name : null;
    },
  };
}

/** Definitions of a JSON Schema, those of both spellings. */
export function definitionsOf(document: JsonObject): [string, unknown][] {
  return [...entriesOf(document['definitions']), ...entriesOf(document['$defs'])];
}

/**
 * What a schema says, without what the schemas that it refers to say. A reference to a schema without a name of its own is looked through; `via` are
 * the references looked through on the way here, so that a circle ends.
 */
export function viewSchema(schemas: Schemas, schema: unknown, via: ReadonlySet<string> = new Set()): SchemaView {
  if (!isObject(schema)) return { ...bare, type: [schema === false ? 'nothing' : 'anything'] };
  if (schemas.left < 0) return { ...bare, type: ['more than is shown here'] };
  const { reference, value } = lookThrough(schemas, schema, via);
  schemas.left -= costOf(value);
  const type = typeOf(schemas, reference === null ? value : { ...value, $ref: reference }, 0);
  const values = listOf(value['enum']);
  const flags = [
    ...(value['deprecated'] === true ? ['deprecated'] : []),
    ...(value['readOnly'] === true ? ['read-only'] : []),
    ...(value['writeOnly'] === true ? ['write-only'] : []),
  ];
  return {
    type,
    title: textOf(value['title']),
    description: textOf(value['description']),
    flags,
    constraints: constraintsOf(value),
    values: values.slice(0, mostRows).map((one) => valueText(one)),
    moreValues: Math.max(0, values.length - mostRows),
    groups: groupsOf(schemas, value),
    examples: examplesOf(value),
  };
}

const bare: SchemaView = {
  type: [],
  title: '',
  description: '',
  flags: [],
  constraints: [],
  values: [],
  moreValues: 0,
  groups: [],
  examples: [],
};

/** How much there is to look at in one schema. */
function costOf(schema: JsonObject): number {
  const lists = [schema['required'], schema['enum'], schema['allOf'], schema['oneOf'], schema['anyOf']];
  const maps = [schema['properties'], schema['patternProperties'], schema['dependencies'], schema];
  const count = (sum: number, length: number) => sum + Math.min(length, mostRows);
  return [...lists.map((list) => listOf(list).length), ...maps.map((map) => entriesOf(map).length)].reduce(count, 1);
}

/** References that are looked through to see this schema: to be told to what is below it. */
export function referencesOf(schemas: Schemas, schema: unknown, via: ReadonlySet<string>): ReadonlySet<string> {
  const reference = textOf(objectOf(schema)['$ref']);
  return reference === '' || schemas.nameOf(reference) !== null ? via : new Set([...via, reference]);
}

function lookThrough(
  schemas: Schemas,
  schema: JsonObject,
  via: ReadonlySet<string>,
): { reference: string | null; value: JsonObject } {
  const reference = textOf(schema['$ref']) || textOf(schema['$dynamicRef']) || textOf(schema['$recursiveRef']);
  if (reference === '') return { reference: null, value: schema };
  const { $ref: _, ...beside } = schema;
  if (schemas.nameOf(reference) !== null || via.has(reference)) return { reference, value: beside };
  const found = dereference(schemas.document, schema);
  return found === null ? { reference, value: beside } : { reference: null, value: { ...found, ...beside } };
}

// What is taken of one schema.
const mostRows = 2000;
const mostOptions = 300;

const typeNames = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null', 'file']);

/** A type in words: `array of Pet`, `string (date-time) or null`. */
function typeOf(schemas: Schemas, schema: unknown, depth: number): TypePart[] {
  if (!isObject(schema)) return [schema === false ? 'nothing' : 'anything'];
  const reference = textOf(schema['$ref']);
  const isNullable = schema['nullable'] === true || schema['x-nullable'] === true;
  const orNull = isNullable ? [' or null'] : [];
  if (reference !== '') {
    const name = schemas.nameOf(reference);
    return [name === null ? `reference ${reference.slice(0, 200)}` : { schema: name }, ...orNull];
  }
  const written = [schema['type']].flat().filter((name) => typeof name === 'string' && name !== '') as string[];
  if (written.length === 0) {
    const alternatives = plainAlternatives(schemas, schema, depth);
    if (alternatives !== null) return [...alternatives, ...orNull];
  }
  const names = written.length > 0 ? written.slice(0, 10) : [guessType(schema)];
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
  const values = 'const' in schema ? [schema['const']] : listOf(schema['enum']);
  const types = new Set(
    values.map((value) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)),
  );
  if (types.size > 0 && types.size < 4) return [...types].join(' or ');
  if ('pattern' in schema || 'minLength' in schema || 'maxLength' in schema || 'format' in schema) return 'string';
  if ('minimum' in schema || 'maximum' in schema || 'multipleOf' in schema) return 'number';
  const composed = (['allOf', 'oneOf', 'anyOf'] as const).find((keyword) => Array.isArray(schema[keyword]));
  return composed === undefined ? 'anything' : { allOf: 'all of', oneOf: 'one of', anyOf: 'any of' }[composed];
}

/** `Cat or Dog`, where a schema is nothing but alternatives that a few words can name. */
function plainAlternatives(schemas: Schemas, schema: JsonObject, depth: number): TypePart[] | null {
  const [keyword, ...others] = compositions.filter((name) => Array.isArray(schema[name]));
  if (keyword === undefined || others.length > 0 || depth > 3 || guessType(schema) !== wordOf[keyword]) return null;
  const options = listOf(schema[keyword]);
  if (options.length === 0 || options.length > 8 || !options.every(isPlain)) return null;
  return joinParts(
    options.map((option) => typeOf(schemas, option, depth + 1)),
    keyword === 'allOf' ? ' and ' : ' or ',
  );
}

const compositions = ['oneOf', 'anyOf', 'allOf'] as const;
const wordOf = { allOf: 'all of', oneOf: 'one of', anyOf: 'any of' } as const;
const silent = new Set(['$ref', 'type', 'format', 'nullable', 'items']);

/** Whether a schema says no more than its type. */
function isPlain(schema: unknown): boolean {
  if (!isObject(schema)) return true;
  return Object.keys(schema).every((key) => silent.has(key) || key.startsWith('x-')) && isPlain(schema['items']);
}

function joinParts(parts: TypePart[][], separator: string): TypePart[] {
  return parts.flatMap((part, at) => (at === 0 ? part : [separator, ...part]));
}

function groupsOf(schemas: Schemas, schema: JsonObject): SchemaGroup[] {
  const groups: SchemaGroup[] = [];
  const required = new Set(listOf(schema['required']).slice(0, mostRows));
  const all = entriesOf(schema['properties']);
  const properties = all.slice(0, mostRows).map(([name, one]): SchemaRow => {
    return { label: { code: name }, isRequired: required.has(name), schema: one };
  });
  const missing = [...required]
    .filter((name) => typeof name === 'string' && !Object.hasOwn(objectOf(schema['properties']), name))
    .map((name): SchemaRow => ({ label: { code: name as string }, isRequired: true, schema: true }));
  const patterns = entriesOf(schema['patternProperties'])
    .slice(0, mostRows)
    .map(([pattern, one]) => row({ text: `names like ${pattern.slice(0, 500)}` }, one));
  const rows = [...properties, ...(isObject(schema['properties']) ? missing : []), ...patterns];
  for (const keyword of ['additionalProperties', 'unevaluatedProperties'])
    if (isObject(schema[keyword]) && (rows.length > 0 || !isPlain(schema[keyword])))
      rows.push(row({ text: 'any other name' }, schema[keyword]));
  if (rows.length > 0) groups.push({ heading: '', rows, more: all.length - properties.length });
  groups.push(...itemGroups(schema));
  for (const keyword of compositions) {
    const options = listOf(schema[keyword]);
    if (options.length === 0 || (discriminated(schema) === null && plainAlternatives(schemas, schema, 0) !== null))
      continue;
    const heading = { allOf: 'All of', oneOf: 'One of', anyOf: 'Any of' }[keyword];
    const lines = options.slice(0, mostOptions).map((option) => row(mappingLabel(schema, option), option));
    groups.push({ heading, rows: lines, more: options.length - lines.length });
  }
  for (const [keyword, heading] of conditions)
    if (schema[keyword] !== undefined) groups.push({ heading, rows: [row(null, schema[keyword])], more: 0 });
  for (const keyword of ['dependentSchemas', 'dependencies'])
    for (const [name, one] of entriesOf(schema[keyword]).slice(0, mostOptions))
      if (isObject(one)) groups.push({ heading: `With ${name.slice(0, 200)}`, rows: [row(null, one)], more: 0 });
  return groups;
}

const conditions: readonly (readonly [string, string])[] = [
  ['not', 'Not'],
  ['if', 'If'],
  ['then', 'Then'],
  ['else', 'Else'],
  ['contains', 'Contains'],
  ['propertyNames', 'Names of properties'],
  ['contentSchema', 'Content'],
];

function itemGroups(schema: JsonObject): SchemaGroup[] {
  const { items } = schema;
  const first = Array.isArray(items) ? items : listOf(schema['prefixItems']);
  const rows = first.slice(0, mostOptions).map((one: unknown, at) => row({ text: `item ${at + 1}` }, one));
  const rest = Array.isArray(items) ? schema['additionalItems'] : items;
  const others = [rest, schema['unevaluatedItems']].filter(
    (one) => isObject(one) && (rows.length > 0 || !isPlain(one)),
  );
  const label = { text: rows.length > 0 ? 'every other item' : 'each item' };
  const lines = [...rows, ...others.map((one) => row(label, one))];
  return lines.length === 0 ? [] : [{ heading: '', rows: lines, more: first.length - rows.length }];
}

function row(label: SchemaRow['label'], schema: unknown): SchemaRow {
  return { label, isRequired: false, schema };
}

function discriminated(schema: JsonObject): readonly [string, unknown][] | null {
  const mapping = objectOf(schema['discriminator'])['mapping'];
  return isObject(mapping) ? entriesOf(mapping) : null;
}

/** The discriminator's values that choose this option. */
function mappingLabel(schema: JsonObject, option: unknown): SchemaRow['label'] {
  const reference = textOf(objectOf(option)['$ref']);
  const values = (discriminated(schema) ?? [])
    .slice(0, mostOptions)
    .filter(([, target]) => reference !== '' && (target === reference || reference.endsWith(`/${textOf(target)}`)));
  return values.length === 0
    ? null
    : {
        code: values
          .slice(0, 20)
          .map(([value]) => value)
          .join(', '),
      };
}

function examplesOf(schema: JsonObject): unknown[] {
  const { example, examples } = schema;
  if (Array.isArray(examples)) return examples.slice(0, 10) as unknown[];
  return example === undefined ? [] : [example];
}
