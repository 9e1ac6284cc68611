/** Names in tables that are plain objects. A plain object has members that nobody put there: `constructor`, `toString`. */

/** What a table has under a name. */
export function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** A table that has nothing but these entries. */
export function tableOf<T>(entries: Iterable<readonly [string, T]>): Record<string, T> {
  return Object.setPrototypeOf(Object.fromEntries(entries), null) as Record<string, T>;
}

/** Whether every object of JavaScript has a member of this name. It is no name of anything. */
export function isNameOfJavaScript(text: string): boolean {
  return text in Object.prototype;
}
