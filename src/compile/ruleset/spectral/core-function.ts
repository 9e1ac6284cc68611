import { isObject, type JsonObject } from '../../../model/json.ts';
import { dialectOf } from '../../schema/schema-dialect.ts';
import type { Graph, Node } from './graph.ts';
import type { Budget, Matches } from './pattern.ts';

/** The formats of a document, in the spellings of Spectral 6. */
export type Formats = ReadonlySet<string>;

/** The formats that a ruleset may name, with the spellings of earlier releases. */
export const knownFormats: Formats = new Set(
  [
    'oas2 oas3 oas3.0 oas3.1 oas3.2 oas3_0 oas3_1 oas3_2 arazzo1 arazzo1.0 arazzo1_0 asyncapi2 asyncapi3',
    'aas2 aas2_0 aas2_1 aas2_2 aas2_3 aas2_4 aas2_5 aas2_6 aas3 aas3_0',
    'json-schema json-schema-loose json-schema-draft4 json-schema-draft6 json-schema-draft7',
    'json-schema-draft-2019-09 json-schema-2019-09 json-schema-draft-2020-12 json-schema-2020-12',
  ].flatMap((line) => line.split(' ')),
);

/** Returns the formats of a document, in every spelling. */
export function formatsOf(document: unknown): Formats {
  const formats = new Set<string>();
  if (!isObject(document)) return formats;
  const { swagger, openapi, $schema: schema } = document;
  if (Number.parseInt(String(swagger), 10) === 2) formats.add('oas2');
  if (Number.parseInt(String(openapi), 10) === 3) {
    formats.add('oas3');
    const minor = /^3\.([012])(?:\.\d*)?$/.exec(String(openapi))?.[1];
    if (minor !== undefined) formats.add(`oas3_${minor}`).add(`oas3.${minor}`);
  }
  const dialect = typeof schema === 'string' ? dialectOf(schema) : null;
  if (dialect !== null) {
    formats.add('json-schema');
    const draft = dialect.name.replace(/^draft-0/, 'draft');
    for (const name of [`json-schema-${draft}`, `json-schema-draft-${draft}`]) formats.add(name);
  }
  if (dialect !== null || isLooseSchema(document)) formats.add('json-schema-loose');
  return formats;
}

const types = ['any', 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];

function isLooseSchema(document: JsonObject): boolean {
  const { type } = document;
  if (
    typeof type === 'string'
      ? types.includes(type)
      : Array.isArray(type) && type.every((one) => types.includes(String(one)))
  )
    return true;
  return (
    Array.isArray(document['enum']) || ['allOf', 'anyOf', 'oneOf', 'not'].some((key) => Object.hasOwn(document, key))
  );
}

/** One failed check. `keys`: the way from the checked value to the place that is meant. */
export interface Failure {
  message: string;
  keys?: readonly (string | number)[];
}

/** The context of a check besides the value. */
export interface Context {
  graph: Graph;
  formats: Formats;
  /** The checked node; `value` is undefined if it is missing. */
  node: Node;
  /** The name of the checked value, for messages: `"title" property `. */
  subject: string;
}

/** Checks a value. `undefined` means that it is missing. */
export type Check = (value: unknown, context: Context) => Failure[];

/** Prepares a function with its options, which were checked against their schema. */
export type CoreFunction = (options: Readonly<JsonObject>, tools: Tools) => Check;

/** Tools that functions share within one run. */
export interface Tools {
  budget: Budget | undefined;
  /** Prepares a pattern. Matching spends work. */
  pattern(written: string): Matches;
  /** Prepares the options of `schema`. Throws an `Error` if the schema cannot be compiled. */
  schema(options: Readonly<JsonObject>): (value: unknown, subject: string) => Failure[];
}
