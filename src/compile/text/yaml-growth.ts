import { isAlias, isMap, isScalar, isSeq, type ParsedNode, type YAMLMap } from 'yaml';
import { isMergeKey, keyName, mergedMaps, type AliasTargets } from './yaml-nodes.ts';

/** The size of a document or a part of it. `characters` counts names and strings. */
export interface Size {
  nodes: number;
  characters: number;
}

/**
 * Measures a document as written and with its aliases and merge keys expanded, without expanding
 * them: an anchor comes before its aliases and is measured once. A merged mapping counts as a
 * whole.
 */
export function measureGrowth(root: ParsedNode, targets: AliasTargets): { written: Size; expanded: Size } {
  const known = new Map<ParsedNode, Size>();
  const written: Size = { nodes: 0, characters: 0 };

  function sizeOf(node: ParsedNode | null | undefined): Size {
    if (isAlias(node)) return known.get(targets.get(node)!)!;
    const size: Size = { nodes: 1, characters: 0 };
    written.nodes++;
    if (isScalar(node)) {
      size.characters = String(node.value).length;
      written.characters += size.characters;
    } else if (isMap(node)) {
      for (const { key, value } of (node as YAMLMap.Parsed).items) {
        const name = isMergeKey(key) ? 0 : (keyName(key, targets)?.length ?? 0);
        // A key may contain anchors too.
        if (key !== null && !isAlias(key)) sizeOf(key);
        const inside = sizeOf(value);
        const parts =
          isMergeKey(key) && value !== null ? mergedMaps(value, targets).map((map) => known.get(map)!) : [inside];
        size.characters += name;
        for (const part of parts) add(size, part);
      }
    } else if (isSeq(node)) for (const item of node.items) add(size, sizeOf(item as ParsedNode));
    if (node) known.set(node, size);
    return size;
  }

  return { expanded: sizeOf(root), written };
}

function add(size: Size, part: Size): void {
  size.nodes += part.nodes;
  size.characters += part.characters;
}

/** How much aliases may expand a document: by a factor, plus an allowance for small documents. */
const maxGrowth = { times: 4, nodes: 50_000, characters: 1_000_000 };

/** Whether the aliases expand the document more than any real document needs ("billion laughs"). */
export function growsTooMuch(written: Size, expanded: Size): boolean {
  return (
    expanded.nodes > written.nodes * maxGrowth.times + maxGrowth.nodes ||
    expanded.characters > written.characters * maxGrowth.times + maxGrowth.characters
  );
}
