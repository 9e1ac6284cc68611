import type { ValidateFunction } from 'ajv';
import { isObject } from '../../schema/schema-dialect.ts';
import type { Check, Context, Failure } from './core-function.ts';
import { createExampleSchemas, type Direction, type ExampleSchemas } from './example-schema.ts';
import type { Formats } from './formats.ts';
import { keysOf, type Graph } from './graph.ts';
import { createAjv, failuresOf } from './create-ajv.ts';

interface Validator {
  schemas: ExampleSchemas;
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
    const validate = tryCompile(() => validator.validate(schema));
    if (validate === null) return [];
    return examples.flatMap(([keys, example]) => {
      const isValid = tryCompile(() => validate(context.graph.resolved(example)));
      if (isValid !== false) return [];
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
  return {
    schemas,
    validate(schema) {
      const known = compiled.get(schema);
      if (known !== undefined) return known;
      const name = schemas.nameOf(schema);
      // The definitions that one leads to are written before it is compiled.
      for (let more = schemas.take(); more.length > 0; more = schemas.take())
        for (const [id, definition] of more) ajv.addSchema(definition, id);
      const validate = ajv.getSchema(name)!;
      compiled.set(schema, validate);
      return validate;
    },
  };
}
