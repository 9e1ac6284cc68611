import { isObject } from '../../model/json.ts';
import { listOf, objectOf } from '../../render/json-value.ts';
import { fullFormats } from 'ajv-formats/dist/formats.js';

export type Schema = Record<string, unknown>;

/** How schemas are read: Draft 4 for OpenAPI 2.0 and 3.0, else 2020-12. */
type Dialect = 'draft4' | '2020';

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
function patternOf(text: unknown): RegExp | null {
  if (typeof text !== 'string') return null;
  if (patterns.size > 10_000) patterns.clear();
  return patterns.getOrInsertComputed(text, () => {
    try {
      return new RegExp(text, 'u');
    } catch {
      return null;
    }
  });
}

/** Whether every keyword of a schema is understood, so that ajv compiles it without an error. */
function isPlain(schema: Schema, dialect: Dialect): boolean {
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
function isNullableWithoutType(schema: Schema, dialect: Dialect): boolean {
  if (!isFlag(schema['nullable']) || 'type' in schema || '$ref' in schema) return false;
  const { nullable: _, ...rest } = schema;
  return isPlain(rest, dialect);
}

/** The keywords of a schema that say something about values. */
export function keywordsOf(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => Object.hasOwn(keywords, key)));
}

function schemasIn(schema: Schema): unknown[] {
  const { properties, items, additionalProperties, allOf, anyOf, oneOf } = schema;
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

/** What a reference leads to. Null: nowhere. */
export type Follow = (reference: { $ref: string }, file: string) => Placed | null;

/** How Redocly validates an example. */
export interface Reading {
  dialect: Dialect;
  /** Whether an object may have properties that its schema does not name. */
  isOpen: boolean;
  context: 'request' | 'response' | null;
  follow: Follow;
}

/** Whether a value fits: yes, no, or undecided. */
type Answer = true | false | null;

/**
 * How ajv compiles a schema and all that it refers to: to a validator; to an error, since a schema
 * has `nullable` without `type`; or not known here.
 */
type Understood = 'valid' | 'nullable' | 'unknown';

export interface FitsSurely {
  understand(root: Placed): Understood;
  /** Whether ajv accepts the value. Only for schemas that are understood as valid. */
  fits(root: Placed, value: unknown): Answer;
}

const plainFile = /^[\w./-]*$/;
/** How deep schemas may lie in each other. Deeper ones are not decided here. */
const deepest = 100;
/** Steps for one value: parts that refer to each other can be followed in many ways. */
const maxSteps = 100_000;

/**
 * Tells without compiling anything whether ajv, as Redocly sets it up, would accept a value.
 * Redocly compiles a validator for each example, which takes some hundred times as long as the
 * validation.
 */
export function createFitsSurely(reading: Reading): FitsSurely {
  const understood = new Map<object, Understood>();
  const { dialect, isOpen, context, follow } = reading;
  let steps = 0;

  function understand(root: Placed): Understood {
    if (!plainFile.test(root.file)) return 'unknown';
    let verdict: Understood = 'valid';
    const seen = new Set<object>();
    const open = [root];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { schema, file } = next;
      if (!isObject(schema)) return noted(root, 'unknown');
      if (seen.has(schema)) continue;
      seen.add(schema);
      const remembered = understood.get(schema);
      if (remembered === 'valid') continue;
      if (remembered === 'unknown') return noted(root, remembered);
      if (isNullableWithoutType(schema, dialect)) verdict = 'nullable';
      else if (!isPlain(schema, dialect)) return noted(root, 'unknown');
      if ('$ref' in schema) {
        const target = follow(schema as { $ref: string }, file);
        if (target === null || (isObject(target.schema) && '$ref' in target.schema)) return noted(root, 'unknown');
        open.push(target);
      } else for (const below of schemasIn(schema)) open.push({ schema: below, file });
    }
    if (verdict === 'valid') for (const schema of seen) understood.set(schema, verdict);
    return noted(root, verdict);
  }

  function noted({ schema }: Placed, answer: Understood): Understood {
    if (isObject(schema)) understood.set(schema, answer);
    return answer;
  }

  /** Whether a value fits. `isPart`: whether the schema is a part of `allOf`, which never closes it. */
  function fits({ schema, file }: Placed, value: unknown, isPart: boolean, depth: number): Answer {
    if (++steps > maxSteps || depth > deepest || !isObject(schema)) return null;
    if (typeof schema['$ref'] === 'string') {
      const target = follow(schema as { $ref: string }, file);
      return target && fits(target, value, isPart, depth + 1);
    }
    if (isOfOtherDirection(schema)) return null;
    if (!hasType(schema, value)) return false;
    const scalar = typeof value === 'object' && value !== null ? true : fitsScalar(schema, value, dialect);
    if (scalar !== true) return scalar;
    let answer = fitsChoice(schema, value);
    if (Array.isArray(value)) answer = both(answer, () => fitsArray(schema, file, value, depth));
    else if (isObject(value)) answer = both(answer, () => fitsObject(schema, file, value, isPart, depth));
    const below = (part: unknown, isPartOfAll = false) => fits({ schema: part, file }, value, isPartOfAll, depth + 1);
    for (const part of listOf(schema['allOf'])) answer = both(answer, () => below(part, true));
    const { anyOf, oneOf } = schema;
    if (anyOf !== undefined) answer = both(answer, () => anyFits(listOf(anyOf).map((part) => below(part))));
    if (oneOf !== undefined) answer = both(answer, () => oneFits(listOf(oneOf).map((part) => below(part))));
    return answer;
  }

  function fitsArray(schema: Schema, file: string, value: readonly unknown[], depth: number): Answer {
    const { minItems, maxItems, uniqueItems, items } = schema as Record<string, number | undefined>;
    if (minItems !== undefined && value.length < minItems) return false;
    if (maxItems !== undefined && value.length > maxItems) return false;
    if ((uniqueItems as unknown) === true && value.length > 1) {
      if (value.some((item) => typeof item === 'object' && item !== null)) return null;
      if (new Set(value).size < value.length) return false;
    }
    if (items === undefined) return true;
    return value.reduce<Answer>(
      (answer, item) => both(answer, () => fits({ schema: items, file }, item, false, depth + 1)),
      true,
    );
  }

  function fitsObject(schema: Schema, file: string, value: Schema, isPart: boolean, depth: number): Answer {
    const { minProperties, maxProperties } = schema as Record<string, number | undefined>;
    const names = Object.keys(value);
    if (minProperties !== undefined && names.length < minProperties) return false;
    if (maxProperties !== undefined && names.length > maxProperties) return false;
    const properties = (schema['properties'] ?? {}) as Schema;
    for (const name of (schema['required'] ?? []) as string[])
      if (value[name] === undefined && !isSkipped(properties, name)) return false;
    const rest = schema['additionalProperties'];
    let answer: Answer = true;
    for (const name of names) {
      const isNamed = Object.hasOwn(properties, name);
      if (!isNamed && rest === false) return false;
      const below = isNamed ? properties[name] : isObject(rest) ? rest : null;
      if (below === null || value[name] === undefined) continue;
      answer = both(answer, () => fits({ schema: below, file }, value[name], false, depth + 1));
    }
    if (answer !== true || isOpen || isPart || rest !== undefined || !('properties' in schema)) return answer;
    // Redocly closes such an object: properties that nothing names are errors.
    return names.every((name) => Object.hasOwn(properties, name) || isNamedIn(schema, file, name, 0)) ? true : null;
  }

  /** Whether a part of `allOf` names a property, or lets any other pass. */
  function isNamedIn(schema: Schema, file: string, name: string, depth: number): boolean {
    return listOf(schema['allOf']).some((part) => {
      const placed =
        isObject(part) && typeof part['$ref'] === 'string'
          ? follow(part as { $ref: string }, file)
          : { schema: part, file };
      if (++steps > maxSteps || placed === null || !isObject(placed.schema) || depth > deepest) return false;
      const isOwn = isObject(placed.schema['properties']) && Object.hasOwn(placed.schema['properties'], name);
      return isOwn || isNamedIn(placed.schema, placed.file, name, depth + 1);
    });
  }

  /** A property of the other direction only is not required in this one. */
  function isSkipped(properties: Schema, name: string): boolean {
    const property = Object.hasOwn(properties, name) ? properties[name] : null;
    return isObject(property) && isOfOtherDirection(property);
  }

  function isOfOtherDirection({ readOnly, writeOnly }: Schema): boolean {
    return (readOnly === true && context === 'request') || (writeOnly === true && context === 'response');
  }

  return {
    understand,
    fits: (root, value) => {
      steps = 0;
      return fits(root, value, false, 0);
    },
  };
}

