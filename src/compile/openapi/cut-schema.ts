import { isObject } from '../../model/json.ts';
import type { FitsSurely, Follow, Placed } from './fits-surely.ts';
import { keywordsOf, type Schema } from './plain-schema.ts';

/** How many properties are looked at for one schema. */
const maxProperties = 100_000;

/**
 * Cuts a schema down to what these values do not fit, so that ajv reports the same errors and
 * compiles a small part of it. The result has no references: ajv would keep it under the name of
 * the whole schema. Null: the whole schema is needed.
 */
export function cutToMisfits(
  root: Placed,
  values: readonly unknown[],
  { understand, fits, follow }: FitsSurely & { follow: Follow },
): Schema | 'fits' | null {
  const understood = understand(root);
  if (understood === 'unknown') return null;
  // ajv reports that it cannot compile the schema, whatever the value is.
  if (understood === 'nullable') return values.length === 0 ? 'fits' : { nullable: true, enum: [null] };
  if (values.every((value) => fits(root, value) === true)) return 'fits';
  let steps = 0;
  const whole = cut(root, values);
  return whole === null || JSON.stringify(whole).includes('"$ref"') ? null : whole;

  function cut({ schema, file }: Placed, below: readonly unknown[]): Schema | null {
    if (!isObject(schema)) return null;
    if (below.every((value) => fits({ schema, file }, value) === true)) return flagsOf(schema);
    if (typeof schema['$ref'] === 'string') {
      const target = follow(schema as { $ref: string }, file);
      return target && cut(target, below);
    }
    const { properties, items, additionalProperties: rest, ...kept } = keywordsOf(schema);
    const objects = below.filter(isObject);
    if (isObject(properties)) {
      const parts: Schema = {};
      kept['properties'] = parts;
      for (const [name, part] of Object.entries(properties)) {
        if (++steps > maxProperties) return null;
        const left = cut({ schema: part, file }, valuesOf(objects, name));
        if (left === null) return null;
        parts[name] = left;
      }
    }
    if (isObject(rest)) {
      const isNamed = (name: string) => isObject(properties) && Object.hasOwn(properties, name);
      const unnamed = objects.flatMap((each) =>
        Object.keys(each).flatMap((name) => (isNamed(name) ? [] : [each[name]])),
      );
      const left = cut({ schema: rest, file }, unnamed);
      if (left === null) return null;
      kept['additionalProperties'] = left;
    } else if (rest !== undefined) kept['additionalProperties'] = rest;
    // How ajv names twins depends on the type of the items.
    if (schema['uniqueItems'] === true) kept['items'] = items ?? {};
    else if (items !== undefined) {
      const left = cut({ schema: items, file }, below.filter(Array.isArray).flat(1));
      if (left === null) return null;
      kept['items'] = left;
    }
    return { ...kept, ...flagsOf(schema) };
  }
}

/** Whether a property is required depends on them. */
function flagsOf(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([key]) => key === 'readOnly' || key === 'writeOnly'));
}

function valuesOf(objects: readonly Schema[], name: string): unknown[] {
  return objects.flatMap((each) => (each[name] === undefined ? [] : [each[name]]));
}
