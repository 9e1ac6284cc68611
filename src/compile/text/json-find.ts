import { parsePointer } from './pointer.ts';

/** Returns the offsets of the key and value at a pointer, or of its deepest existing ancestor. */
export type FindNode = (pointer: string) => { key: number; value: number };

/**
 * Returns a function that locates a pointer in a valid JSON text. It indexes each container once
 * and skips its siblings. `starts` and `ends`: the offsets of all containers, in order of their
 * starts.
 */
export function createFind(text: string, starts: readonly number[], ends: readonly number[]): FindNode {
  const known = new Map<number, Map<string, { key: number; value: number }>>();

  function endOf(start: number): number {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (starts[middle]! < start) low = middle + 1;
      else high = middle;
    }
    return ends[low]!;
  }

  function skipSpace(at: number): number {
    let code = text.charCodeAt(at);
    while (code === 32 || code === 10 || code === 13 || code === 9 || code === 44 || code === 58)
      code = text.charCodeAt(++at);
    return at;
  }

  function skipValue(at: number): number {
    const first = text.charAt(at);
    if (first === '{' || first === '[') return endOf(at);
    if (first !== '"') return at + text.slice(at, at + 2000).search(/[\s,\]}]|$/);
    for (let end = text.indexOf('"', at + 1); ; end = text.indexOf('"', end + 1)) {
      let slashes = 0;
      while (text.charAt(end - 1 - slashes) === '\\') slashes++;
      if (slashes % 2 === 0) return end + 1;
    }
  }

  function childrenOf(start: number): Map<string, { key: number; value: number }> {
    const found = known.get(start);
    if (found) return found;
    const children = new Map<string, { key: number; value: number }>();
    const object = text.charAt(start) === '{';
    if (object || text.charAt(start) === '[') {
      const end = endOf(start) - 1;
      for (let at = skipSpace(start + 1); at < end;) {
        const key = at;
        const name = object ? (JSON.parse(text.slice(key, (at = skipValue(key)))) as string) : String(children.size);
        const value = object ? skipSpace(at) : at;
        children.set(name, { key, value });
        at = skipSpace(skipValue(value));
      }
    }
    known.set(start, children);
    return children;
  }

  return (pointer) => {
    const root = skipSpace(0);
    let place = { key: root, value: root };
    for (const token of parsePointer(pointer)) {
      const child = childrenOf(place.value).get(token);
      if (child === undefined) break;
      place = child;
    }
    return place;
  };
}