/** Both must hold. */
function both(first: Answer, second: () => Answer): Answer {
  if (first === false) return false;
  const other = second();
  return other === true ? first : other;
}

function anyFits(answers: readonly Answer[]): Answer {
  if (answers.includes(true)) return true;
  return answers.includes(null) ? null : false;
}

function oneFits(answers: readonly Answer[]): Answer {
  if (answers.filter((answer) => answer === true).length > 1) return false;
  if (answers.includes(null)) return null;
  return answers.includes(true);
}

function hasType({ type, nullable }: Schema, value: unknown): boolean {
  if (type === undefined) return true;
  const names = [type].flat() as string[];
  if (value === null) return nullable === true || names.includes('null');
  if (Array.isArray(value)) return names.includes('array');
  if (typeof value !== 'number') return names.includes(typeof value);
  return Number.isFinite(value) && (names.includes('number') || (names.includes('integer') && Number.isInteger(value)));
}

/** `enum` and `const`. Objects and lists are not compared here. */
function fitsChoice(schema: Schema, value: unknown): Answer {
  const choices = 'enum' in schema ? listOf(schema['enum']) : null;
  const isConstant = 'const' in schema;
  if (choices === null && !isConstant) return true;
  if (typeof value === 'object' && value !== null) return null;
  return (choices === null || choices.includes(value)) && (!isConstant || schema['const'] === value);
}

