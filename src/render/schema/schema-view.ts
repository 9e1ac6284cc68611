import { type JsonObject, isObject } from '../../model/json.ts';
import { entriesOf, listOf, objectOf, textOf } from '../json-value.ts';
import {
  compositions,
  isNamed,
  plainAlternatives,
  resolveSchema,
  type Schemas,
  type ResolvedSchema,
  typeOf,
  type TypePart,
} from './schemas.ts';
import { isNumeric, type Numeric } from '../../model/exact-numbers.ts';
import { valueText } from './example.ts';

/**
 * One line of a schema tree with its children. `schema` is any JSON value: `true`, `false` and
 * invalid ones occur too.
 */
export interface SchemaRow {
  /** Start of the line: a property's name (`code`) or words (`text`). */
  label: { code: string } | { text: string } | null;
  isRequired: boolean;
  schema: unknown;
  /** Of an alternative: the whole schema with no other one. */
  alone?: JsonObject | undefined;
}

/** One kind of a schema's parts: its properties, or alternatives under a heading. */
export interface SchemaGroup {
  /** Such as `One of`; empty for properties. */
  heading: string;
  rows: SchemaRow[];
  /** Number of rows left out. */
  more: number;
}

/** The label of the one schema of all items. */
export const eachItem = 'each item';

// Most rows of one schema.
const maxRows = 2000;
const maxOptions = 300;

/** The groups below a schema's own line. `via` and `follow`: as for `resolveSchema`. */
function groupsOf(schemas: Schemas, schema: JsonObject, via: ReadonlySet<string>, follow: boolean): SchemaGroup[] {
  const isSilent = (one: unknown) => isNamed(schemas, one) && !(follow && leadsTo(schemas, one, via, 'enum'));
  // The words for its type name each alternative.
  const isTold = (one: JsonObject) => discriminated(one) === null && plainAlternatives(schemas, one, 0) !== null;
  const groups: SchemaGroup[] = [];
  const required = new Set(listOf(schema['required']).slice(0, maxRows));
  const all = entriesOf(schema['properties']);
  const properties = all.slice(0, maxRows).map(([name, one]): SchemaRow => {
    return { label: { code: name }, isRequired: required.has(name), schema: one };
  });
  const missing = [...required]
    .filter((name) => typeof name === 'string' && !Object.hasOwn(objectOf(schema['properties']), name))
    .map((name): SchemaRow => ({ label: { code: name as string }, isRequired: true, schema: true }));
  const patterns = entriesOf(schema['patternProperties'])
    .slice(0, maxRows)
    .map(([pattern, one]) => row({ text: `names like ${pattern.slice(0, 500)}` }, one));
  const rows = [...properties, ...(isObject(schema['properties']) ? missing : []), ...patterns];
  for (const keyword of ['additionalProperties', 'unevaluatedProperties'])
    if (isObject(schema[keyword]) && (rows.length > 0 || !isSilent(schema[keyword])))
      rows.push(row({ text: 'any other name' }, schema[keyword]));
  if (rows.length > 0) groups.push({ heading: '', rows, more: all.length - properties.length });
  groups.push(...itemGroups(schema, isSilent));
  const mapped = mappedOptions(schema);
  if (mapped.length > 0) groups.push({ heading: 'One of', rows: mapped, more: 0 });
  for (const keyword of compositions) {
    const options = listOf(schema[keyword]);
    if (
      options.length === 0 ||
      (isTold(schema) && !(follow && options.some((one) => leadsTo(schemas, one, via, 'properties'))))
    )
      continue;
    const heading = { allOf: 'All of', oneOf: 'One of', anyOf: 'Any of' }[keyword];
    const lines = options
      .slice(0, maxOptions)
      .map((option) => row(mappingLabel(schema, option), option, { ...schema, [keyword]: [option] }));
    groups.push({ heading, rows: lines, more: options.length - lines.length });
  }
  for (const [keyword, heading] of conditions)
    if (schema[keyword] !== undefined) groups.push({ heading, rows: [row(null, schema[keyword])], more: 0 });
  for (const keyword of ['dependentSchemas', 'dependencies'])
    for (const [name, one] of entriesOf(schema[keyword]).slice(0, maxOptions))
      if (isObject(one)) groups.push({ heading: `With ${name.slice(0, 200)}`, rows: [row(null, one)], more: 0 });
  return groups;
}

const conditions: readonly (readonly [string, string])[] = [
  ['not', 'Not'],
  ['if', 'If'],
  ['then', 'Then'],
  ['else', 'Else'],
  ['contains', 'Contains'],
  ['propertyNames', 'Names of properties'],
  ['contentSchema', 'Content'],
];

/** Whether a reference leads to a schema with a keyword: to fields, or to a list of values. */
function leadsTo(schemas: Schemas, schema: unknown, via: ReadonlySet<string>, key: 'properties' | 'enum'): boolean {
  return isObject(schema) && resolveSchema(schemas, schema, via, true).value[key] !== undefined;
}

