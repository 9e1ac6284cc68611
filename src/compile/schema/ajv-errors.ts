import { isObject } from '../../model/json.ts';
import type { ErrorObject, ValidateFunction } from 'ajv';

/** Names that ajv calls as methods on the user's objects when it compares values. */
const called = new Set(['constructor', 'toString', 'valueOf']);
/** Of characters that names of components may have. */
const mark = '.__called_as_a_method__';

/**
 * Validates plain data and returns the errors, empty if it is valid. Members that ajv would call as
 * methods (`toString`, …) are renamed during validation; the errors have their real names.
 */
export function errorsOf(validate: ValidateFunction, data: unknown): ErrorObject[] {
  const renamed = hasCalled(data);
  if (validate(renamed ? rename(data) : data)) return [];
  const errors = validate.errors ?? [];
  if (!renamed) return errors;
  const large = new Set(['data', 'schema', 'parentSchema']);
  const text = JSON.stringify(errors, (key, value: unknown) => (large.has(key) ? undefined : value));
  return JSON.parse(text.replaceAll(mark, '')) as ErrorObject[];
}

function hasCalled(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some(hasCalled);
  for (const key in value) if (called.has(key) || hasCalled((value as Record<string, unknown>)[key])) return true;
  return false;
}

function rename(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(rename);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [called.has(key) ? key + mark : key, rename(child)]),
  );
}
