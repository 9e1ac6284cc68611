import { type JsonObject, isObject } from '../model/json.ts';
import { textOf } from './json-value.ts';
import { decodePercent } from '../model/escape.ts';

/**
 * Resolves a reference within the document (`#/a/b`) through own members. Undefined if it does not
 * resolve or is external.
 */
export function resolveLocal(document: JsonObject, reference: string): unknown {
  if (reference === '#') return document;
  if (!reference.startsWith('#/')) return undefined;
  let value: unknown = document;
  for (const key of pointerKeys(reference)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as JsonObject)[key];
  }
  return value;
}

/** The keys of a pointer in a URI fragment (RFC 6901 §6). */
export function pointerKeys(reference: string): string[] {
  return (decodePercent(reference.slice(1)) ?? reference.slice(1))
    .split('/')
    .slice(1)
    .map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The object, or the target of its `$ref` (through at most 20 references), or null. */
export function dereference(document: JsonObject, value: unknown): JsonObject | null {
  let target = value;
  for (let hops = 0; hops < 20 && isObject(target) && textOf(target['$ref']) !== ''; hops++)
    target = resolveLocal(document, textOf(target['$ref']));
  return isObject(target) && textOf(target['$ref']) === '' ? target : null;
}
