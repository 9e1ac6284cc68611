import { isObject } from '../../../model/json.ts';
import type { ValidateFunction } from 'ajv';
import { createFitsSurely, type Follow } from '../../openapi/fits-surely.ts';
import type { Check, Context, Failure } from './core-function.ts';
import { createExampleSchemas, type Direction } from './example-schema.ts';
import type { Formats } from './formats.ts';
import { keysOf, type Graph } from './graph.ts';
import { createAjv, failuresOf } from './create-ajv.ts';
import { compileRegex, type Matches } from './pattern.ts';

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
