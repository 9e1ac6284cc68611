import { oneLine } from '../model/escape.ts';
import type { Outline, OutlineSchema } from '../model/outline.ts';
import { digestOfValue, listOf, objectOf } from './json-value.ts';

/** Most entries read from a list of a document. */
export const listLimit = 20_000;

/** The longest texts in an outline, in characters. */
export const longest = { name: 1000, title: 200, summary: 300, description: 500 };

/** What an outline has that lists nothing. */
export const empty: Omit<Outline, 'title' | 'description'> = {
  operations: [],
  schemas: [],
  tags: [],
  rules: [],
  servers: [],
  truncated: false,
};

/** A named schema in an outline. */
export function namedSchema(name: string, schema: unknown): OutlineSchema {
  const parts = [schema, ...listOf(objectOf(schema)['allOf'])];
  const properties = parts.flatMap((part) => Object.keys(objectOf(objectOf(part)['properties'])));
  return {
    name: oneLine(name, longest.name),
    properties: [...new Set(properties)].slice(0, listLimit).map((property) => oneLine(property, longest.title)),
    digest: digestOfValue(schema),
  };
}
