import { isObject } from '../../../model/json.ts';
import type { ValidateFunction } from 'ajv';
import { createFitsSurely, type Follow } from '../../openapi/fits-surely.ts';
import type { Check, Context, Failure, Formats } from './core-function.ts';
import { keysOf, type Graph } from './graph.ts';
import { createAjv, failuresOf } from './create-ajv.ts';
import { compileRegex, type Matches } from './pattern.ts';
import { setMember } from '../../text/text.ts';

interface Validator {
  /** Whether the schema certainly accepts a value, found without compiling it. False: it is not known. */
  fits(schema: object, value: unknown): boolean;
  validate(schema: object): ValidateFunction;
}

/**
 * Checks examples and defaults against their schema: of media types, headers and parameters
 * (`media`), or in the schema itself (`schema`). Schemas that no validator accepts are left to the
 * rules about schemas.
 */
export function createExampleCheck({ type }: Readonly<Record<string, unknown>>): Check {
  const validators = new Map<Direction, Validator>();
  return (value, context) => {
    if (!isObject(value)) return [];
    const schema = type === 'schema' ? value : context.graph.follow(value['schema']);
    const examples = type === 'schema' ? ownExamples(value, context.formats) : mediaExamples(value, context);
    if (!isObject(schema) || examples.length === 0) return [];
    const direction = type === 'schema' ? 'any' : directionOf(context);
    const validator = validators.get(direction) ?? createValidator(context, direction);
    validators.set(direction, validator);
    return examples.flatMap(([keys, example]) => {
      const resolved = context.graph.resolved(example);
      if (validator.fits(schema, resolved)) return [];
      const validate = tryCompile(() => validator.validate(schema));
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

function ownExamples(schema: Record<string, unknown>, formats: Formats): Example[] {
  const fields = formats.has('oas2') ? ['example', 'x-example', 'default'] : ['example', 'default'];
  return fields.filter((field) => Object.hasOwn(schema, field)).map((field) => [[field], schema[field]]);
}

function mediaExamples(value: Record<string, unknown>, { graph, formats }: Context): Example[] {
  const examples = graph.follow(value['examples']);
  if (formats.has('oas2'))
    return isObject(examples)
      ? Object.entries(examples).map(([key, example]): Example => [['examples', key], example])
      : [];
  if (Object.hasOwn(value, 'example')) return [[['example'], value['example']]];
  return Object.entries(isObject(examples) ? examples : {}).flatMap(([key, written]): Example[] => {
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

function createValidator({ graph, formats }: { graph: Graph; formats: Formats }, direction: Direction): Validator {
  const schemas = createExampleSchemas(graph, direction);
  const isRecent = formats.has('oas3_1') || formats.has('oas3_2');
  const ajv = createAjv(isRecent ? 'draft2020-12' : 'draft4', false);
  const compiled = new Map<object, ValidateFunction>();
  const definitions = new Map<string, Record<string, unknown>>();
  const waiting: [name: string, definition: Record<string, unknown>][] = [];
  const follow: Follow = ({ $ref }) => ({ schema: definitions.get($ref.slice(0, -1)), file: '' });
  const reader = createFitsSurely({
    dialect: isRecent ? '2020' : 'draft4',
    // Reads schemas as they are written for ajv: without unknown keywords, closed objects and directions.
    isOpen: true,
    context: null,
    follow,
    matches: createMatches(),
  });

  /** The name of a schema, after all definitions that it leads to were written. */
  function write(schema: object): string {
    const name = schemas.nameOf(schema);
    for (let more = schemas.take(); more.length > 0; more = schemas.take())
      for (const [id, definition] of more) {
        definitions.set(id, definition);
        waiting.push([id, definition]);
      }
    return name;
  }

  return {
    fits(schema, value) {
      const root = { schema: definitions.get(write(schema)), file: '' };
      return reader.understand(root) === 'valid' && reader.fits(root, value) === true;
    },
    validate(schema) {
      const cached = compiled.get(schema);
      if (cached !== undefined) return cached;
      const name = write(schema);
      for (const [id, definition] of waiting.splice(0)) ajv.addSchema(definition, id);
      const validate = ajv.getSchema(name)!;
      compiled.set(schema, validate);
      return validate;
    },
  };
}

/** Matches patterns as the validators do, in linear time. Null: a pattern that they refuse. */
function createMatches(): (pattern: string, text: string) => boolean | null {
  const compiled = new Map<string, Matches | null>();
  return (pattern, text) => {
    if (!compiled.has(pattern))
      compiled.set(
        pattern,
        tryCompile(() => compileRegex(pattern, '').matches),
      );
    return compiled.get(pattern)?.(text) ?? null;
  };
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
 * Writes schemas of a document for a validator, one for each schema that references lead to, so
 * that cycles stay finite.
 */
interface ExampleSchemas {
  /** The name of a schema. Its definition, and those of all that it refers to, are in `take`. */
  nameOf(schema: object): string;
  /** The definitions that were not taken before. */
  take(): [name: string, definition: Record<string, unknown>][];
}

function createExampleSchemas(graph: Graph, direction: Direction): ExampleSchemas {
  const names = new Map<object, string>();
  const open: object[] = [];

  function nameOf(schema: object): string {
    const existing = names.get(schema);
    if (existing !== undefined) return existing;
    const name = `/example/${direction}/${names.size}`;
    names.set(schema, name);
    open.push(schema);
    return name;
  }

  function write(value: unknown): unknown {
    const schema = graph.follow(value);
    if (!isObject(schema)) return typeof schema === 'boolean' ? schema : {};
    return graph.isTarget(schema) ? { $ref: `${nameOf(schema)}#` } : define(schema);
  }

  function define(schema: Record<string, unknown>): Record<string, unknown> {
    const copy: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(schema)) {
      if (maps.has(key) && isObject(value)) {
        const map: Record<string, unknown> = {};
        for (const [name, child] of Object.entries(value)) setMember(map, name, write(child));
        copy[key] = map;
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
  function isPresent({ properties }: Record<string, unknown>, name: string): boolean {
    const property = isObject(properties) && Object.hasOwn(properties, name) ? graph.follow(properties[name]) : null;
    if (!isObject(property)) return true;
    return !(
      (direction === 'request' && property['readOnly'] === true) ||
      (direction === 'response' && property['writeOnly'] === true)
    );
  }

  return {
    nameOf,
    take() {
      const members: [string, Record<string, unknown>][] = [];
      for (let schema = open.shift(); schema !== undefined; schema = open.shift())
        members.push([names.get(schema)!, define(schema as Record<string, unknown>)]);
      return members;
    },
  };
}
