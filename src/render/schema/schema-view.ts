import { isNumeric, type Numeric } from '../../model/exact-numbers.ts';
import { type JsonObject, isObject } from '../../model/json.ts';
import { valueText } from './example.ts';
import { entriesOf, listOf, textOf, objectOf } from '../json-value.ts';
import { resolveSchema, type ResolvedSchema } from './resolve-schema.ts';
import { groupsOf, maxRows, type SchemaGroup } from './schema-groups.ts';
import { plainAlternatives, typeOf, type TypePart } from './schema-type.ts';
import type { Schemas } from './schemas.ts';

/** One schema for display: its own line, and groups of lines below. */
export interface SchemaView {
  type: TypePart[];
  title: string;
  /** Markdown. */
  description: string;
  /** `deprecated`, `read-only`, `write-only`. */
  flags: string[];
  constraints: Constraint[];
  /** Enum values, as JSON or plain text. */
  values: string[];
  /** Number of values left out. */
  moreValues: number;
  /** Of an array or a map: the groups of what is in it. */
  groups: SchemaGroup[];
  examples: unknown[];
  /** References replaced so far. Pass them on to the rows of the groups, so that a cycle ends. */
  via: ReadonlySet<string>;
  /** Whether the groups belong to a schema that has a name. */
  isFollowed: boolean;
}

const noReferences: ReadonlySet<string> = new Set();

/**
 * Reads a schema. A reference to a schema without a name is replaced by its target; one to a named
 * schema only with `follow`, and then the type still has the name. `via`: the references replaced on
 * the way here.
 */
export function viewSchema(
  schemas: Schemas,
  schema: unknown,
  via: ReadonlySet<string> = noReferences,
  follow = false,
): SchemaView {
  if (!isObject(schema)) return { ...bare, type: [schema === false ? 'nothing' : 'anything'] };
  if (schemas.left < 0) return { ...bare, type: ['not shown'] };
  const resolved = resolveSchema(schemas, schema, via, follow);
  const { value } = resolved;
  schemas.left -= costOf(value);
  const content = contentOf(schemas, resolved, follow);
  const groups = groupsOf(schemas, content.value, content.via, follow);
  const words = typeWords(schemas, resolved);
  // `one of` is redundant above the heading `One of`, and so is `Cat or Dog` above both.
  const isToldBelow = resolved.reference === null && plainAlternatives(schemas, value, 0) !== null;
  const type = groups.some(({ heading }) => heading !== '' && (isToldBelow || heading.toLowerCase() === words.join('')))
    ? []
    : words;
  const values = listOf(value['enum']);
  const flags = [
    ...(value['deprecated'] === true ? ['deprecated'] : []),
    ...(value['readOnly'] === true ? ['read-only'] : []),
    ...(value['writeOnly'] === true ? ['write-only'] : []),
  ];
  return {
    type,
    title: textOf(value['title']),
    description: textOf(value['description']),
    flags,
    constraints: constraintsOf(value),
    values: values.slice(0, maxRows).map((one) => valueText(one)),
    moreValues: Math.max(0, values.length - maxRows),
    groups,
    examples: examplesOf(value),
    via: content.via,
    isFollowed: content.isFollowed,
  };
}

function typeWords(schemas: Schemas, { reference, value, bases, isFollowed }: ResolvedSchema): TypePart[] {
  if (reference !== null) {
    // The name of an object stands for its fields; that of a string says nothing of it.
    const words = isFollowed && !hasMembers(value) ? typeOf(schemas, value, 0) : [];
    const hasWords = words.length > 0 && words[0] !== 'object' && words[0] !== 'anything';
    return hasWords
      ? [...words, ' · ', ...typeOf(schemas, { $ref: reference }, 0)]
      : typeOf(schemas, { ...value, $ref: reference }, 0);
  }
  if (bases.length === 0) return typeOf(schemas, value, 0);
  return bases.slice(0, 10).flatMap((name, at) => [...(at === 0 ? [] : [' and ']), { schema: name }]);
}

/** The innermost items of an array or a map; otherwise the schema itself. */
function contentOf(schemas: Schemas, resolved: ResolvedSchema, follow: boolean): ResolvedSchema {
  let content = resolved;
  for (let depth = 0; depth < 4; depth++) {
    const inside = insideOf(content.value);
    if (inside === null) return content;
    const next = resolveSchema(schemas, inside, content.via, follow);
    if (insideOf(next.value) === null && !hasMembers(next.value)) return content;
    schemas.left -= costOf(next.value);
    content = { ...next, isFollowed: content.isFollowed || next.isFollowed };
  }
  return content;
}

/** The one schema of all items of an array, or of all members of a map. */
function insideOf(schema: JsonObject): JsonObject | null {
  if (hasMembers(schema)) return null;
  const { items, additionalProperties } = schema;
  if (isObject(items)) return schema['prefixItems'] === undefined ? items : null;
  return isObject(additionalProperties) ? additionalProperties : null;
}

const memberKeys = ['properties', 'patternProperties', 'oneOf', 'anyOf', 'allOf'];

function hasMembers(schema: JsonObject): boolean {
  return memberKeys.some((key) => schema[key] !== undefined);
}

const bare: SchemaView = {
  type: [],
  title: '',
  description: '',
  flags: [],
  constraints: [],
  values: [],
  moreValues: 0,
  groups: [],
  examples: [],
  via: noReferences,
  isFollowed: false,
};

/** Number of members to read in one schema. */
function costOf(schema: JsonObject): number {
  const lists = [schema['required'], schema['enum'], schema['allOf'], schema['oneOf'], schema['anyOf']];
  const maps = [schema['properties'], schema['patternProperties'], schema['dependencies'], schema];
  const count = (sum: number, length: number) => sum + Math.min(length, maxRows);
  return [...lists.map((list) => listOf(list).length), ...maps.map((map) => entriesOf(map).length)].reduce(count, 1);
}

function examplesOf(schema: JsonObject): unknown[] {
  const { example, examples } = schema;
  if (Array.isArray(examples)) return examples.slice(0, 10) as unknown[];
  return example === undefined ? [] : [example];
}

/** A requirement beyond the type: words and perhaps a value. */
interface Constraint {
  words: string;
  /** As written in the document; empty if the words are enough. */
  code: string;
}

/**
 * The constraints of one schema, each in a few words: `1 to 100 characters`, `pattern ^a`, `default
 * 1`.
 */
function constraintsOf(schema: JsonObject): Constraint[] {
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

function rangeOf(least: Numeric | null, most: Numeric | null, one: string, many: string): string | null {
  const unit = (count: Numeric) => (count === 1 ? one : many);
  if (least !== null && least === most) return `exactly ${least} ${unit(least)}`;
  if (least !== null && least > 0 && most !== null) return `${least} to ${most} ${unit(most)}`;
  if (most !== null) return `at most ${most} ${unit(most)}`;
  return least === null || least <= 0 ? null : `at least ${least} ${unit(least)}`;
}

function number(value: unknown): Numeric | null {
  return isNumeric(value) ? value : null;
}
