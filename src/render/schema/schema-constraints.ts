import type { JsonObject } from '../../model/json.ts';
import { valueText } from './example.ts';
import { entriesOf, listOf, objectOf, textOf } from '../json-value.ts';

/** A requirement beyond the type: words and perhaps a value. */
export interface Constraint {
  words: string;
  /** As written in the document; empty if the words are enough. */
  code: string;
}

/**
 * The constraints of one schema, each in a few words: `1 to 100 characters`, `pattern ^a`, `default
 * 1`.
 */
export function constraintsOf(schema: JsonObject): Constraint[] {
  const constraints: Constraint[] = [];
  // A keyword says something only of values of its type.
  const types = [schema['type']].flat().filter((name) => typeof name === 'string');
  const mayBe = (...names: string[]) => types.length === 0 || names.some((name) => types.includes(name));
  const add = (words: string, code = '') => void constraints.push({ words, code: code.slice(0, 1000) });
  const value = (key: string, words: string) => {
    if (Object.hasOwn(schema, key)) add(words, valueText(schema[key]));
  };
  const count = (least: string, most: string, one: string, many: string) => {
    const words = rangeOf(number(schema[least]), number(schema[most]), one, many);
    if (words !== null) add(words);
  };
  value('const', 'always');
  value('default', 'default');
  if (mayBe('number', 'integer')) {
    addRange(schema, add);
    if (number(schema['multipleOf']) !== null) add(`multiple of ${number(schema['multipleOf'])}`);
  }
  if (mayBe('string')) {
    count('minLength', 'maxLength', 'character', 'characters');
    if (textOf(schema['pattern']) !== '') add('pattern', textOf(schema['pattern']));
  }
  if (mayBe('array')) {
    count('minItems', 'maxItems', 'item', 'items');
    if (schema['uniqueItems'] === true) add('no item twice');
    count('minContains', 'maxContains', 'of these', 'of these');
    if (schema['additionalItems'] === false || (schema['items'] === false && schema['prefixItems'] !== undefined))
      add('no other items');
  }
  if (mayBe('object')) {
    count('minProperties', 'maxProperties', 'property', 'properties');
    if (schema['additionalProperties'] === false || schema['unevaluatedProperties'] === false)
      add('no other properties');
  }
  for (const keyword of ['contentMediaType', 'contentEncoding'])
    if (textOf(schema[keyword]) !== '')
      add(keyword === 'contentEncoding' ? 'encoded as' : 'holds', textOf(schema[keyword]));
  if (textOf(schema['collectionFormat']) !== '') add('written as', textOf(schema['collectionFormat']));
  const { propertyName } = objectOf(schema['discriminator']);
  if (textOf(schema['discriminator']) || textOf(propertyName))
    add('told apart by', textOf(schema['discriminator']) || textOf(propertyName));
  for (const keyword of ['dependentRequired', 'dependencies'])
    for (const [name, others] of entriesOf(schema[keyword]).slice(0, 20))
      if (Array.isArray(others)) add(`with ${name.slice(0, 100)} also`, listOf(others).map(textOf).join(', '));
  const needed = schema['properties'] === undefined ? listOf(schema['required']).slice(0, 100).map(textOf) : [];
  if (needed.length > 0) add('needs', needed.join(', '));
  const xml = objectOf(schema['xml']);
  if (textOf(xml['name']) !== '') add('in XML', textOf(xml['name']));
  return constraints;
}

/**
 * `minimum` and the like. Draft 04 and OpenAPI 3.0 write `exclusiveMinimum: true` beside it, later
 * versions only a number.
 */
function addRange(schema: JsonObject, add: (words: string) => void): void {
  const least = number(schema['minimum']);
  const max = number(schema['maximum']);
  const above = number(schema['exclusiveMinimum']);
  const below = number(schema['exclusiveMaximum']);
  const isAbove = schema['exclusiveMinimum'] === true;
  const isBelow = schema['exclusiveMaximum'] === true;
  if (least !== null && max !== null && !isAbove && !isBelow) add(`${least} to ${max}`);
  else {
    if (least !== null) add(isAbove ? `more than ${least}` : `at least ${least}`);
    if (max !== null) add(isBelow ? `less than ${max}` : `at most ${max}`);
  }
  if (above !== null) add(`more than ${above}`);
  if (below !== null) add(`less than ${below}`);
}

function rangeOf(least: number | null, most: number | null, one: string, many: string): string | null {
  const unit = (count: number) => (count === 1 ? one : many);
  if (least !== null && least === most) return `exactly ${least} ${unit(least)}`;
  if (least !== null && least > 0 && most !== null) return `${least} to ${most} ${unit(most)}`;
  if (most !== null) return `at most ${most} ${unit(most)}`;
  return least === null || least <= 0 ? null : `at least ${least} ${unit(least)}`;
}

function number(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
