import { EVENT_ID, SCALAR_STYLE, type DocumentEvent, type ScalarEvent } from 'js-yaml';
import { exactInteger } from '../../model/exact-numbers.ts';
import type { CompileLimits } from '../compile.ts';
import {
  tooDeep,
  tooManyNodes,
  type NodeEvent,
  type Tree,
  readPlain,
  readTagged,
  startOf,
  scalarText,
  type Scalar,
} from './events.ts';
import { joinPointer, longestPointer, pointerTooLong, parsePointer } from '../../model/pointer.ts';
import { issueOf, loneSurrogate, numberIssue, setMember, type TextIssue, type FindNode } from './text.ts';

const keptIssues = 1000;

/** How much aliases may expand a document: by a factor, plus an allowance for small documents. */
const maxGrowth = { times: 4, nodes: 50_000, characters: 1_000_000 };

const growsTooMuch = `Aliases and merge keys expand the document to more than ${maxGrowth.times} times its size. Use fewer of them.`;

/** An escape of YAML that is no character. */
const beyondUnicode = /(?<!\\)(?:\\\\)*\\U(?!00(?:0|10))/;

const coreTagPrefix = 'tag:yaml.org,2002:';

/**
 * Returns the plain value of a document: aliases expanded (no node is shared), merge keys merged,
 * members in the order of the text. Reports what JSON cannot express. `ok` is false if the expanded
 * document exceeds a limit; it has no value then. `exact`: the value with all digits of integers (`model/exact-numbers.ts`).
 */
