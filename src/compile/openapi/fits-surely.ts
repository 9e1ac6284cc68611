import { fullFormats } from 'ajv-formats/dist/formats.js';
import { isObject, type JsonObject } from '../../model/json.ts';
import { listOf, objectOf } from '../../render/json-value.ts';

/** Keywords that say nothing about values. */
const silent = new Set(
  'title description default example examples deprecated externalDocs xml $comment readOnly writeOnly'.split(' '),
);
const types = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);
/** References that mean the same to every reader: no escapes, no other documents on the web. */
const plainReference = /^[\w./-]*#(?:\/[\w.-]+)*$/;

const isCount = (value: unknown): boolean => Number.isInteger(value) && (value as number) >= 0;
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
/** Every object has the other ones, and ajv validates them too. */
const isUsual = (name: string): boolean => !(name in {});
const isList = (value: unknown): boolean => Array.isArray(value) && value.length > 0;

/** The keywords that are understood, and what they may hold. Anything else may be an error to ajv. */
const keywords: Readonly<Record<string, (value: unknown) => boolean>> = {
  type: (value) =>
    (isList(value) || !Array.isArray(value)) && [value].flat().every((name) => types.has(name as string)),
  nullable: isFlag,
  enum: isList,
  format: (value) => typeof value === 'string' && (Object.hasOwn(fullFormats, value) || isUsual(value)),
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
  uniqueItems: (value) => value === false,
  minimum: Number.isFinite,
  maximum: Number.isFinite,
};

function patternOf(text: unknown): RegExp | null {
  try {
    return typeof text === 'string' ? new RegExp(text, 'u') : null;
  } catch {
    return null;
  }
}

/** Whether every keyword of a schema is understood, so that ajv compiles it without an error. */
function isPlain(schema: JsonObject): boolean {
  if ('$ref' in schema) {
    const rest = Object.keys(schema).every((key) => key === '$ref' || (silent.has(key) && !key.endsWith('Only')));
    return rest && typeof schema['$ref'] === 'string' && plainReference.test(schema['$ref']);
  }
  for (const key of Object.keys(schema)) {
    if (silent.has(key) || key.startsWith('x-')) continue;
    if (!Object.hasOwn(keywords, key) || !keywords[key]!(schema[key])) return false;
  }
  for (const key of ['readOnly', 'writeOnly']) if (key in schema && !isFlag(schema[key])) return false;
  return schema['nullable'] !== false || ![schema['type']].flat().includes('null');
}

function isRefused(schema: JsonObject): boolean {
  return 'nullable' in schema && !('type' in schema) && !('$ref' in schema);
}

function schemasIn({ properties, items, additionalProperties, allOf, anyOf, oneOf }: JsonObject): unknown[] {
  return [
    ...Object.values(objectOf(properties)),
    ...[items, additionalProperties].filter(isObject),
    ...[allOf, anyOf, oneOf].flatMap(listOf),
  ];
}

/** A schema, and the file that its references start at. */
export interface Placed {
  schema: unknown;
  file: string;
}

/** How Redocly validates an example. */
export interface Reading {
  /** Whether an object may have properties that its schema does not name. */
  isOpen: boolean;
  context: 'request' | 'response';
  /** What a reference leads to. Null: nowhere. */
  follow(reference: { $ref: string }, file: string): Placed | null;
}

/** Whether a value fits: of two that must hold the lower one counts. */
type Answer = -1 | 0 | 1;
const [no, unsure, yes] = [-1, 0, 1] as const;

const answerOf = (is: boolean): Answer => (is ? yes : no);
const all = (...answers: Answer[]): Answer => Math.min(yes, ...answers) as Answer;

function oneFits(answers: readonly Answer[]): Answer {
  const [best = no, second = no] = answers.toSorted((a, b) => b - a);
  return second === no ? best : second === yes ? no : unsure;
}

const plainFile = /^[\w./-]*$/;
/** How deep schemas may lie in each other. Deeper ones are not decided here. */
const deepest = 100;
/** Steps for one value: parts that refer to each other can be followed in many ways. */
const maxSteps = 100_000;

/** How ajv compiles a schema and all that it refers to. */
type Understood = 'accepted' | 'refused' | 'unknown';

/** Tells what ajv does, as Redocly sets it up, without compiling anything. */
export interface FitsSurely {
  /** Whether it surely accepts a value. */
  fits(root: Placed, value: unknown): boolean;
  /** Whether it surely refuses to compile a schema, or one that this refers to: `nullable` stands without `type`. */
  refuses(root: Placed): boolean;
}

