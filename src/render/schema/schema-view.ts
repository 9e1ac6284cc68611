import { type JsonObject, isObject } from '../../model/json.ts';
import { valueText } from './example.ts';
import { entriesOf, listOf, textOf } from '../json-value.ts';
import { constraintsOf, type Constraint } from './schema-constraints.ts';
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