function itemGroups(schema: JsonObject, isSilent: (one: unknown) => boolean): SchemaGroup[] {
  const { items } = schema;
  const first = Array.isArray(items) ? items : listOf(schema['prefixItems']);
  const rows = first.slice(0, maxOptions).map((one: unknown, at) => row({ text: `item ${at + 1}` }, one));
  const rest = Array.isArray(items) ? schema['additionalItems'] : items;
  const others = [rest, schema['unevaluatedItems']].filter(
    (one) => isObject(one) && (rows.length > 0 || !isSilent(one)),
  );
  const label = { text: rows.length > 0 ? 'every other item' : eachItem };
  const lines = [...rows, ...others.map((one) => row(label, one))];
  return lines.length === 0 ? [] : [{ heading: '', rows: lines, more: first.length - rows.length }];
}

function row(label: SchemaRow['label'], schema: unknown, alone?: JsonObject): SchemaRow {
  return { label, isRequired: false, schema, alone };
}

function discriminated(schema: JsonObject): readonly [string, unknown][] | null {
  const mapping = objectOf(schema['discriminator'])['mapping'];
  return isObject(mapping) ? entriesOf(mapping) : null;
}

/** The alternatives of a base schema that lists them only in its discriminator. */
function mappedOptions(schema: JsonObject): SchemaRow[] {
  if (schema['oneOf'] !== undefined || schema['anyOf'] !== undefined) return [];
  return (discriminated(schema) ?? []).slice(0, maxOptions).flatMap(([value, target]) => {
    const reference = textOf(target);
    if (reference === '') return [];
    const option = { $ref: reference.includes('/') ? reference : `#/components/schemas/${reference}` };
    return [row({ code: value }, option, { ...schema, oneOf: [option] })];
  });
}

/** The discriminator values that select this option. */
function mappingLabel(schema: JsonObject, option: unknown): SchemaRow['label'] {
  const reference = textOf(objectOf(option)['$ref']);
  const values = (discriminated(schema) ?? [])
    .slice(0, maxOptions)
    .filter(([, target]) => reference !== '' && (target === reference || reference.endsWith(`/${textOf(target)}`)));
  return values.length === 0
    ? null
    : {
        code: values
          .slice(0, 20)
          .map(([value]) => value)
          .join(', '),
      };
}

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
  schemas.left -= costOf(resolved.value);
  const read = () => readView(schemas, resolved, follow);
  // Many schemas may be made of one, and each of them has its properties.
  const isLeaf = entriesOf(schema).every(([key, member]) => typeof member !== 'object' && !key.startsWith('$'));
  return isLeaf ? schemas.once(schema, 'view', read) : read();
}

function readView(schemas: Schemas, resolved: ResolvedSchema, follow: boolean): SchemaView {
  const { value } = resolved;
  const content = contentOf(schemas, resolved, follow);
  const groups = groupsOf(schemas, content.value, content.via, follow);
  const words = typeWords(schemas, resolved);
  // `one of` is redundant above the heading `One of`, and so is `Cat or Dog` above both.
  const isToldBelow = resolved.reference === null && plainAlternatives(schemas, value, 0) !== null;
  const type = groups.some(({ heading }) => heading !== '' && (isToldBelow || heading.toLowerCase() === words.join('')))
    ? []
    : words;
  const values = listOf(value['enum']);
  return {
    type,
    title: textOf(value['title']),
    description: textOf(value['description']),
    flags: flags.filter(([keyword]) => value[keyword] === true).map(([, flag]) => flag),
    constraints: constraintsOf(value),
    values: values.slice(0, maxRows).map((one) => valueText(one)),
    moreValues: Math.max(0, values.length - maxRows),
    groups,
    examples: examplesOf(value),
    via: content.via,
    isFollowed: content.isFollowed,
  };
}

const flags = [
  ['deprecated', 'deprecated'],
  ['readOnly', 'read-only'],
  ['writeOnly', 'write-only'],
] as const;

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
  const text = (words: string, written: unknown) => {
    if (textOf(written) !== '') add(words, textOf(written));
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
    text('pattern', schema['pattern']);
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
  text('holds', schema['contentMediaType']);
  text('encoded as', schema['contentEncoding']);
  text('written as', schema['collectionFormat']);
  // In OpenAPI 2.0 it is the name itself.
  text('told apart by', textOf(schema['discriminator']) || objectOf(schema['discriminator'])['propertyName']);
  for (const keyword of ['dependentRequired', 'dependencies'])
    for (const [name, others] of entriesOf(schema[keyword]).slice(0, 20))
      if (Array.isArray(others)) add(`with ${name.slice(0, 100)} also`, listOf(others).map(textOf).join(', '));
  const needed = schema['properties'] === undefined ? listOf(schema['required']).slice(0, 100).map(textOf) : [];
  if (needed.length > 0) add('needs', needed.join(', '));
  text('in XML', objectOf(schema['xml'])['name']);
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
