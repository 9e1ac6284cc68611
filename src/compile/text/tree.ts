import { EVENT_ID, SCALAR_STYLE } from 'js-yaml';
import type { Tree } from './events.ts';
import { parsePointer } from './pointer.ts';
import type { FindNode } from './text.ts';
import { startOf, scalarText } from './scalar.ts';

/** Whether a node is a merge key: a plain `<<` (https://yaml.org/type/merge.html). */
export function isMergeKey({ text, events }: Tree, index: number): boolean {
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
export function keyName({ text, events, targets }: Tree, index: number): string | null {
  const event = events[targets.get(index) ?? index]!;
  if (event.type !== EVENT_ID.SCALAR) return null;
  const name = scalarText(text, event);
  return name === '' && event.style === SCALAR_STYLE.PLAIN ? 'null' : name;
}

/** The mappings that a merge key merges, the one with precedence first. Empty for other values. */
export function mergedMaps(tree: Tree, value: number): number[] {
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

  function childrenOf(index: number): Map<string, { key: number; value: number }> {
    const before = indexed.get(index);
    if (before) return before;
    const children = new Map<string, { key: number; value: number }>();
    indexed.set(index, children);
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
