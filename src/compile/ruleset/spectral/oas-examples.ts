import { isObject, type JsonObject } from '../../../model/json.ts';
import { objectOf } from '../../../render/json-value.ts';
import type { ValidateFunction } from 'ajv';
import type { Check, Context, Failure, Formats } from './core-function.ts';
import { keysOf } from './graph.ts';
import { createAjv, failuresOf } from './create-ajv.ts';

/**
 * Checks examples and defaults against their schema: of media types, headers and parameters
 * (`media`), or in the schema itself (`schema`). Schemas that no validator accepts are left to the
 * rules about schemas.
 */
export function createExampleCheck({ type }: Readonly<JsonObject>): Check {
  const compilers = new Map<Direction, (schema: object) => ValidateFunction>();
  return (value, context) => {
    if (!isObject(value)) return [];
    const schema = type === 'schema' ? value : context.graph.follow(value['schema']);
    const examples = type === 'schema' ? ownExamples(value, context.formats) : mediaExamples(value, context);
    if (!isObject(schema) || examples.length === 0) return [];
    const direction = type === 'schema' ? 'any' : directionOf(context);
    const compile = compilers.getOrInsertComputed(direction, () => createCompiler(context, direction));
    return examples.flatMap(([keys, example]) => {
      const resolved = context.graph.resolved(example);
      const validate = tryCompile(() => compile(schema));
      if (validate === null || tryCompile(() => validate(resolved)) !== false) return [];
      const name = keys.at(-1)!;
      return failuresOf(validate.errors ?? [], `${JSON.stringify(name)} property `).map(
        ({ message, keys: inside = [] }): Failure => ({ message, keys: [...keys, ...inside] }),
      );
    });
  };
}

/** Deeply nested and cyclic values overflow the stack; some schemas cannot be compiled. */
function tryCompile<T>(run: () => T): T | null {
  try {
    return run();
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}

type Example = [keys: (string | number)[], value: unknown];

function ownExamples(schema: JsonObject, formats: Formats): Example[] {
  const fields = formats.has('oas2') ? ['example', 'x-example', 'default'] : ['example', 'default'];
  return fields.filter((field) => Object.hasOwn(schema, field)).map((field) => [[field], schema[field]]);
}

function mediaExamples(value: JsonObject, { graph, formats }: Context): Example[] {
  const examples = graph.follow(value['examples']);
  if (formats.has('oas2'))
    return Object.entries(objectOf(examples)).map(([key, example]): Example => [['examples', key], example]);
  if (Object.hasOwn(value, 'example')) return [[['example'], value['example']]];
  return Object.entries(objectOf(examples)).flatMap(([key, written]): Example[] => {
    const example = graph.follow(written);
    const isHere = isObject(example) && !Object.hasOwn(example, 'externalValue') && Object.hasOwn(example, 'value');
    return isHere ? [[['examples', key, 'value'], example['value']]] : [];
  });
}

/** Whether a place belongs to a request, a response, or neither. */
function directionOf({ node }: Context): Direction {
  const keys = keysOf(node.place).map(String);
  const [first, second] = keys;
  const kind = first === 'components' ? second : first === 'paths' ? keys[3] : first;
  if (kind === 'requestBody' || kind === 'requestBodies') return 'request';
  return kind === 'responses' ? 'response' : 'any';
}

/** The direction of an example: write-only and read-only members may be missing in the other one. */
type Direction = 'request' | 'response' | 'any';

/** Keywords whose values are schemas, lists of schemas, and maps of schemas. */
const single = new Set(
  'additionalItems additionalProperties contains else if items not propertyNames then unevaluatedItems unevaluatedProperties'.split(' '), // prettier-ignore
);
const lists = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']);
const maps = new Set(['properties', 'patternProperties', 'dependentSchemas']);
/** Keywords that are copied. All others, such as identifiers, have no meaning for one example. */
const plain = new Set(
  [
    'const dependentRequired enum exclusiveMaximum exclusiveMinimum format maxContains maxItems maxLength',
    'maxProperties maximum minContains minItems minLength minProperties minimum multipleOf pattern type uniqueItems',
  ].flatMap((line) => line.split(' ')),
);

/**
 * Returns what compiles a schema of the document. Each schema that references lead to is written for the validator
 * once, so that cycles stay finite.
 */
function createCompiler({ graph, formats }: Context, direction: Direction): (schema: object) => ValidateFunction {
  const isRecent = formats.has('oas3_1') || formats.has('oas3_2');
  const ajv = createAjv(isRecent ? 'draft2020-12' : 'draft4', false);
  const names = new Map<object, string>();
  /** Those that have a name, and are not written yet. */
  const open: object[] = [];

  function nameOf(schema: object): string {
    return names.getOrInsertComputed(schema, () => {
      open.push(schema);
      return `/example/${direction}/${names.size}`;
    });
  }

  function write(value: unknown): unknown {
    const schema = graph.follow(value);
    if (!isObject(schema)) return typeof schema === 'boolean' ? schema : {};
    return graph.isTarget(schema) ? { $ref: `${nameOf(schema)}#` } : define(schema);
  }

  function define(schema: JsonObject): JsonObject {
    const copy: JsonObject = {};
    for (const [key, value] of Object.entries(schema)) {
      if (maps.has(key) && isObject(value)) {
        copy[key] = Object.fromEntries(Object.entries(value).map(([name, child]) => [name, write(child)]));
      } else if (lists.has(key) && Array.isArray(value)) {
        if (value.length > 0) copy[key] = value.map(write);
      } else if (single.has(key)) copy[key] = write(value);
      else if (plain.has(key)) copy[key] = value;
    }
    if (Array.isArray(schema['required'])) {
      const required = schema['required'].filter((name) => typeof name === 'string' && isPresent(schema, name));
      if (required.length > 0) copy['required'] = [...new Set(required)];
    }
    const isNullable = schema['nullable'] === true || schema['x-nullable'] === true;
    if (isNullable && copy['type'] !== undefined) copy['nullable'] = true;
    return copy;
  }

  /** Whether a required property must be there in this direction. */
  function isPresent({ properties }: JsonObject, name: string): boolean {
    const property = isObject(properties) && Object.hasOwn(properties, name) ? graph.follow(properties[name]) : null;
    if (!isObject(property)) return true;
    return !(
      (direction === 'request' && property['readOnly'] === true) ||
      (direction === 'response' && property['writeOnly'] === true)
    );
  }

  return (root) => {
    const name = nameOf(root);
    for (let schema = open.shift(); schema !== undefined; schema = open.shift())
      ajv.addSchema(define(schema as JsonObject), names.get(schema));
    return ajv.getSchema(name)!;
  };
}
