import { isObject } from '../../model/json.ts';
import { fullFormats } from 'ajv-formats/dist/formats.js';

export type Schema = Record<string, unknown>;

/** How schemas are read: Draft 4 for OpenAPI 2.0 and 3.0, else 2020-12. */
export type Dialect = 'draft4' | '2020';

/** Keywords that say nothing about values. */
const silent = new Set(
  'title description default example examples deprecated externalDocs xml $comment readOnly writeOnly'.split(' '),
);
const types = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);
/** References that mean the same to every reader: no escapes, no other documents on the web. */
const plainReference = /^[\w./-]*#(?:\/[\w.-]+)*$/;

const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value);
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
/** Every object has the other ones, and ajv validates them too. */
const isUsual = (name: string): boolean => !(name in {});
const isList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

/** The keywords that are understood, and what they may hold. Anything else may be an error to ajv. */
const keywords: Readonly<Record<string, (value: unknown, dialect: Dialect) => boolean>> = {
  type: (value) =>
    [value].flat().every((name) => types.has(name as string)) && (!Array.isArray(value) || value.length > 0),
  nullable: isFlag,
  enum: isList,
  const: () => true,
  format: (value) => typeof value === 'string' && (Object.hasOwn(fullFormats, value) || !(value in {})),
  properties: (value) => isObject(value) && Object.keys(value).every(isUsual),
  required: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string' && isUsual(name)),
  additionalProperties: (value) => isFlag(value) || isObject(value),
  items: isObject,
  allOf: isList,
  anyOf: isList,
  oneOf: isList,
  pattern: (value) => patternOf(value) !== null,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  minProperties: isCount,
  maxProperties: isCount,
  uniqueItems: isFlag,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: (value, dialect) => (dialect === 'draft4' ? isFlag(value) : isNumber(value)),
  exclusiveMaximum: (value, dialect) => (dialect === 'draft4' ? isFlag(value) : isNumber(value)),
};

const patterns = new Map<string, RegExp | null>();

/** A pattern as ajv reads it. Null: it is not valid. */
export function patternOf(text: unknown): RegExp | null {
  if (typeof text !== 'string') return null;
  let pattern = patterns.get(text);
  if (pattern === undefined) {
    try {
      pattern = new RegExp(text, 'u');
    } catch {
      pattern = null;
    }
    if (patterns.size > 10_000) patterns.clear();
    patterns.set(text, pattern);
  }
  return pattern;
}

/** Whether every keyword of a schema is understood, so that ajv compiles it without an error. */
export function isPlain(schema: Schema, dialect: Dialect): boolean {
  if ('$ref' in schema) {
    const rest = Object.keys(schema).every((key) => key === '$ref' || (silent.has(key) && !key.endsWith('Only')));
    return rest && typeof schema['$ref'] === 'string' && plainReference.test(schema['$ref']);
  }
  for (const key of Object.keys(schema)) {
    if (silent.has(key) || key.startsWith('x-')) continue;
    const holds = Object.hasOwn(keywords, key) ? keywords[key] : undefined;
    if (holds === undefined || !holds(schema[key], dialect)) return false;
  }
  for (const key of ['readOnly', 'writeOnly']) if (key in schema && !isFlag(schema[key])) return false;
  if (!('nullable' in schema)) return true;
  const type = schema['type'];
  return type !== undefined && (schema['nullable'] === true || ![type].flat().includes('null'));
}

/** Whether the only thing that ajv refuses in a schema is `nullable` without `type`. */
export function isNullableWithoutType(schema: Schema, dialect: Dialect): boolean {
  if (!isFlag(schema['nullable']) || 'type' in schema || '$ref' in schema) return false;
  const { nullable: _, ...rest } = schema;
  return isPlain(rest, dialect);
}

/** The keywords of a schema that say something about values. */
export function keywordsOf(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => Object.hasOwn(keywords, key)));
}

/** The schemas in a schema. */
export function schemasIn(schema: Schema): unknown[] {
  const { properties, items, additionalProperties, allOf, anyOf, oneOf } = schema as Record<string, unknown[]>;
  return [
    ...Object.values(properties ?? {}),
    ...(items === undefined ? [] : [items]),
    ...(isObject(additionalProperties) ? [additionalProperties] : []),
    ...(allOf ?? []),
    ...(anyOf ?? []),
    ...(oneOf ?? []),
  ];
}