export function readValue(
  tree: Tree,
  limits: Pick<CompileLimits, 'depth' | 'nodes'>,
  isExact = false,
): { ok: boolean; value: unknown; exact: unknown; issues: TextIssue[] } {
  const { text, events, ends, targets } = tree;
  const issues: TextIssue[] = [];
  const path: (string | number)[] = [];
  const { directives } = events[0] as DocumentEvent;
  const hasTagDirective = directives.some(({ kind }) => kind === 'tag');
  const maxNodes = events.length * maxGrowth.times + maxGrowth.nodes;
  const maxCharacters = text.length * maxGrowth.times + maxGrowth.characters;
  let losesDigits = false;
  let refused: TextIssue | null = null;
  let nodes = 0;
  let characters = 0;
  /** Index of the next event. */
  let at = 1;

  function offsetOf(index: number): number {
    for (let before = index; before > 0; before--) {
      const start = startOf(text, events[before]!);
      if (start !== null) return start;
    }
    return 0;
  }

  function note(issue: TextIssue): void {
    if (issues.length < keptIssues) issues.push({ ...issue, pointer: joinPointer('', ...path) });
  }

  function noteAt(index: number, rule: string, message: string, severity: 'error' | 'warning' = 'error'): void {
    if (issues.length < keptIssues) note({ rule, severity, message, offset: offsetOf(index) });
  }

  function refuse(rule: string, message: string, offset: number): null {
    refused ??= { ...issueOf(rule, message, offset), pointer: joinPointer('', ...path).slice(0, longestPointer) };
    return null;
  }

  /** Reads the node at `at`. `length`: that of its pointer, in characters. */
  function readNode(depth: number, length: number): unknown {
    const index = at++;
    const event = events[index] as NodeEvent;
    if (event.type === EVENT_ID.ALIAS) return readAt(targets.get(index)!, depth, length);
    if (++nodes > limits.nodes) return refuse('limit-nodes', tooManyNodes(limits.nodes), offsetOf(index));
    if (targets.size > 0 && (nodes > maxNodes || characters > maxCharacters))
      return refuse('limit-nodes', growsTooMuch, offsetOf(index));
    if (length > longestPointer) return refuse('limit-pointer', pointerTooLong, offsetOf(index));
    if (event.type === EVENT_ID.SCALAR) return readScalar(event, index);
    if (depth > limits.depth) return refuse('limit-depth', tooDeep(limits.depth), offsetOf(index));
    if (refused !== null) return null;
    const isMap = event.type === EVENT_ID.MAPPING;
    if (event.tagStart >= 0 && !['!', `${coreTagPrefix}${isMap ? 'map' : 'seq'}`].includes(tagOf(event)))
      noteTag(event);
    return isMap ? readMap(depth, length) : readList(depth, length);
  }

  /** Reads a node elsewhere in the document. */
  function readAt(index: number, depth: number, length: number): unknown {
    const after = at;
    at = index;
    const value = readNode(depth, length);
    at = after;
    return value;
  }

  function readList(depth: number, length: number): unknown[] {
    const list: unknown[] = [];
    while (refused === null && events[at]!.type !== EVENT_ID.POP) {
      path.push(list.length);
      list.push(readNode(depth + 1, length + 1 + String(list.length).length));
      path.pop();
    }
    at++;
    return list;
  }

  function readMap(depth: number, length: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    let merged: Set<string> | null = null;
    while (refused === null && events[at]!.type !== EVENT_ID.POP) {
      const key = at;
      at = ends[key]!;
      const name = isMergeKey(tree, key) ? null : keyName(tree, key);
      if (name !== null) {
        path.push(name);
        checkKey(key, name, Object.hasOwn(object, name) && merged?.delete(name) !== true);
        setMember(object, name, readNode(depth + 1, length + 1 + name.length));
        path.pop();
      } else if (isMergeKey(tree, key)) mergeInto(object, (merged ??= new Set()), depth, length);
      else noteAt(key, 'yaml-key', 'The key must be a string: JSON has no objects or arrays as keys.');
      at = ends[ends[key]!]!;
    }
    at++;
    return object;
  }

  /** Merges the node at `at`. Members that the mapping already has take precedence. */
  function mergeInto(object: Record<string, unknown>, merged: Set<string>, depth: number, length: number): void {
    const maps = mergedMaps(tree, at);
    if (maps.length === 0) noteAt(at, 'yaml-merge', 'The value of "<<" must be a mapping or a list of mappings.');
    for (const map of maps)
      for (const [name, member] of Object.entries(readAt(map, depth, length) ?? {})) {
        if (Object.hasOwn(object, name)) continue;
        setMember(object, name, member);
        merged.add(name);
      }
  }

  function checkKey(index: number, name: string, isDuplicate: boolean): void {
    characters += name.length;
    const event = events[targets.get(index) ?? index] as ScalarEvent;
    if (isDuplicate)
      noteAt(index, 'duplicate-key', `Duplicate key ${JSON.stringify(name.slice(0, 100))}. Remove one of the two.`);
    if (event.style !== SCALAR_STYLE.PLAIN) return checkEscapes(event, index, name);
    const read = readPlain(name);
    if (typeof read !== 'string' && String(read) !== name)
      // Others rewrite it: `1.10` becomes `1.1`.
      noteAt(
        index,
        'yaml-key',
        `The key ${name} is read as the string "${name}", but other parsers read ${String(read)}. Put it in quotes.`,
        'warning',
      );
  }

  function readScalar(event: ScalarEvent, index: number): Scalar | bigint {
    const source = scalarText(text, event);
    characters += source.length;
    let value: Scalar = source;
    if (event.tagStart >= 0) {
      const tagged = readTagged(tagOf(event), source);
      if (tagged === undefined) noteTag(event);
      else value = tagged;
    } else if (event.style === SCALAR_STYLE.PLAIN) value = readPlain(source);
    if (typeof value === 'string') checkEscapes(event, index, value);
    if (typeof value === 'number' && (source.length > 15 || !Number.isFinite(value) || /e/i.test(source))) {
      const issue = numberIssue(source, value, event.valueStart);
      if (issue !== null) note(issue);
      const integer = exactInteger(source, value);
      if (integer !== null) losesDigits = true;
      if (isExact && integer !== null) return integer;
    }
    return value;
  }

  function checkEscapes({ style, fast, valueStart, valueEnd }: ScalarEvent, index: number, value: string): void {
    if (style !== SCALAR_STYLE.DOUBLE_QUOTED || fast) return;
    if (beyondUnicode.test(text.slice(valueStart, valueEnd)))
      noteAt(index, 'yaml-syntax', 'The string contains an escape beyond \\U0010FFFF. Remove it.');
    else if (!value.isWellFormed()) note(loneSurrogate(offsetOf(index)));
  }

  /** The tag of a node, written in full. */
  function tagOf({ tagStart, tagEnd }: { tagStart: number; tagEnd: number }): string {
    const tag = text.slice(tagStart, tagEnd);
    if (tag.startsWith('!<')) return tag.slice(2, -1);
    return tag.startsWith('!!') && !hasTagDirective ? `${coreTagPrefix}${tag.slice(2)}` : tag;
  }

  function noteTag(event: { tagStart: number; tagEnd: number }): void {
    const shown = tagOf(event).replace(coreTagPrefix, '');
    const message = `The YAML tag ${shown} cannot be converted to JSON. Remove it.`;
    note(issueOf('yaml-tag', message, event.tagStart));
  }

  for (const directive of directives)
    if (directive.kind === 'yaml' && directive.version !== '1.2') {
      const message = `The file declares %YAML ${directive.version} but is read as YAML 1.2: "yes" and "on" are strings, and "010" is 10.`;
      noteAt(0, 'yaml-version', message, 'warning');
    }
  const value = readNode(1, 0);
  if (refused !== null) return { ok: false, value: null, exact: null, issues: [refused, ...issues] };
  const exact = losesDigits && !isExact ? readValue(tree, limits, true).value : value;
  return { ok: true, value, exact, issues };
}

