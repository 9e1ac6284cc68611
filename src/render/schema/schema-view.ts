import { valueText } from './example.ts';
import { entriesOf, isObject, listOf, textOf, type JsonObject } from '../json-value.ts';
import { constraintsOf, type Constraint } from './schema-constraints.ts';
import { groupsOf, mostRows, type SchemaGroup } from './schema-groups.ts';
import { typeOf, type TypePart } from './schema-type.ts';
import { lookThrough, type Schemas } from './schemas.ts';

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
  groups: SchemaGroup[];
  examples: unknown[];
}

/**
 * Reads a schema, but not the schemas that it refers to. A reference to a schema without a name is
 * replaced by its target. `via`: the references replaced on the way here, so that a cycle ends.
 */
export function viewSchema(schemas: Schemas, schema: unknown, via: ReadonlySet<string> = new Set()): SchemaView {
  if (!isObject(schema)) return { ...bare, type: [schema === false ? 'nothing' : 'anything'] };
  if (schemas.left < 0) return { ...bare, type: ['not shown'] };
  const { reference, value } = lookThrough(schemas, schema, via);
  schemas.left -= costOf(value);
  const groups = groupsOf(schemas, value);
  const words = typeOf(schemas, reference === null ? value : { ...value, $ref: reference }, 0);
  // `one of` is redundant above the heading `One of`.
  const type = groups.some(({ heading }) => heading !== '' && heading.toLowerCase() === words.join('')) ? [] : words;
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
    values: values.slice(0, mostRows).map((one) => valueText(one)),
    moreValues: Math.max(0, values.length - mostRows),
    groups,
    examples: examplesOf(value),
  };
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
};

/** Number of members to read in one schema. */
function costOf(schema: JsonObject): number {
  const lists = [schema['required'], schema['enum'], schema['allOf'], schema['oneOf'], schema['anyOf']];
  const maps = [schema['properties'], schema['patternProperties'], schema['dependencies'], schema];
  const count = (sum: number, length: number) => sum + Math.min(length, mostRows);
  return [...lists.map((list) => listOf(list).length), ...maps.map((map) => entriesOf(map).length)].reduce(count, 1);
}

function examplesOf(schema: JsonObject): unknown[] {
  const { example, examples } = schema;
  if (Array.isArray(examples)) return examples.slice(0, 10) as unknown[];
  return example === undefined ? [] : [example];
}
