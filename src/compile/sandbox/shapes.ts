/** The result for a value of the wrong shape. */
export const invalid = Symbol('invalid');

/** Copies the agreed members out of a value that a sandbox sent, which may be anything. */
export type Read<T> = (value: unknown) => T | typeof invalid;

const longestText = 10_000_000;

/**
 * Reads an object. The types demand a reader for each of its members, so that none is forgotten; other
 * members of the value are left out. A reader that returns undefined leaves its member out.
 */
export function record<T extends object>(members: { [K in keyof T]-?: Read<T[K]> }): Read<T> {
  const readers = Object.entries(members) as [string, Read<unknown>][];
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return invalid;
    const result: Record<string, unknown> = {};
    for (const [name, read] of readers) {
      const member = read((value as Record<string, unknown>)[name]);
      if (member === invalid) return invalid;
      if (member !== undefined) result[name] = member;
    }
    return result as T;
  };
}

/** Reads a list of at most so many items. */
export function list<T>(read: Read<T>, maxItems = Infinity): Read<T[]> {
  return (value) => {
    if (!Array.isArray(value) || value.length > maxItems) return invalid;
    const items = value.map((item) => read(item));
    return items.includes(invalid) ? invalid : (items as T[]);
  };
}

/** Reads an object with members of any name. */
export function map<T>(read: Read<T>): Read<Record<string, T>> {
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return invalid;
    const entries = Object.entries(value).map(([name, member]) => [name, read(member)] as const);
    return entries.some(([, member]) => member === invalid)
      ? invalid
      : (Object.fromEntries(entries) as Record<string, T>);
  };
}

/** A member that may be absent. One of the wrong shape counts as absent. */
export function optional<T>(read: Read<T>): Read<T | undefined> {
  return (value) => {
    const member = read(value);
    return member === invalid ? undefined : member;
  };
}

/** Reads a value of the wrong shape as null. */
export function orNull<T>(read: Read<T>): Read<T | null> {
  return (value) => {
    const member = read(value);
    return member === invalid ? null : member;
  };
}

/** Accepts only what passes the test. */
export function where<T, S extends T = T>(read: Read<T>, test: ((value: T) => value is S) | ((value: T) => boolean)) {
  return (value: unknown): S | typeof invalid => {
    const result = read(value);
    return result !== invalid && test(result) ? (result as S) : invalid;
  };
}

/** Reads by the first reader that accepts the value. */
export function either<T>(...readers: readonly Read<T>[]): Read<T> {
  return (value) => {
    for (const read of readers) {
      const result = read(value);
      if (result !== invalid) return result;
    }
    return invalid;
  };
}

/** Reads one of some values. */
export function oneOf<T>(values: readonly T[]): Read<T> {
  return (value) => (values.includes(value as T) ? (value as T) : invalid);
}

/** A text of at most so many characters. */
export function textUpTo(maxLength: number): Read<string> {
  return (value) => (typeof value === 'string' && value.length <= maxLength ? value : invalid);
}

export const text = textUpTo(longestText);
export const textOrNull: Read<string | null> = (value) => (value === null ? null : text(value));
export const flag = oneOf([true, false]);
export const count: Read<number> = (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : invalid;
