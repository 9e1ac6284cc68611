import { isAlias, isMap, isScalar, isSeq, type Alias, type ParsedNode, type YAMLMap } from 'yaml';
import { parsePointer } from './pointer.ts';

/** The node that each alias refers to. */
export type AliasTargets = ReadonlyMap<Alias, ParsedNode>;

export type Aliases =
  | { ok: true; targets: AliasTargets }
  | { ok: false; rule: 'limit-aliases' | 'yaml-alias'; message: string; offset: number };

/**
 * Resolves every alias in one pass, in the order of the text (YAML 1.2 §3.2.2.2). Rejects cycles,
 * which JSON cannot express.
 */
export function createAliases(root: ParsedNode, limit: number): Aliases {
  const targets = new Map<Alias, ParsedNode>();
  const anchors = new Map<string, ParsedNode>();
  const open = new Set<ParsedNode>();
  let refused: Extract<Aliases, { ok: false }> | null = null;

  function refuse(rule: 'limit-aliases' | 'yaml-alias', message: string, node: ParsedNode): void {
    refused ??= { ok: false, rule, message, offset: offsetOf(node) };
  }

  function visit(node: ParsedNode | null): void {
    if (node === null || refused !== null) return;
    if (isAlias(node)) {
      const target = anchors.get(node.source);
      if (target === undefined)
        refuse('yaml-alias', `The alias *${node.source} has no anchor &${node.source} before it.`, node);
      else if (open.has(target))
        refuse('yaml-alias', `The alias *${node.source} is inside its own anchor. Cycles are not allowed.`, node);
      else if (targets.size >= limit) refuse('limit-aliases', tooManyAliases(limit), node);
      else targets.set(node, target);
      return;
    }
    if (node.anchor) {
      anchors.set(node.anchor, node);
      open.add(node);
    }
    if (isMap(node)) {
      for (const { key, value } of node.items) {
        visit(key);
        visit(value);
      }
    } else if (isSeq(node)) for (const item of node.items) visit(item as ParsedNode);
    open.delete(node);
  }

  visit(root);
  return refused ?? { ok: true, targets };
}

/** The message for a document with more aliases than the limit. */
export function tooManyAliases(limit: number): string {
  return `The document has more than ${limit} aliases. Replace some with their content.`;
}

/** The offset at which a node starts. */
export function offsetOf(node: ParsedNode): number {
  return node.range[0];
}

/** Whether a pair's key is a merge key: a plain `<<` (https://yaml.org/type/merge.html). */
export function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.type === 'PLAIN' && key.source === '<<' && !key.tag;
}

/**
 * The member name for a key: the text of a scalar, even one that YAML reads as a number. Otherwise
 * null.
 */
export function keyName(key: ParsedNode | null, targets: AliasTargets): string | null {
  if (key === null) return 'null';
  const node = isAlias(key) ? targets.get(key) : key;
  if (!isScalar(node)) return null;
  if (typeof node.value === 'string') return node.value;
  return node.source === undefined || node.source === '' ? String(node.value) : node.source;
}

/**
 * Returns a function that locates a pointer. A member that comes from an alias or a merge key is
 * located where it was written.
 */
export function createYamlFind(
  root: ParsedNode,
  targets: AliasTargets,
): (pointer: string) => { key: number; value: number } {
  const known = new Map<YAMLMap.Parsed, Map<string, { key: number; node: ParsedNode | null }>>();

  function membersOf(map: YAMLMap.Parsed): Map<string, { key: number; node: ParsedNode | null }> {
    const found = known.get(map);
    if (found) return found;
    const members = new Map<string, { key: number; node: ParsedNode | null }>();
    known.set(map, members);
    for (const { key, value } of map.items) {
      if (isMergeKey(key) && value !== null) {
        for (const source of mergedMaps(value, targets))
          for (const [name, member] of membersOf(source)) if (!members.has(name)) members.set(name, member);
      } else {
        const name = keyName(key, targets);
        if (name !== null) members.set(name, { key: key === null ? offsetOf(map) : offsetOf(key), node: value });
      }
    }
    return members;
  }

  return (pointer) => {
    let place = { key: offsetOf(root), value: offsetOf(root) };
    let node: ParsedNode | null | undefined = root;
    for (const token of parsePointer(pointer)) {
      const inside: ParsedNode | null | undefined = isAlias(node) ? targets.get(node) : node;
      if (isMap(inside)) {
        const member = membersOf(inside as YAMLMap.Parsed).get(token);
        if (member === undefined) break;
        node = member.node;
        place = { key: member.key, value: node === null ? member.key : offsetOf(node) };
      } else if (isSeq(inside)) {
        const item: ParsedNode | undefined = /^\d+$/.test(token)
          ? (inside.items[Number(token)] as ParsedNode | undefined)
          : undefined;
        if (item === undefined) break;
        node = item;
        place = { key: offsetOf(item), value: offsetOf(item) };
      } else break;
    }
    return place;
  };
}

/** The mappings that a merge key merges, the one with precedence first. Empty for other values. */
export function mergedMaps(value: ParsedNode, targets: AliasTargets): YAMLMap.Parsed[] {
  const node = isAlias(value) ? targets.get(value) : value;
  if (isMap(node)) return [node as YAMLMap.Parsed];
  if (!isSeq(node)) return [];
  return node.items.flatMap((item) => {
    const map = isAlias(item) ? targets.get(item) : item;
    return isMap(map) ? [map as YAMLMap.Parsed] : [];
  });
}
