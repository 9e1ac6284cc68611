import type { ErrorObject, ValidateFunction } from 'ajv';
import { isObject } from './schema-dialect.ts';

/** Names that ajv, where it compares values, calls as methods of the user's own objects. */
const called = new Set(['constructor', 'toString', 'valueOf']);
const mark = '\u2060';

/**
 * The errors that a compiled schema finds in plain data; empty: none. Members that ajv would take for methods (`toString`, …) go by another name
 * while it looks, and by their own in the errors.
 */
export function errorsOf(validate: ValidateFunction, data: unknown): ErrorObject[] {
  const renamed = hasCalled(data);
  if (validate(renamed ? rename(data) : data)) return [];
  const errors = validate.errors ?? [];
  return renamed ? (JSON.parse(JSON.stringify(errors).replaceAll(mark, '')) as ErrorObject[]) : errors;
}

function hasCalled(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasCalled);
  return isObject(value) && Object.entries(value).some(([key, child]) => called.has(key) || hasCalled(child));
}

function rename(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rename);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [called.has(key) ? key + mark : key, rename(child)]),
  );
}
