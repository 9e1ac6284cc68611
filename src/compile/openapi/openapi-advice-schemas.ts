import { isObject } from '../../model/json.ts';
import { joinPointer } from '../text/pointer.ts';
import { namedMembers } from './openapi-references.ts';
import type { OpenapiVersion } from './openapi-schema.ts';

/** Something that the specification's schema allows and other tools refuse. */
export interface Advice {
  rule: string;
  pointer: string;
  on: 'key' | 'value';
  message: string;
}

export type Note = (rule: string, pointer: string, message: string, on?: 'key' | 'value') => void;

/** Members in whose value nothing is a schema. */
const data = new Set(['example', 'examples', 'default', 'enum', 'const', 'value', 'security']);
/** Schemas that are a part of another, which may declare what they require. */
const parts = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'if', 'then', 'else']);
const composed = ['allOf', 'oneOf', 'anyOf', '$ref', 'patternProperties', 'if'];

/** The way to a node, from its end. */
interface Way {
  parent: Way | null;
  key: string | number;
}

/**
 * Finds arrays without `items`, which OpenAPI 2.0 and 3.0 demand, and required properties that
 * nothing declares. Finds schemas by their form, wherever they stand.
 */
export function adviseSchemas(root: unknown, version: OpenapiVersion, note: Note): void {
  const needsItems = version === '2.0' || version === '3.0';
  const seen = new Set<object>();

  function visit(node: object, way: Way | null, isSchema: boolean, isPart: boolean): void {
    if (seen.has(node)) return;
    seen.add(node);
    if (Array.isArray(node)) {
      for (let index = 0; index < node.length; index++) {
        const item: unknown = node[index];
        if (typeof item === 'object' && item !== null) visit(item, { parent: way, key: index }, true, isPart);
      }
      return;
    }
    const holder = node as Record<string, unknown>;
    if (isSchema) {
      if (needsItems && holder['type'] === 'array' && holder['items'] === undefined && holder['$ref'] === undefined)
        note('array-items', pointerOf(way), 'An array needs "items". Add "items: {}" to allow anything.', 'key');
      if (!isPart && Array.isArray(holder['required'])) adviseRequired(holder, way, note);
    }
    for (const key in holder) {
      const child = holder[key];
      if (typeof child !== 'object' || child === null) continue;
      if (isSchema && (data.has(key) || key.startsWith('x-'))) continue;
      visit(child, { parent: way, key }, !(isSchema && namedMembers.has(key)), isSchema && parts.has(key));
    }
  }

  if (isObject(root)) visit(root, null, true, false);
}

function adviseRequired(schema: Record<string, unknown>, way: Way | null, note: Note): void {
  const { required, properties, additionalProperties } = schema;
  if (!isObject(properties) || isObject(additionalProperties)) return;
  if (composed.some((key) => key in schema)) return;
  for (const [index, name] of (required as unknown[]).entries())
    if (typeof name === 'string' && !Object.hasOwn(properties, name)) {
      const message = `The property "${name}" is required but not declared in "properties".`;
      note('required-undeclared', joinPointer(pointerOf(way), 'required', index), message);
    }
}

function pointerOf(way: Way | null): string {
  return way === null ? '' : joinPointer(pointerOf(way.parent), way.key);
}
