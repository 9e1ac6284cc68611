import { isNumeric, parseExactly } from '../model/exact-numbers.ts';
import { isObject, type JsonObject } from '../model/json.ts';
import { followPointer, parsePointer, pointerIn } from '../model/pointer.ts';
import { createHash } from 'node:crypto';
import type { Digest } from '../model/digest.ts';

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

/**
 * Resolves a reference within the document (`#/a/b`) through own members. Undefined if it does not
 * resolve or is external.
 */
export function resolveLocal(document: JsonObject, reference: string): unknown {
  return /^#(?:\/|$)/.test(reference) ? followPointer(document, pointerIn(reference)) : undefined;
}

/** The keys of a pointer in a URI fragment (RFC 6901 §6). */
export function pointerKeys(reference: string): string[] {
  return parsePointer(pointerIn(reference));
}

/** The object, or the target of its `$ref` (through at most 20 references), or null. */
export function dereference(document: JsonObject, value: unknown): JsonObject | null {
  let target = value;
  for (let hops = 0; hops < 20 && isObject(target) && textOf(target['$ref']) !== ''; hops++)
    target = resolveLocal(document, textOf(target['$ref']));
  return isObject(target) && textOf(target['$ref']) === '' ? target : null;
}

/**
 * The digest of a JSON value, with sorted members and without spaces (RFC 8785). Equal values have
 * equal digests. Not recursive, so any depth works.
 */
export function digestOfValue(value: unknown): Digest {
  const hash = createHash('sha256');
  let text = '';
  const stack: ({ text: string } | { value: unknown })[] = [{ value }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    if ('text' in next) text += next.text;
    else if (Array.isArray(next.value)) {
      const items = next.value as unknown[];
      stack.push({ text: ']' });
      for (let at = items.length - 1; at >= 0; at--) stack.push({ value: items[at] }, { text: at === 0 ? '' : ',' });
      stack.push({ text: '[' });
    } else if (isObject(next.value)) {
      const members = Object.entries(next.value).sort(([a], [b]) => (a < b ? -1 : 1));
      stack.push({ text: '}' });
      for (let at = members.length - 1; at >= 0; at--) {
        const [name, member] = members[at]!;
        stack.push({ value: member }, { text: `${at === 0 ? '' : ','}${JSON.stringify(name)}:` });
      }
      stack.push({ text: '{' });
    } else text += JSON.stringify(next.value) ?? 'null';
    if (text.length > 65_536) {
      hash.update(text);
      text = '';
    }
  }
  return `sha256:${hash.update(text).digest('hex')}`;
}

/** Returns the remembered result for a part of the document, or makes it. `form`: names the result. */
export type Once = <T>(part: object, form: string, make: () => T) => T;

/**
 * Remembers results for parts of documents, as long as these are in use. A part is recognized by
 * its object, so a result may depend only on the part, the form and the document.
 */
export function createOnce(): Once {
  const results = new WeakMap<object, Map<string, unknown>>();
  return <T>(part: object, form: string, make: () => T): T => {
    const forms = results.getOrInsertComputed(part, () => new Map<string, unknown>());
    if (!forms.has(form)) forms.set(form, make());
    return forms.get(form) as T;
  };
}

/** What the rooms of `render/` remember of parts of documents: thousands of operations may refer to the same ones. */
export const once = createOnce();
