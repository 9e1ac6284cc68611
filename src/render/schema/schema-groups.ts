import { type JsonObject, isObject } from '../../model/json.ts';
import { entriesOf, listOf, objectOf, textOf } from '../json-value.ts';
import { compositions, isNamed, plainAlternatives } from './schema-type.ts';
import { resolveSchema } from './resolve-schema.ts';
import type { Schemas } from './schemas.ts';

/**
 * One line of a schema tree with its children. `schema` is any JSON value: `true`, `false` and
 * invalid ones occur too.
 */
export interface SchemaRow {
  /** Start of the line: a property's name (`code`) or words (`text`). */
  label: { code: string } | { text: string } | null;
  isRequired: boolean;
  schema: unknown;
}

/** One kind of a schema's parts: its properties, or alternatives under a heading. */
export interface SchemaGroup {
  /** Such as `One of`; empty for properties. */
  heading: string;
  rows: SchemaRow[];
  /** Number of rows left out. */
  more: number;
}

/** The label of the one schema of all items. */
export const eachItem = 'each item';

// Most rows of one schema.
export const maxRows = 2000;
const maxOptions = 300;

/** The groups below a schema's own line. `via` and `follow`: as for `resolveSchema`. */
export function groupsOf(
  schemas: Schemas,
  schema: JsonObject,
  via: ReadonlySet<string>,
  follow: boolean,
): SchemaGroup[] {
  const isSilent = (one: unknown) => isNamed(schemas, one) && !(follow && hasValues(schemas, one, via));
  // The words for its type name each alternative.
  const isTold = (one: JsonObject) => discriminated(one) === null && plainAlternatives(schemas, one, 0) !== null;
  const groups: SchemaGroup[] = [];
  const required = new Set(listOf(schema['required']).slice(0, maxRows));
  const all = entriesOf(schema['properties']);
  const properties = all.slice(0, maxRows).map(([name, one]): SchemaRow => {
    return { label: { code: name }, isRequired: required.has(name), schema: one };
  });
  const missing = [...required]
    .filter((name) => typeof name === 'string' && !Object.hasOwn(objectOf(schema['properties']), name))
    .map((name): SchemaRow => ({ label: { code: name as string }, isRequired: true, schema: true }));
  const patterns = entriesOf(schema['patternProperties'])
    .slice(0, maxRows)
    .map(([pattern, one]) => row({ text: `names like ${pattern.slice(0, 500)}` }, one));
  const rows = [...properties, ...(isObject(schema['properties']) ? missing : []), ...patterns];
  for (const keyword of ['additionalProperties', 'unevaluatedProperties'])
    if (isObject(schema[keyword]) && (rows.length > 0 || !isSilent(schema[keyword])))
      rows.push(row({ text: 'any other name' }, schema[keyword]));
  if (rows.length > 0) groups.push({ heading: '', rows, more: all.length - properties.length });
  groups.push(...itemGroups(schema, isSilent));
  const mapped = mappedOptions(schema);
  if (mapped.length > 0) groups.push({ heading: 'One of', rows: mapped, more: 0 });
  for (const keyword of compositions) {
    const options = listOf(schema[keyword]);
    if (options.length === 0 || (isTold(schema) && !(follow && options.some((one) => hasFields(schemas, one, via)))))
      continue;
    const heading = { allOf: 'All of', oneOf: 'One of', anyOf: 'Any of' }[keyword];
    const lines = options.slice(0, maxOptions).map((option) => row(mappingLabel(schema, option), option));
    groups.push({ heading, rows: lines, more: options.length - lines.length });
  }
  for (const [keyword, heading] of conditions)
    if (schema[keyword] !== undefined) groups.push({ heading, rows: [row(null, schema[keyword])], more: 0 });
  for (const keyword of ['dependentSchemas', 'dependencies'])
    for (const [name, one] of entriesOf(schema[keyword]).slice(0, maxOptions))
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

/** Whether a reference leads to fields. */
function hasFields(schemas: Schemas, schema: unknown, via: ReadonlySet<string>): boolean {
  return isObject(schema) && resolveSchema(schemas, schema, via, true).value['properties'] !== undefined;
}

/** Whether a reference leads to a list of values. */
function hasValues(schemas: Schemas, schema: unknown, via: ReadonlySet<string>): boolean {
  return isObject(schema) && resolveSchema(schemas, schema, via, true).value['enum'] !== undefined;
}

function itemGroups(schema: JsonObject, isSilent: (one: unknown) => boolean): SchemaGroup[] {
  const { items } = schema;
  const first = Array.isArray(items) ? items : listOf(schema['prefixItems']);
  const rows = first.slice(0, maxOptions).map((one: unknown, at) => row({ text: `item ${at + 1}` }, one));
  const rest = Array.isArray(items) ? schema['additionalItems'] : items;
  const others = [rest, schema['unevaluatedItems']].filter(
    (one) => isObject(one) && (rows.length > 0 || !isSilent(one)),
  );
  const label = { text: rows.length > 0 ? 'every other item' : eachItem };
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

/** The alternatives of a base schema that lists them only in its discriminator. */
function mappedOptions(schema: JsonObject): SchemaRow[] {
  if (schema['oneOf'] !== undefined || schema['anyOf'] !== undefined) return [];
  return (discriminated(schema) ?? []).slice(0, maxOptions).flatMap(([value, target]) => {
    const reference = textOf(target);
    if (reference === '') return [];
    return [row({ code: value }, { $ref: reference.includes('/') ? reference : `#/components/schemas/${reference}` })];
  });
}

/** The discriminator values that select this option. */
function mappingLabel(schema: JsonObject, option: unknown): SchemaRow['label'] {
  const reference = textOf(objectOf(option)['$ref']);
  const values = (discriminated(schema) ?? [])
    .slice(0, maxOptions)
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
