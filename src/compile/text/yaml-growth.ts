import { isAlias, isMap, isScalar, isSeq, type ParsedNode, type YAMLMap } from 'yaml';
import { isMergeKey, keyName, mergedMaps, type AliasTargets } from './yaml-nodes.ts';

/** What a document, or a part of one, comes to. Characters are those of names and strings. */
export interface Size {
  nodes: number;
  characters: number;
}

/**
 * What a document comes to as it is written, and with its aliases and merge keys expanded, measured without expanding them: every anchor
 * stands before its aliases and is measured once. A mapping that is merged counts as a whole, since all of it is read.
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
        // A key may hold anchors too, and they must be known.
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

/** How much a document may grow by its aliases: several times what is written, and what a small one may need beyond that. */
const mostGrowth = { times: 4, nodes: 50_000, characters: 1_000_000 };

/** Whether the aliases of a document make much of little, which no document that people write does. */
export function growsTooMuch(written: Size, expanded: Size): boolean {
  return (
    expanded.nodes > written.nodes * mostGrowth.times + mostGrowth.nodes ||
    expanded.characters > written.characters * mostGrowth.times + mostGrowth.characters
  );
}
