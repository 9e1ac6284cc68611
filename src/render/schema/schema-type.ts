import { type JsonObject, isObject } from '../../model/json.ts';
import { listOf, objectOf, textOf } from '../json-value.ts';
import { unwrap } from './resolve-schema.ts';
import type { Schemas } from './schemas.ts';

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
  const types = new Set(
    values.map((value) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)),
  );
  if (types.size > 0 && types.size < 4) return [...types].join(' or ');
  if ('pattern' in schema || 'minLength' in schema || 'maxLength' in schema || 'format' in schema) return 'string';
  if ('minimum' in schema || 'maximum' in schema || 'multipleOf' in schema) return 'number';
  const composed = (['allOf', 'oneOf', 'anyOf'] as const).find((keyword) => Array.isArray(schema[keyword]));
  return composed === undefined ? 'anything' : { allOf: 'all of', oneOf: 'one of', anyOf: 'any of' }[composed];
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
