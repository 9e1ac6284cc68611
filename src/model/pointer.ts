import { decodePercent } from './escape.ts';
import type { JsonObject } from './json.ts';

/** Parses a JSON Pointer (RFC 6901 §4) into its keys. `''`, the root, has none. */
export function parsePointer(pointer: string): string[] {
  const segments = pointer.split('/').slice(1);
  return pointer.includes('~') ? segments.map(unescapeKey) : segments;
}

/** The key that a segment of a pointer says. */
export function unescapeKey(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}

/** Returns the pointer of a descendant (RFC 6901 §3). */
export function joinPointer(pointer: string, ...keys: (string | number)[]): string {
  let joined = pointer;
  for (const key of keys) {
    const segment = String(key);
    joined += `/${/[~/]/.test(segment) ? segment.replaceAll('~', '~0').replaceAll('/', '~1') : segment}`;
  }
  return joined;
}

/** A pointer, and those of the nodes around it, the nearest first. */
export function* outwards(pointer: string): Generator<string> {
  let at = pointer;
  for (; at !== ''; at = at.slice(0, at.lastIndexOf('/'))) yield at;
  yield at;
}

/** The way to a node, from its end. Null: the root. */
export type Way = { readonly parent: Way; readonly key: string } | null;

/** The pointer of a node that has this way. */
export function pointerOf(way: Way): string {
  const keys: string[] = [];
  for (let at = way; at !== null; at = at.parent) keys.push(at.key);
  return joinPointer('', ...keys.reverse());
}

/**
 * Shows every object and list in plain data, parents first, in the order of the text. What `see`
 * returns: `pass` leaves out what is inside of the node, `end` all the rest. Returns whether it ended.
 */
export function eachNode(
  value: unknown,
  see: (node: Record<string, unknown>, way: Way) => 'pass' | 'end' | void,
  way: Way = null,
): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const node = value as Record<string, unknown>;
  const next = see(node, way);
  if (next !== undefined) return next === 'end';
  for (const key in node) {
    const child = node[key];
    if (typeof child === 'object' && child !== null && eachNode(child, see, { parent: way, key })) return true;
  }
  return false;
}

/**
 * The longest JSON Pointer in a document, in characters. Problems, indexes and references contain
 * pointers, so long names around many nodes would multiply the size of a document.
 */
export const longestPointer = 10_000;

/** The message for a node whose pointer is longer. */
export const pointerTooLong = `The path to this node is longer than ${longestPointer} characters. Shorten the keys or nest less deeply.`;

/** Resolves a pointer in JSON data, through its own members and items only. Undefined if it leads nowhere. */
export function followPointer(root: unknown, pointer: string): unknown {
  let value = root;
  for (const key of parsePointer(pointer)) {
    const isLength = Array.isArray(value) && key === 'length';
    if (typeof value !== 'object' || value === null || isLength || !Object.hasOwn(value, key)) return undefined;
    value = (value as JsonObject)[key];
  }
  return value;
}

/** Whether a reference is a pointer into its own file that every reader takes apart the same way. */
export function isPlainFragment(reference: string): boolean {
  return /^#(?:\/[^/%]+)+$/.test(reference);
}

/** The pointer that linters write as a fragment, and the root as `#/`. */
export function fromFragment(fragment: string): string {
  return fragment.replace(/^#\/?/, '').replace(/^(?=.)/, '/');
}

/** The pointer in a URI fragment (RFC 6901 §6), also in one that is badly encoded. */
export function pointerIn(fragment: string): string {
  return decodePercent(fragment.slice(1)) ?? fragment.slice(1);
}

/** Formats a pointer as a URI fragment (RFC 6901 §6): `#/properties/a%20b`. */
export function fragmentOf(pointer: string): string {
  return `#${encodeURI(pointer).replaceAll('#', '%23')}`;
}

/**
 * Makes names that are not taken, close to the wanted ones and of characters that need no escapes in a
 * pointer or URI. `otherwise`: for a wanted name without any. Names that were made are taken from then on.
 */
export function createFreeName(taken: Set<string>, otherwise: string): (wanted: string) => string {
  const counts = new Map<string, number>();
  return (wanted) => {
    const plain = wanted.replace(/[^A-Za-z0-9._-]+/g, '-') || otherwise;
    let name = plain;
    let count = counts.get(plain) ?? 2;
    for (; taken.has(name); count++) name = `${plain}-${count}`;
    counts.set(plain, count);
    taken.add(name);
    return name;
  };
}
