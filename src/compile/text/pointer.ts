/** Reads a JSON Pointer (RFC 6901 §4) into its keys. `''` is the root: no keys. */
export function parsePointer(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** The pointer of a child (RFC 6901 §3). */
export function joinPointer(pointer: string, ...keys: (string | number)[]): string {
  return pointer + keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/**
 * Characters of the longest JSON Pointer into a document that is read. Problems, indexes and references name nodes by their pointers: long
 * names around many nodes would make much of little.
 */
export const longestPointer = 10_000;

/** What is said of a node whose pointer is longer. */
export const pointerTooLong = `The names on the way to this node have more than ${longestPointer} characters together.`;

/** What a pointer leads to in plain data; `found: false` where it leads to nothing. Own properties only. */
export function followPointer(root: unknown, pointer: string): { found: true; value: unknown } | { found: false } {
  let value = root;
  for (const key of parsePointer(pointer)) {
    if (Array.isArray(value) ? !/^(?:0|[1-9]\d*)$/.test(key) || !(Number(key) in value) : !hasOwn(value, key))
      return { found: false };
    value = (value as Record<string, unknown>)[key];
  }
  return { found: true, value };
}

function hasOwn(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key);
}

/** The pointer as a URI fragment (RFC 6901 §6): `#/properties/a%20b`. */
export function fragmentOf(pointer: string): string {
  return `#${encodeURI(pointer).replaceAll('#', '%23')}`;
}
