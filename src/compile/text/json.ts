import { parseExactly } from '../../model/exact-numbers.ts';
import { parseJson } from '../../model/json.ts';
import type { CompileLimits } from '../compile.ts';
import { tooDeep, tooManyNodes } from './events.ts';
import { joinPointer, longestPointer, parsePointer } from '../../model/pointer.ts';
import { issueOf, loneSurrogate, numberIssue, type FindNode, type TextIssue } from './text.ts';

/** A JSON text: its value, the nodes that change when it is read, and where each node stands. */
export interface JsonText {
  value: unknown;
  exact: unknown;
  issues: TextIssue[];
  find: FindNode;
}

/** The offsets of all objects and arrays, in order of their starts. */
interface Containers {
  starts: number[];
  ends: number[];
  /** The number of strings, with names. */
  strings: number;
}

const keptIssues = 1000;

/**
 * Reads a JSON text (RFC 8259). Returns the issue if it exceeds a limit, and null if it is not JSON,
 * has a name twice in an object or a very long pointer: its events say where (`events.ts`). They
 * take several times as long.
 */
export function readJson(text: string, limits: Pick<CompileLimits, 'depth' | 'nodes'>): JsonText | TextIssue | null {
  const containers = findContainers(text, limits);
  if (containers === null || 'rule' in containers) return containers;
  const value = parseJson(text);
  if (value === undefined) return null;
  const changing = new Map<number, string>();
  let [numbers, isExact] = [0, true];
  const exact = parseExactly(text, (source, number, integer) => {
    if (integer !== null) isExact = false;
    if (numberIssue(source, number, 0) !== null) changing.set(numbers, source);
    numbers++;
  });
  numbers = 0;
  const find = createFind(text, containers);
  const issues: TextIssue[] = [];
  const path: (string | number)[] = [];
  let strings = 0;

  function noteIssue(issueAt: (offset: number) => TextIssue | null, on: 'key' | 'value'): void {
    if (issues.length >= keptIssues) return;
    const pointer = joinPointer('', ...path);
    const issue = issueAt(find(pointer)[on]);
    if (issue !== null) issues.push({ ...issue, pointer });
  }

  /** Notes what changes in a node. Returns whether the pointers in it are short enough. */
  function inspect(node: unknown, length: number): boolean {
    if (length > longestPointer) return false;
    if (typeof node === 'string') {
      strings++;
      if (!node.isWellFormed()) noteIssue(loneSurrogate, 'value');
    } else if (typeof node === 'number') {
      const source = changing.get(numbers++);
      if (source !== undefined) noteIssue((offset) => numberIssue(source, node, offset), 'value');
    } else if (Array.isArray(node)) return node.every((item, index) => inspectChild(index, item, length));
    else if (typeof node === 'object' && node !== null)
      return Object.entries(node).every(([name, member]) => {
        strings++;
        return inspectChild(name, member, length);
      });
    return true;
  }

  function inspectChild(key: string | number, child: unknown, length: number): boolean {
    path.push(key);
    if (typeof key === 'string' && !key.isWellFormed()) noteIssue(loneSurrogate, 'key');
    const isShort = inspect(child, length + 1 + String(key).length);
    path.pop();
    return isShort;
  }

  // A value has fewer strings than its text if a name is there twice.
  return inspect(value, 0) && strings === containers.strings
    ? { value, exact: isExact ? value : exact, issues, find }
    : null;
}

/** Finds all containers. Null if the text is not JSON. */
function findContainers(
  text: string,
  { depth, nodes }: Pick<CompileLimits, 'depth' | 'nodes'>,
): Containers | TextIssue | null {
  const containers: Containers = { starts: [], ends: [], strings: 0 };
  const { starts, ends } = containers;
  const open: number[] = [];
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) {
      containers.strings++;
      at = endOfString(text, at) - 1;
      if (at < 0) return null;
    } else if (code === 123 || code === 91) {
      if (open.push(starts.length) > depth) return issueOf('limit-depth', tooDeep(depth), at);
      if (++values > nodes) return issueOf('limit-nodes', tooManyNodes(nodes), at);
      starts.push(at);
      ends.push(-1);
    } else if (code === 125 || code === 93) {
      const index = open.pop();
      if (index === undefined) return null;
      ends[index] = at + 1;
    } else if (code === 44 && ++values > nodes) return issueOf('limit-nodes', tooManyNodes(nodes), at);
  }
  return containers;
}

/** The offset after a string, or -1 if it has no end. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charAt(end - 1 - slashes) === '\\') slashes++;
    if (slashes % 2 === 0) return end + 1;
  }
  return -1;
}

/** Returns a function that locates a pointer. It indexes each container once and skips its siblings. */
function createFind(text: string, { starts, ends }: Containers): FindNode {
  const indexed = new Map<number, Map<string, { key: number; value: number }>>();

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
    if (first === '"') return endOfString(text, at);
    return at + text.slice(at, at + 2000).search(/[\s,\]}]|$/);
  }

  function indexOf(start: number): Map<string, { key: number; value: number }> {
    const children = new Map<string, { key: number; value: number }>();
    const isObject = text.charAt(start) === '{';
    if (!isObject && text.charAt(start) !== '[') return children;
    const end = endOf(start) - 1;
    for (let at = skipSpace(start + 1); at < end;) {
      const key = at;
      const name = isObject ? (JSON.parse(text.slice(key, (at = skipValue(key)))) as string) : String(children.size);
      const value = isObject ? skipSpace(at) : at;
      children.set(name, { key, value });
      at = skipSpace(skipValue(value));
    }
    return children;
  }

  return (pointer) => {
    const root = skipSpace(0);
    let place = { key: root, value: root };
    for (const token of parsePointer(pointer)) {
      const child = indexed.getOrInsertComputed(place.value, indexOf).get(token);
      if (child === undefined) break;
      place = child;
    }
    return place;
  };
}
