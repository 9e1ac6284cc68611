// Reads values that a sandbox sent, which may be anything.

const longestText = 10_000_000;

/** The items, each read by `read`. Null if the value is not a list, or one of them cannot be read. */
export function readAll<T>(value: unknown, read: (item: unknown) => T | null): T[] | null {
  if (!Array.isArray(value)) return null;
  const items = value.map(read);
  return items.every((item): item is Awaited<T> & T => item !== null) ? items : null;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList<T>(value: unknown, isItem: (item: unknown) => item is T): value is T[] {
  return Array.isArray(value) && value.every(isItem);
}

/** Whether it is a text of at most 10 million characters. */
export function isText(value: unknown): value is string {
  return typeof value === 'string' && value.length <= longestText;
}

export function isTextOrNull(value: unknown): value is string | null {
  return value === null || isText(value);
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
