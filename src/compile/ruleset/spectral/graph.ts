import { isObject, type JsonObject } from '../../../model/json.ts';
import { isParsed, type CollectedDocument } from '../../kind.ts';
import { resolveReference } from '../../reference.ts';
import type { ParsedFile } from '../../text/parse.ts';
import { joinPointer, parsePointer } from '../../../model/pointer.ts';
import { setMember } from '../../text/text.ts';

/** Where a node is: a file of the tree and its way from the root, without references. */
export interface Place {
  file: ParsedFile;
  parent: Place | null;
  key: string | number;
}

/** A node and its place. */
export interface Node {
  value: unknown;
  place: Place;
}

/** A document whose references can be followed while it is read (`linkedGraph`), or as it is written. */
export type Graph = ReturnType<typeof linkedGraph>;

/** Returns the JSON Pointer of a place. */
export function pointerOf(place: Place): string {
  return joinPointer('', ...keysOf(place));
}

/** Returns the keys of a place from the root of its file. */
export function keysOf(place: Place): (string | number)[] {
  const keys: (string | number)[] = [];
  for (let at = place; at.parent !== null; at = at.parent) keys.push(at.key);
  return keys.reverse();
}

/** The document as written: `$ref` is a member like any other. */
export function plainGraph(entry: ParsedFile, links: Graph): Graph {
  return {
    root: { value: entry.value, place: rootOf(entry) },
    follow: (value) => value,
    child: (parent, key, value) => ({ value, place: { file: parent.file, parent, key } }),
    isTarget: () => false,
    resolved: (value) => value,
    referenced: links.referenced,
  };
}

/**
 * The document with the references that resolve within the collected files. No copy is made, so that cycles and
 * shared parts cost nothing.
 */
export function linkedGraph({ entry, files }: CollectedDocument) {
  const links = new Map<object, Node>();
  const targets = new Map<object, Place>();
  const seen = new Set<ParsedFile>();
  const waiting: ParsedFile[] = [entry];
  const named = new Set<string>();
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    for (const [node, reference] of referencesIn(file.value)) {
      const target = locate(file, reference);
      if (target === null) continue;
      links.set(node, target);
      if (!seen.has(target.place.file)) waiting.push(target.place.file);
    }
  }
  // A reference may point to another one. A cycle of nothing but references stays as it is.
  for (const [node, target] of links) {
    const passed = new Set<unknown>([node]);
    let last = target;
    for (let next = linkOf(last.value); next !== undefined && !passed.has(last.value); next = linkOf(last.value)) {
      passed.add(last.value);
      last = next;
    }
    if (passed.has(last.value)) links.delete(node);
    else {
      links.set(node, last);
      if (typeof last.value === 'object' && last.value !== null) targets.set(last.value, last.place);
    }
  }

  /** Finds a target step by step, through references on the way. */
  function locate(from: ParsedFile, reference: string): Node | null {
    const target = resolveReference(from.path, reference);
    if (!target.ok) return null;
    const file = files.get(target.path);
    const fragment = target.fragment ?? '';
    if (!isParsed(file) || (fragment !== '' && !fragment.startsWith('/'))) return null;
    let at: Node = { value: file.value, place: rootOf(file) };
    for (const key of parsePointer(fragment)) {
      const { value, place } = linkOf(at.value) ?? at;
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return null;
      const next = Array.isArray(value) ? Number(key) : key;
      at = { value: (value as JsonObject)[key], place: { file: place.file, parent: place, key: next } };
      if (place.file === entry) named.add(pointerOf(at.place));
    }
    return at;
  }

  const copies = new Map<object, object>();
  /** The value with all references replaced, as plain data that may have cycles. The same object each time. */
  function resolved(value: unknown): unknown {
    if (links.size === 0) return value;
    const unfilled: object[] = [];
    const copyOf = (written: unknown): unknown => {
      const node = follow(written);
      if (typeof node !== 'object' || node === null) return node;
      return copies.getOrInsertComputed(node, () => (unfilled.push(node), Array.isArray(node) ? [] : {}));
    };
    const clone = copyOf(value);
    for (let node = unfilled.pop(); node !== undefined; node = unfilled.pop()) {
      const copy = copies.get(node) as JsonObject;
      for (const [key, child] of Object.entries(node)) setMember(copy, key, copyOf(child));
    }
    return clone;
  }

  /** The node that a value is, or the target if it is a reference that resolves. */
  function follow(value: unknown): unknown {
    const target = linkOf(value);
    return target === undefined ? value : target.value;
  }

  function linkOf(value: unknown): Node | undefined {
    return isObject(value) && value['$ref'] !== undefined ? links.get(value) : undefined;
  }

  return {
    root: { value: entry.value, place: rootOf(entry) },
    follow,
    /** The child of a node, behind its reference if it is one. */
    child(parent: Place, key: string | number, value: unknown): Node {
      const target = linkOf(value);
      if (target !== undefined) return target;
      const node = typeof value === 'object' && value !== null ? targets.get(value) : undefined;
      return { value, place: node ?? { file: parent.file, parent, key } };
    },
    /** Whether several references may lead to the value. */
    isTarget: (value: object): boolean => targets.has(value),
    resolved,
    /** Pointers of the entry that references point to, with everything above them. */
    referenced: (): ReadonlySet<string> => named,
  };
}

function rootOf(file: ParsedFile): Place {
  return { file, parent: null, key: '' };
}

/** All objects with a `$ref`. The rest of such an object is not read, as references replace it. */
function* referencesIn(root: unknown): Generator<[node: object, reference: string]> {
  const open: unknown[] = [root];
  while (open.length > 0) {
    const value = open.pop();
    if (typeof value !== 'object' || value === null) continue;
    const reference = Array.isArray(value) ? undefined : (value as JsonObject)['$ref'];
    if (typeof reference === 'string') yield [value, reference];
    else for (const child of Object.values(value)) if (typeof child === 'object') open.push(child);
  }
}
