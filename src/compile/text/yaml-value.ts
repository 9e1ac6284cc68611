import { isAlias, isMap, isScalar, isSeq, type ParsedNode, type Scalar, type YAMLMap } from 'yaml';
import type { CompileLimits } from '../compile.ts';
import { joinPointer, longestPointer, pointerTooLong } from './pointer.ts';
import { numberIssue, setMember, type YamlIssue } from './text.ts';
import { isMergeKey, keyName, mergedMaps, offsetOf, type AliasTargets } from './yaml-nodes.ts';

const keptIssues = 1000;

/**
 * Returns the plain value of a document: aliases expanded (no node is shared), merge keys merged,
 * members in the order of the text. Reports what JSON cannot express. `stopped`: the expanded
 * document exceeds a limit, and there is no value.
 */
export function readYamlValue(
  root: ParsedNode,
  targets: AliasTargets,
  limits: Pick<CompileLimits, 'depth' | 'nodes'>,
): { value: unknown; issues: YamlIssue[]; stopped: boolean } {
  const issues: YamlIssue[] = [];
  let nodes = 0;
  let stopped = false;

  function note(rule: string, severity: 'error' | 'warning', message: string, offset: number, pointer: string): void {
    if (issues.length < keptIssues) issues.push({ rule, severity, message, offset, pointer });
  }

  function stop(rule: string, message: string, node: ParsedNode, pointer: string): void {
    if (!stopped) issues.unshift({ rule, severity: 'error', message, offset: offsetOf(node), pointer });
    stopped = true;
  }

  function read(node: ParsedNode | null | undefined, pointer: string, depth: number): unknown {
    if (stopped || node === null || node === undefined) return null;
    if (isAlias(node)) return read(targets.get(node), pointer, depth);
    if (++nodes > limits.nodes)
      stop(
        'limit-nodes',
        `The document has more than ${limits.nodes} nodes after expanding its aliases.`,
        node,
        pointer,
      );
    if (pointer.length > longestPointer) stop('limit-pointer', pointerTooLong, node, pointer.slice(0, longestPointer));
    if (isScalar(node)) return readScalar(node, pointer);
    if (depth > limits.depth)
      stop('limit-depth', `The document is nested deeper than ${limits.depth} levels.`, node, pointer);
    if (stopped) return null;
    if (isMap(node)) return readMap(node as YAMLMap.Parsed, pointer, depth);
    return isSeq(node)
      ? node.items.map((item, index) => read(item as ParsedNode, joinPointer(pointer, index), depth + 1))
      : null;
  }

  function readScalar(node: Scalar.Parsed, pointer: string): unknown {
    const { value, source } = node;
    if (typeof value === 'string') {
      if (!value.isWellFormed())
        note(
          'lone-surrogate',
          'error',
          'The string contains half of a surrogate pair. Write both halves, or remove it.',
          offsetOf(node),
          pointer,
        );
      return value;
    }
    if (typeof value === 'number') {
      const issue =
        source.length > 15 || !Number.isFinite(value) || /e/i.test(source)
          ? numberIssue(source, value, offsetOf(node))
          : null;
      if (issue) note(issue.rule, issue.severity, issue.message, issue.offset, pointer);
      return value;
    }
    return typeof value === 'boolean' ? value : null;
  }

  function readMap(map: YAMLMap.Parsed, pointer: string, depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    const own = new Set<string>();
    for (const { key, value } of map.items) {
      if (isMergeKey(key)) {
        merge(object, value, pointer, depth);
        continue;
      }
      const name = keyName(key, targets);
      if (name === null) {
        note(
          'yaml-key',
          'error',
          'The key must be a string: JSON has no objects or arrays as keys.',
          key ? offsetOf(key) : offsetOf(map),
          pointer,
        );
        continue;
      }
      const at = joinPointer(pointer, name);
      if (own.has(name))
        note(
          'duplicate-key',
          'error',
          `Duplicate key ${JSON.stringify(name.slice(0, 100))}. Remove one of the two.`,
          key ? offsetOf(key) : offsetOf(map),
          at,
        );
      own.add(name);
      warnOfKey(key, name, at);
      setMember(object, name, read(value, at, depth + 1));
    }
    return object;
  }

  /** Warns about a key that other parsers read as a number and rewrite: `1.10` becomes `1.1`. */
  function warnOfKey(key: ParsedNode | null, name: string, pointer: string): void {
    const node = isAlias(key) ? targets.get(key) : key;
    if (!isScalar(node) || typeof node.value === 'string' || String(node.value) === name) return;
    const message = `The key ${name} is read as the string "${name}", but other parsers read ${String(node.value)}. Put it in quotes.`;
    note('yaml-key', 'warning', message, offsetOf(node), pointer);
  }

  function merge(object: Record<string, unknown>, value: ParsedNode | null, pointer: string, depth: number): void {
    const maps = value === null ? [] : mergedMaps(value, targets);
    if (value === null || maps.length === 0) {
      note(
        'yaml-merge',
        'error',
        'The value of "<<" must be a mapping or a list of mappings.',
        value === null ? 0 : offsetOf(value),
        pointer,
      );
      return;
    }
    for (const map of maps) {
      const merged = read(map, pointer, depth);
      if (merged === null || typeof merged !== 'object') return;
      for (const [name, member] of Object.entries(merged))
        if (!Object.hasOwn(object, name)) setMember(object, name, member);
    }
  }

  const value = read(root, '', 1);
  return { value: stopped ? null : value, issues, stopped };
}
