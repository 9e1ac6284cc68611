import { Validator } from '@seriousme/openapi-schema-validator';
import type { ValidateFunction } from 'ajv';
import { appendErrors, mendComparisons, errorsOf } from '../schema/ajv.ts';
import { explainErrors, type SchemaFinding } from '../../model/schema-errors.ts';
import { isObject, type JsonObject } from '../../model/json.ts';
import { objectOf } from '../../render/json-value.ts';
import { joinPointer, pointerOf, type Way } from '../../model/pointer.ts';
import { holdsOf } from '../../model/openapi-shape.ts';
import { checkMeta, createCheckBy, patternFailure } from '../schema/schema-check.ts';
import { dialectOf, dialects, subschemas } from '../schema/schema-dialect.ts';

export type OpenapiVersion = '2.0' | '3.0' | '3.1' | '3.2';

interface Compiles {
  getAjvValidator(version: string): ValidateFunction;
}

mendComparisons();
const stopping = new Validator({ verbose: true }) as unknown as Compiles;
const exhaustive = new Validator({
  allErrors: true,
  verbose: true,
  code: { process: appendErrors },
}) as unknown as Compiles;
const keptFindings = 200;
/** Characters of a document that is too large to look for all its errors. */
const largeText = 300_000;

/**
 * Validates a document against the OpenAPI Initiative's JSON Schema of its version. Returns all
 * findings, or only the first for a large document, where they could exhaust the memory. Empty if
 * the document is valid.
 */
export function validateOpenapi(document: unknown, version: OpenapiVersion, textLength: number): SchemaFinding[] {
  let errors = errorsOf(stopping.getAjvValidator(version), document);
  if (errors.length === 0) return [];
  if (textLength < largeText) errors = errorsOf(exhaustive.getAjvValidator(version), document);
  return explainErrors(errors, document).slice(0, keptFindings);
}

/** Something that the specification's schema allows and other tools refuse. */
export interface Advice extends Pick<SchemaFinding, 'pointer' | 'on' | 'message'> {
  rule: string;
}

export type Note = (rule: string, pointer: string, message: string, on?: 'key' | 'value') => void;

/** Schemas that are a part of another, which may declare what they require. */
const parts = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else']);
const composed = ['allOf', 'oneOf', 'anyOf', '$ref', 'patternProperties', 'if'];

/**
 * Finds arrays without `items`, which OpenAPI 2.0 and 3.0 demand, and required properties that
 * nothing declares. Finds schemas by their form, wherever they stand.
 */
export function adviseSchemas(root: JsonObject, version: OpenapiVersion, note: Note): void {
  const needsItems = version === '2.0' || version === '3.0';
  const seen = new Set<object>();

  function visit(node: object, way: Way, within: string | null, isPart: boolean): void {
    if (seen.has(node)) return;
    seen.add(node);
    const holder = node as JsonObject;
    const isList = Array.isArray(node);
    if (within === null && !isList) {
      if (needsItems && holder['type'] === 'array' && holder['items'] === undefined && holder['$ref'] === undefined)
        note('array-items', pointerOf(way), 'An array needs "items". Add "items: {}" to allow anything.', 'key');
      if (!isPart && Array.isArray(holder['required'])) adviseRequired(holder, way, note);
    }
    for (const key in holder) {
      const child = holder[key];
      if (typeof child !== 'object' || child === null) continue;
      const holds = isList ? 'node' : holdsOf(within, key, child, version === '2.0');
      if (holds === 'data' || holds === 'extension') continue;
      const isPartOfSchema = isList ? isPart : within === null && parts.has(key);
      visit(child, { parent: way, key }, holds === 'map' ? key : null, isPartOfSchema);
    }
  }

  visit(root, null, null, false);
}

function adviseRequired(schema: JsonObject, way: Way, note: Note): void {
  const { required, properties, additionalProperties } = schema;
  if (!isObject(properties) || isObject(additionalProperties)) return;
  if (composed.some((key) => key in schema)) return;
  for (const [index, name] of (required as unknown[]).entries())
    if (typeof name === 'string' && !Object.hasOwn(properties, name)) {
      const message = `The property "${name}" is required but not declared in "properties".`;
      note('required-undeclared', joinPointer(pointerOf(way), 'required', index), message);
    }
}

/** OpenAPI 3.1 §4.8.24 and 3.2 §4.26: the default for `$schema`. It adds annotations to 2020-12. */
const base = /^https:\/\/spec\.openapis\.org\/oas\/3\.\d+\/dialect\//;

