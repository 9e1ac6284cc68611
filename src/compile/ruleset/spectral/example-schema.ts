import { isObject } from '../../../model/json.ts';
import { setMember } from '../../text/text.ts';
import type { Graph } from './graph.ts';

/** The direction of an example: write-only and read-only members may be missing in the other one. */
export type Direction = 'request' | 'response' | 'any';

/** Keywords whose values are schemas, lists of schemas, and maps of schemas. */
const single = new Set(
  'additionalItems additionalProperties contains else if items not propertyNames then unevaluatedItems unevaluatedProperties'.split(' '), // prettier-ignore
);
const lists = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems', 'items']);
const maps = new Set(['properties', 'patternProperties', 'dependentSchemas']);
/** Keywords that are copied. All others, such as identifiers, have no meaning for one example. */
const plain = new Set(
  [
    'const dependentRequired enum exclusiveMaximum exclusiveMinimum format maxContains maxItems maxLength',
    'maxProperties maximum minContains minItems minLength minProperties minimum multipleOf pattern type uniqueItems',
  ].flatMap((line) => line.split(' ')),
);

/**
 * Writes schemas of a document for a validator, one for each schema that references lead to, so
 * that cycles stay finite.
 */
export interface ExampleSchemas {
  /** The name of a schema. Its definition, and those of all that it refers to, are in `take`. */
  nameOf(schema: object): string;
  /** The definitions that were not taken before. */
  take(): [name: string, definition: Record<string, unknown>][];
}

export function createExampleSchemas(graph: Graph, direction: Direction): ExampleSchemas {
  const names = new Map<object, string>();
  const open: object[] = [];

  function nameOf(schema: object): string {
    const existing = names.get(schema);
    if (existing !== undefined) return existing;
    const name = `/example/${direction}/${names.size}`;
    names.set(schema, name);
    open.push(schema);
    return name;
  }

  function write(value: unknown): unknown {
    const schema = graph.follow(value);
    if (!isObject(schema)) return typeof schema === 'boolean' ? schema : {};
    return graph.isTarget(schema) ? { $ref: `${nameOf(schema)}#` } : define(schema);
  }

  function define(schema: Record<string, unknown>): Record<string, unknown> {
    const copy: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(schema)) {
      if (maps.has(key) && isObject(value)) {
        const map: Record<string, unknown> = {};
        for (const [name, child] of Object.entries(value)) setMember(map, name, write(child));
        copy[key] = map;
      } else if (lists.has(key) && Array.isArray(value)) {
        if (value.length > 0) copy[key] = value.map(write);
      } else if (single.has(key)) copy[key] = write(value);
      else if (plain.has(key)) copy[key] = value;
    }
    if (Array.isArray(schema['required'])) {
      const required = schema['required'].filter((name) => typeof name === 'string' && isPresent(schema, name));
      if (required.length > 0) copy['required'] = [...new Set(required)];
    }
    const isNullable = schema['nullable'] === true || schema['x-nullable'] === true;
    if (isNullable && copy['type'] !== undefined) copy['nullable'] = true;
    return copy;
  }

  /** Whether a required property must be there in this direction. */
  function isPresent({ properties }: Record<string, unknown>, name: string): boolean {
    const property = isObject(properties) && Object.hasOwn(properties, name) ? graph.follow(properties[name]) : null;
    if (!isObject(property)) return true;
    return !(
      (direction === 'request' && property['readOnly'] === true) ||
      (direction === 'response' && property['writeOnly'] === true)
    );
  }

  return {
    nameOf,
    take() {
      const members: [string, Record<string, unknown>][] = [];
      for (let schema = open.shift(); schema !== undefined; schema = open.shift())
        members.push([names.get(schema)!, define(schema as Record<string, unknown>)]);
      return members;
    },
  };
}
