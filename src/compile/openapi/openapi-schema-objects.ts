import { isObject } from '../../model/json.ts';
import { Ajv, type AnySchemaObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { errorsOf } from '../schema/ajv-errors.ts';
import { readPattern } from '../schema/schema-check.ts';
import { dialectOf, dialects, subschemas } from '../schema/schema-dialect.ts';
import { explainErrors, type SchemaFinding } from '../schema/schema-findings.ts';
import { joinPointer } from '../text/pointer.ts';
import type { Note } from './openapi-advice-schemas.ts';
import { namedMembers } from './openapi-references.ts';
import type { OpenapiVersion } from './openapi-schema.ts';

/** Members whose members are named by the author. */
const maps = new Set([...namedMembers, 'webhooks', 'encoding', 'scopes']);
/** Members in whose value nothing is a schema. */
const values = new Set(['example', 'examples', 'default', 'enum', 'const', 'value', 'security']);
/** OpenAPI 3.1 §4.8.24 and 3.2 §4.26: the default for `$schema`. It adds annotations to 2020-12. */
const base = /^https:\/\/spec\.openapis\.org\/oas\/3\.\d+\/dialect\//;

/**
 * Finds keywords of schemas that OpenAPI 3.1 and 3.2 leave to JSON Schema, whose value the
 * meta-schema of 2020-12 does not allow. A type that does not exist is an error of the document (`schema`). Does not look at schemas of another dialect.
 */
export function adviseSchemaObjects(root: unknown, version: OpenapiVersion, note: Note): void {
  if (version === '2.0' || version === '3.0' || !isObject(root)) return;
  if (!isKnown(root['jsonSchemaDialect'])) return;
  const seen = new Set<object>();

  function visit(node: unknown, pointer: () => string, isMap: boolean): void {
    if (typeof node !== 'object' || node === null || seen.has(node)) return;
    seen.add(node);
    for (const key in node) {
      const child = (node as Record<string, unknown>)[key];
      if (typeof child !== 'object' || child === null) continue;
      const at = () => joinPointer(pointer(), key);
      if (!isMap && (key === 'schema' || key === 'itemSchema')) visitSchema(child, at);
      else if (!isMap && key === 'schemas')
        for (const name in child) visitSchema((child as Record<string, unknown>)[name], () => joinPointer(at(), name));
      else if (isMap || (!values.has(key) && !key.startsWith('x-'))) visit(child, at, !isMap && maps.has(key));
    }
  }

  function visitSchema(schema: unknown, pointer: () => string): void {
    if (!isObject(schema) || seen.has(schema)) return;
    seen.add(schema);
    if (!isKnown(schema['$schema'])) return;
    for (const { pointer: inside, message, on } of findingsIn(schema))
      note(/^\/type(?:\/|$)/.test(inside) ? 'schema' : 'schema-keyword', pointer() + inside, message, on);
    if (typeof schema['pattern'] === 'string' && !isPattern(schema['pattern']))
      note('schema-pattern', `${pointer()}/pattern`, 'The pattern is not a valid regular expression.');
    if (schema['nullable'] === true)
      note(
        'schema-keyword',
        `${pointer()}/nullable`,
        `OpenAPI ${version} has no "nullable": it has no effect. Add "null" to "type".`,
        'key',
      );
    const inside = subschemas(dialects['2020-12'], schema);
    for (const { path, schema: child } of inside) visitSchema(child, () => pointer() + path);
  }

  visit(root, () => '', false);
}

function isKnown(dialect: unknown): boolean {
  if (typeof dialect !== 'string') return true;
  return base.test(dialect) || dialectOf(dialect) === dialects['2020-12'];
}

let validate: ValidateFunction | null = null;

/** Findings of the meta-schema on a schema's own keywords, not on the schemas in it. */
function findingsIn(schema: Readonly<Record<string, unknown>>): SchemaFinding[] {
  validate ??= new Ajv({
    strict: false,
    validateFormats: false,
    logger: false,
    allErrors: true,
    verbose: true,
  }).compile(shallowMeta());
  const outside = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, outsideOf(value)]));
  const errors = errorsOf(validate, outside);
  return errors.length === 0 ? [] : explainErrors(errors, outside);
}

/** The most members and items of a value that are looked at. */
const widest = 5000;

/** A value without the contents of nested objects, and cut to `widest` members. */
function outsideOf(value: unknown): unknown {
  const emptied = (inside: unknown) => (Array.isArray(inside) ? [] : isObject(inside) ? {} : inside);
  if (Array.isArray(value)) return value.slice(0, widest).map(emptied);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).slice(0, widest);
  return Object.fromEntries(entries.map(([key, inside]) => [key, emptied(inside)]));
}

/** The vocabularies of the meta-schema in one schema that does not look into subschemas. */
function shallowMeta(): AnySchemaObject {
  const all = Object.values(new Ajv2020().schemas).map((one) => one!.schema as AnySchemaObject);
  const parts = all.filter(({ $id }) => $id?.includes('/meta/'));
  const merged = {
    properties: Object.assign({}, ...parts.map(({ properties }) => properties as object)) as object,
    $defs: Object.assign({}, ...parts.map(({ $defs }) => $defs as object)) as object,
  };
  const shallow = (_key: string, value: unknown) =>
    isObject(value) && value['$dynamicRef'] === '#meta' ? { type: ['object', 'boolean'] } : value;
  return JSON.parse(JSON.stringify(merged, shallow)) as AnySchemaObject;
}

function isPattern(text: string): boolean {
  try {
    readPattern(text);
    return true;
  } catch {
    return false;
  }
}