/** Whether a node is a merge key: a plain `<<` (https://yaml.org/type/merge.html). */
function isMergeKey({ text, events }: Tree, index: number): boolean {
  const event = events[index]!;
  return (
    event.type === EVENT_ID.SCALAR &&
    event.style === SCALAR_STYLE.PLAIN &&
    event.tagStart < 0 &&
    text.startsWith('<<', event.valueStart) &&
    event.valueEnd - event.valueStart === 2
  );
}

/** The name of the member with this key: the text of a scalar, even of a number. Otherwise null. */
function keyName({ text, events, targets }: Tree, index: number): string | null {
  const event = events[targets.get(index) ?? index]!;
  if (event.type !== EVENT_ID.SCALAR) return null;
  const name = scalarText(text, event);
  return name === '' && event.style === SCALAR_STYLE.PLAIN ? 'null' : name;
}

/** The mappings that a merge key merges, the one with precedence first. Empty for other values. */
function mergedMaps(tree: Tree, value: number): number[] {
  const { events, ends, targets } = tree;
  const index = targets.get(value) ?? value;
  const { type } = events[index]!;
  if (type === EVENT_ID.MAPPING) return [index];
  const maps: number[] = [];
  if (type === EVENT_ID.SEQUENCE)
    for (let item = index + 1; events[item]!.type !== EVENT_ID.POP; item = ends[item]!)
      maps.push(targets.get(item) ?? item);
  return maps.filter((map) => events[map]!.type === EVENT_ID.MAPPING);
}

/**
 * Returns a function that locates a pointer. It indexes each container once, when it is asked for
 * something inside it. A member that comes from an alias or a merge key is located where it is
 * written.
 */
export function createFind(tree: Tree): FindNode {
  const { text, events, ends, targets } = tree;
  const indexed = new Map<number, Map<string, { key: number; value: number }>>();

  const childrenOf = (index: number) => indexed.getOrInsertComputed(index, readChildren);

  function readChildren(index: number): Map<string, { key: number; value: number }> {
    const children = new Map<string, { key: number; value: number }>();
    const { type } = events[index]!;
    if (type === EVENT_ID.SEQUENCE)
      for (let item = index + 1; events[item]!.type !== EVENT_ID.POP; item = ends[item]!)
        children.set(String(children.size), { key: item, value: item });
    if (type === EVENT_ID.MAPPING)
      for (let key = index + 1; events[key]!.type !== EVENT_ID.POP; key = ends[ends[key]!]!) addMember(children, key);
    return children;
  }

  function addMember(children: Map<string, { key: number; value: number }>, key: number): void {
    const value = ends[key]!;
    if (isMergeKey(tree, key)) {
      for (const map of mergedMaps(tree, value))
        for (const [name, member] of childrenOf(map)) if (!children.has(name)) children.set(name, member);
    } else {
      const name = keyName(tree, key);
      if (name !== null) children.set(name, { key, value });
    }
  }

  return (pointer) => {
    let index = 1;
    const start = startOf(text, events[index]!) ?? 0;
    let place = { key: start, value: start };
    for (const token of parsePointer(pointer)) {
      const child = childrenOf(targets.get(index) ?? index).get(token);
      if (child === undefined) break;
      const key = startOf(text, events[child.key]!) ?? place.value;
      place = { key, value: startOf(text, events[child.value]!) ?? key };
      index = child.value;
    }
    return place;
  };
}