/** Redocly compiles a validator for each schema of an example, which takes some hundred times as long as this. */
export function createFitsSurely({ isOpen, context, follow }: Reading): FitsSurely {
  const understood = new Map<unknown, Understood>();
  let steps = 0;

  function understand(root: Placed): Understood {
    const before = understood.get(root.schema);
    if (before !== undefined) return before;
    let verdict: Understood = 'accepted';
    const seen = new Set<unknown>();
    const open = [root];
    for (let next = open.pop(); next !== undefined && verdict !== 'unknown'; next = open.pop()) {
      const { schema, file } = next;
      if (seen.has(schema) || understood.get(schema) === 'accepted') continue;
      seen.add(schema);
      const inside = plainFile.test(file) ? insideOf(schema, file) : null;
      if (inside === null || understood.get(schema) === 'unknown') verdict = 'unknown';
      else if (isRefused(schema as JsonObject)) verdict = 'refused';
      open.push(...(inside ?? []));
    }
    for (const schema of verdict === 'accepted' ? seen : [root.schema]) understood.set(schema, verdict);
    return verdict;
  }

  /** The schemas that ajv compiles with one. Null: it may not compile it. */
  function insideOf(schema: unknown, file: string): Placed[] | null {
    if (!isObject(schema) || !isPlain(schema)) return null;
    if (!isReference(schema)) return schemasIn(schema).map((below) => ({ schema: below, file }));
    const target = follow(schema, file);
    return target === null || isReference(target.schema) ? null : [target];
  }

  /** `isPart`: whether the schema is a part of `allOf`, which never closes it. */
  function fits({ schema, file }: Placed, value: unknown, depth = 0, isPart = false): Answer {
    if (++steps > maxSteps || depth > deepest || !isObject(schema)) return unsure;
    if (isReference(schema)) {
      const target = follow(schema, file);
      return target === null ? unsure : fits(target, value, depth + 1, isPart);
    }
    if (isOfOtherDirection(schema)) return unsure;
    if (!hasType(schema, value)) return no;
    const below = (part: unknown, inside = value) => fits({ schema: part, file }, inside, depth + 1);
    const { anyOf, oneOf } = schema;
    return all(
      fitsChoice(schema, value),
      Array.isArray(value)
        ? fitsArray(schema, value, below)
        : isObject(value)
          ? fitsObject(schema, value, isPart, below)
          : fitsScalar(schema, value),
      ...listOf(schema['allOf']).map((part) => fits({ schema: part, file }, value, depth + 1, true)),
      anyOf === undefined ? yes : (Math.max(...listOf(anyOf).map((part) => below(part))) as Answer),
      oneOf === undefined ? yes : oneFits(listOf(oneOf).map((part) => below(part))),
    );
  }

  function fitsObject(schema: JsonObject, value: JsonObject, isPart: boolean, below: Below): Answer {
    const properties = objectOf(schema['properties']);
    const rest = schema['additionalProperties'];
    const names = Object.keys(value);
    const isThere = (name: string) =>
      value[name] !== undefined || (Object.hasOwn(properties, name) && isOfOtherDirection(objectOf(properties[name])));
    const members = names.map((name): Answer => {
      if (Object.hasOwn(properties, name))
        return value[name] === undefined ? yes : below(properties[name], value[name]);
      if (rest === false) return no;
      return isObject(rest) && value[name] !== undefined ? below(rest, value[name]) : yes;
    });
    // Redocly closes such an object: properties that nothing names, here or in `allOf`, are errors.
    const isClosed = !isOpen && !isPart && rest === undefined && 'properties' in schema;
    return all(
      answerOf(isWithin(names.length, schema['minProperties'], schema['maxProperties'])),
      answerOf((listOf(schema['required']) as string[]).every(isThere)),
      ...members,
      isClosed && !names.every((name) => Object.hasOwn(properties, name)) ? unsure : yes,
    );
  }

  /** A property of the other direction only is not required in this one. */
  function isOfOtherDirection({ readOnly, writeOnly }: JsonObject): boolean {
    return (readOnly === true && context === 'request') || (writeOnly === true && context === 'response');
  }

  return {
    fits(root, value) {
      steps = 0;
      return value !== undefined && understand(root) === 'accepted' && fits(root, value) === yes;
    },
    refuses: (root) => understand(root) === 'refused',
  };
}

type Below = (schema: unknown, value: unknown) => Answer;

export function isReference(schema: unknown): schema is { $ref: string } {
  return isObject(schema) && typeof schema['$ref'] === 'string';
}

function hasType({ type, nullable }: JsonObject, value: unknown): boolean {
  if (type === undefined) return true;
  const names = [type].flat() as string[];
  if (value === null) return nullable === true || names.includes('null');
  if (Array.isArray(value)) return names.includes('array');
  if (typeof value !== 'number') return names.includes(typeof value);
  return names.includes('number') || (names.includes('integer') && Number.isInteger(value));
}

/** Objects and lists are not compared here. */
function fitsChoice(schema: JsonObject, value: unknown): Answer {
  if (schema['enum'] === undefined) return yes;
  return typeof value === 'object' && value !== null ? unsure : answerOf(listOf(schema['enum']).includes(value));
}

function isWithin(size: number, least: unknown, most: unknown): boolean {
  return size >= ((least as number | undefined) ?? -Infinity) && size <= ((most as number | undefined) ?? Infinity);
}

function fitsArray({ minItems, maxItems, items }: JsonObject, value: readonly unknown[], below: Below): Answer {
  const inside = items === undefined ? [] : value.map((item) => below(items, item));
  return all(answerOf(isWithin(value.length, minItems, maxItems)), ...inside);
}

function fitsScalar({ minLength, maxLength, pattern, minimum, maximum, format }: JsonObject, value: unknown): Answer {
  if (typeof value === 'string') {
    if (!isWithin([...value].length, minLength, maxLength)) return no;
    if (pattern !== undefined && !patternOf(pattern)!.test(value)) return no;
  }
  if (typeof value === 'number' && !isWithin(value, minimum, maximum)) return no;
  return fitsFormat(format, value);
}

/** An unknown format allows everything, as for ajv. */
function fitsFormat(name: unknown, value: unknown): Answer {
  const format = typeof name === 'string' && Object.hasOwn(fullFormats, name) ? fullFormats[name as 'date'] : true;
  const isNumeric = isObject(format) && format['type'] === 'number';
  if (format === true || typeof value !== (isNumeric ? 'number' : 'string')) return yes;
  const check: unknown = typeof format === 'object' && 'validate' in format ? format.validate : format;
  if (check instanceof RegExp) return answerOf(check.test(value as string));
  return typeof check === 'function' ? answerOf((check as (value: unknown) => boolean)(value)) : unsure;
}
