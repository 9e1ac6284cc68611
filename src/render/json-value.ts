/** An object of a JSON document: members of any name and any value. */
export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value if it is an object, else an empty one: documents are published with any value anywhere where validation is lenient. */
export function objectOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

// Entries of large objects, by the object: a document may refer to one of them thousands of times.
const large = new WeakMap<object, [string, unknown][]>();

/** Members of an object; of anything else none. Not to be changed: the same list is given again. */
export function entriesOf(value: unknown): readonly [string, unknown][] {
  if (!isObject(value)) return [];
  const known = large.get(value);
  if (known !== undefined) return known;
  const entries = Object.entries(value);
  if (entries.length > 500) large.set(value, entries);
  return entries;
}

/** Items of a list; of anything else none. */
export function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/** The text; of numbers and truth values theirs; of anything else none. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

/** The object that these bytes hold as JSON, or null. */
export function parseObject(json: Uint8Array): JsonObject | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(json));
    return isObject(value) ? value : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
