/** An object of a JSON document: members of any name and any value. */
export type JsonObject = Record<string, unknown>;

/** Whether the value is an object, neither array nor null. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The name of the type of a JSON value. */
export function typeNameOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

// What follows is for JSON that Stele wrote itself. Untrusted JSON is parsed elsewhere: documents in
// `compile/text/`, requests in `server/v1/json-body.ts`.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Encodes the value as JSON in UTF-8. */
export function encodeJson(value: unknown): Uint8Array {
  return encoder.encode(JSON.stringify(value));
}

/** Decodes JSON from bytes. Throws a SyntaxError when they are not JSON. */
export function decodeJson<T>(bytes: Uint8Array): T {
  return JSON.parse(decoder.decode(bytes)) as T;
}

/** Parses JSON from text or bytes. Returns undefined when it is not JSON. */
export function parseJson(json: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof json === 'string' ? json : decoder.decode(json));
  } catch {
    return undefined;
  }
}

/** Names in tables that are plain objects. A plain object has members that nobody put there: `constructor`, `toString`. */

/** What a table has under a name. */
export function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** Some members of a record, in this order. */
export function pick<T extends object, K extends keyof T>(record: T, ...names: readonly K[]): Pick<T, K> {
  return Object.fromEntries(names.map((name) => [name, record[name]])) as Pick<T, K>;
}

/** A table that has nothing but these entries. */
export function tableOf<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  return Object.setPrototypeOf(Object.fromEntries(entries), null) as Record<string, T>;
}

/** Whether every object of JavaScript has a member of this name. It is no name of anything. */
export function isNameOfJavaScript(text: string): boolean {
  return text in Object.prototype;
}
