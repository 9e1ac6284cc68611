import { entriesOf, objectOf, textOf, type JsonObject } from './json.ts';
import { dereference, pointerKeys } from './reference.ts';

/** The schemas of a document that have a name of their own, and what references lead to. */
export interface Schemas {
  /** Name of the schema that a reference leads to, or null. */
  nameOf(reference: string): string | null;
  document: JsonObject;
  /**
   * How many more members of schemas are looked at. A few large schemas, referred to from everywhere, would keep a reader of the document busy for
   * hours; below zero a schema is said to be more than is shown.
   */
  left: number;
}

/** Many times what the largest known documents need. */
const mostLookedAt = 4_000_000;

/** Finds named schemas: those in `components/schemas`, `definitions` and `$defs`, and (named `''`) the root of a JSON Schema. */
export function createSchemas(document: JsonObject, kind: 'openapi' | 'json-schema'): Schemas {
  const folders = kind === 'openapi' ? ['#/components/schemas/', '#/definitions/'] : ['#/$defs/', '#/definitions/'];
  const ids = new Map<string, string>();
  if (kind === 'json-schema') {
    for (const [name, one] of [['', document] as const, ...definitionsOf(document)]) {
      const { $id, id, $anchor, $dynamicAnchor } = objectOf(one);
      for (const uri of [$id, id]) if (typeof uri === 'string' && uri !== '') ids.set(uri.replace(/#$/, ''), name);
      for (const anchor of [$anchor, $dynamicAnchor]) if (typeof anchor === 'string') ids.set(`#${anchor}`, name);
    }
  }
  return {
    document,
    left: mostLookedAt,
    nameOf(reference) {
      if (reference === '#' && kind === 'json-schema') return '';
      const folder = folders.find((start) => reference.startsWith(start));
      if (folder === undefined) return ids.get(reference.replace(/#$/, '')) ?? null;
      const keys = pointerKeys(reference);
      const found =
        folder === '#/components/schemas/' ? objectOf(document['components'])['schemas'] : document[keys[0]!];
      const name = keys.at(-1)!;
      return keys.length === folder.split('/').length - 1 && Object.hasOwn(objectOf(found), name) ? name : null;
    },
  };
}

/** Definitions of a JSON Schema, those of both spellings. */
export function definitionsOf(document: JsonObject): [string, unknown][] {
  return [...entriesOf(document['definitions']), ...entriesOf(document['$defs'])];
}

/** References that are looked through to see this schema: to be told to what is below it. */
export function referencesOf(schemas: Schemas, schema: unknown, via: ReadonlySet<string>): ReadonlySet<string> {
  const reference = textOf(objectOf(schema)['$ref']);
  return reference === '' || schemas.nameOf(reference) !== null ? via : new Set([...via, reference]);
}

/** A schema with what its reference leads to. `reference` is what stays a reference: to a schema with a name, in a circle, to nothing. */
export function lookThrough(
  schemas: Schemas,
  schema: JsonObject,
  via: ReadonlySet<string>,
): { reference: string | null; value: JsonObject } {
  const reference = textOf(schema['$ref']) || textOf(schema['$dynamicRef']) || textOf(schema['$recursiveRef']);
  if (reference === '') return { reference: null, value: schema };
  const { $ref: _, ...beside } = schema;
  if (schemas.nameOf(reference) !== null || via.has(reference)) return { reference, value: beside };
  const found = dereference(schemas.document, schema);
  return found === null ? { reference, value: beside } : { reference: null, value: { ...found, ...beside } };
}
