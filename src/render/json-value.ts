import { isNumeric, parseExactly } from '../model/exact-numbers.ts';
import { isObject, type JsonObject } from '../model/json.ts';

/**
 * The value if it is an object, otherwise an empty one: with lenient validation, a document may
 * have any value anywhere.
 */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

// Entries of large objects, by the object: a document may refer to one of them thousands of times.
const large = new WeakMap<object, [string, unknown][]>();

/** The members of an object; otherwise none. The list is cached and must not be changed. */
export function entriesOf(value: unknown): readonly [string, unknown][] {
  if (!isObject(value)) return [];
  const remembered = large.get(value);
  if (remembered !== undefined) return remembered;
  const entries = Object.entries(value);
  if (entries.length > 500) large.set(value, entries);
  return entries;
}

/** The items of a list; otherwise none. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/** The text of a string, number or boolean; otherwise empty. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return isNumeric(value) || typeof value === 'boolean' ? String(value) : '';
}

/** Parses bytes as a JSON object, with all digits of its integers. Null if they are not one. */
export function parseObject(json: Uint8Array): JsonObject | null {
  try {
    const value = parseExactly(new TextDecoder().decode(json));
    return isObject(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