const text = { type: 'string' };
const yes = { type: 'boolean' };
/** The values of the keywords that OpenAPI adds to JSON Schema. */
const added = {
  properties: {
    discriminator: {
      type: 'object',
      required: ['propertyName'],
      properties: { propertyName: text, mapping: { type: 'object' } },
    },
    externalDocs: { type: 'object', required: ['url'], properties: { url: text } },
    xml: { type: 'object', properties: { name: text, namespace: text, prefix: text, attribute: yes, wrapped: yes } },
  },
};

/** Compiled at its first use. */
let checkAdded: ReturnType<typeof createCheckBy> = null;

/**
 * Finds keywords of schemas in OpenAPI 3.1 and 3.2 whose value the meta-schema of 2020-12, or OpenAPI's addition to
 * it, does not allow. A type that does not exist is an error of the document (`schema`). Does not look at schemas of another dialect.
 */
export function adviseSchemaObjects(root: JsonObject, version: OpenapiVersion, note: Note): void {
  if (version === '2.0' || version === '3.0' || !isKnown(root['jsonSchemaDialect'])) return;
  const seen = new Set<object>();

  function visit(node: unknown, pointer: () => string, within: string | null): void {
    if (typeof node !== 'object' || node === null || seen.has(node)) return;
    seen.add(node);
    for (const key in node) {
      const child = (node as JsonObject)[key];
      if (typeof child !== 'object' || child === null) continue;
      const at = () => joinPointer(pointer(), key);
      const holds = holdsOf(within, key, child);
      if (within === null && (key === 'schema' || key === 'itemSchema')) visitSchema(child, at);
      else if (holds === 'map' && key === 'schemas')
        for (const name in child) visitSchema((child as JsonObject)[name], () => joinPointer(at(), name));
      else if (holds === 'map' || holds === 'node') visit(child, at, holds === 'map' ? key : null);
    }
  }

  function visitSchema(schema: unknown, pointer: () => string): void {
    if (!isObject(schema) || seen.has(schema)) return;
    seen.add(schema);
    if (!isKnown(schema['$schema'])) return;
    const outside = outsideOf(schema);
    checkAdded ??= createCheckBy(dialects['2020-12'], added)!;
    const errors = [...checkMeta(dialects['2020-12'], outside), ...checkAdded(outside)];
    for (const { pointer: inside, message, on } of explainErrors(errors, outside))
      note(/^\/type(?:\/|$)/.test(inside) ? 'schema' : 'schema-keyword', pointer() + inside, message, on);
    if (typeof schema['pattern'] === 'string' && patternFailure(schema['pattern']) !== null)
      note('schema-pattern', `${pointer()}/pattern`, 'The pattern is not a valid regular expression.');
    if (schema['nullable'] === true) {
      const message = `OpenAPI ${version} has no "nullable": it has no effect. Add "null" to "type".`;
      note('schema-keyword', `${pointer()}/nullable`, message, 'key');
    }
    const xml = objectOf(schema['xml']);
    if (version === '3.2' && xml['nodeType'] !== undefined)
      for (const key of ['attribute', 'wrapped'].filter((each) => each in xml)) {
        const message = `"nodeType" replaces "${key}", which must not stand beside it. Remove "${key}".`;
        note('schema-keyword', `${pointer()}/xml/${key}`, message, 'key');
      }
    const inside = subschemas(dialects['2020-12'], schema);
    for (const { path, schema: child } of inside) visitSchema(child, () => pointer() + path);
  }

  visit(root, () => '', null);
}

function isKnown(dialect: unknown): boolean {
  if (typeof dialect !== 'string') return true;
  return base.test(dialect) || dialectOf(dialect) === dialects['2020-12'];
}

/** The most members and items of a value that are looked at. */
const widest = 5000;

/** A schema without what is in the values of its keywords: the schemas there are looked at by themselves. */
function outsideOf(schema: Readonly<JsonObject>): JsonObject {
  const outside = (value: unknown) => {
    if (Array.isArray(value)) return value.slice(0, widest).map(emptied);
    if (!isObject(value)) return value;
    const members = Object.entries(value).slice(0, widest);
    return Object.fromEntries(members.map(([key, inside]) => [key, emptied(inside)]));
  };
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, outside(value)]));
}

/** The value without what is in it, if it is an object or a list. */
function emptied(value: unknown): unknown {
  return Array.isArray(value) ? [] : isObject(value) ? {} : value;
}