function fitsScalar(schema: Schema, value: unknown, dialect: Dialect): Answer {
  if (typeof value === 'string') {
    const { minLength, maxLength, pattern } = schema as { minLength?: number; maxLength?: number; pattern?: string };
    const length = minLength === undefined && maxLength === undefined ? 0 : [...value].length;
    if (minLength !== undefined && length < minLength) return false;
    if (maxLength !== undefined && length > maxLength) return false;
    if (pattern !== undefined && !patternOf(pattern)!.test(value)) return false;
  }
  if (typeof value === 'number') {
    const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema as Record<string, number | boolean>;
    const isStrict = (flag: unknown) => dialect === 'draft4' && flag === true;
    if (minimum !== undefined && (value < +minimum || (isStrict(exclusiveMinimum) && value === minimum))) return false;
    if (maximum !== undefined && (value > +maximum || (isStrict(exclusiveMaximum) && value === maximum))) return false;
    if (typeof exclusiveMinimum === 'number' && value <= exclusiveMinimum) return false;
    if (typeof exclusiveMaximum === 'number' && value >= exclusiveMaximum) return false;
  }
  return fitsFormat(schema['format'], value);
}

/** An unknown format allows everything, as for ajv. */
function fitsFormat(name: unknown, value: unknown): Answer {
  const format = typeof name === 'string' && Object.hasOwn(fullFormats, name) ? fullFormats[name as 'date'] : true;
  const isNumeric = isObject(format) && format['type'] === 'number';
  if (format === true || typeof value !== (isNumeric ? 'number' : 'string')) return true;
  const check: unknown = typeof format === 'object' && 'validate' in format ? format.validate : format;
  if (check instanceof RegExp) return check.test(value as string);
  return typeof check === 'function' ? (check as (value: unknown) => boolean)(value) : null;
}
