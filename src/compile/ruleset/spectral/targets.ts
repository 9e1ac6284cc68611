import type { Budget } from './budget.ts';
import type { Graph, Node } from './graph.ts';
import { createMatcher } from './path/match-paths.ts';
import { parsePath } from './path/json-path.ts';

/** A value to check. `node.place`: the value, or if it is missing, what exists above it. */
export interface Target {
  node: Node;
  /** The name for messages: of the value, or of what is missing with the names around it. */
  property: string | number;
  /** Whether it is the name of a member, and not its value. */
  isKey?: boolean;
}

/** The work of preparing a path expression for one value. */
const matcherWork = 20;

/**
 * Prepares the `field` of a rule: a member, a path of members (`info.title`, `a['b']`), `@key` for
 * the keys, or a path expression that starts at the value. Values without members are checked
 * themselves. Throws a `SyntaxError`.
 */
export function targetsOf(field: string | null, graph: Graph, budget: Budget): (node: Node) => Target[] {
  if (field === null) return (node) => [{ node, property: node.place.key }];
  if (field === '@key') return (node) => (isContainer(node.value) ? keysIn(node, graph) : [self(node)]);
  if (field.startsWith('$')) {
    const steps = parsePath(field);
    return (node) => {
      if (!isContainer(node.value)) return [self(node)];
      const targets: Target[] = [];
      budget.spend(matcherWork);
      const matcher = createMatcher();
      matcher.add(steps, { rule: '', take: (one) => targets.push(self(one)) });
      matcher.run(graph, node, budget);
      return targets.length > 0 ? targets : [{ node: { ...node, value: undefined }, property: node.place.key }];
    };
  }
  const keys = splitField(field);
  return (node) => (isContainer(node.value) ? [memberAt(node, field, keys, graph)] : [self(node)]);
}

function self(node: Node): Target {
  return { node, property: node.place.key };
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function keysIn({ value, place }: Node, graph: Graph): Target[] {
  return Object.entries(value as object).map(([key, child]) => {
    const step = Array.isArray(value) ? Number(key) : key;
    return { node: { value: key, place: graph.child(place, step, child).place }, property: step, isKey: true };
  });
}

/** A member, by the field as one name if there is one, else by its parts. */
function memberAt(start: Node, field: string, keys: readonly string[], graph: Graph): Target {
  let node = start;
  const path = Object.hasOwn(start.value as object, field) ? [field] : keys;
  for (const [at, key] of path.entries()) {
    const { value, place } = node;
    const existing =
      isContainer(value) && Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined;
    if (existing === undefined) {
      const around = at > 0 && place.parent !== null ? [String(place.key)] : [];
      return { node: { value: undefined, place }, property: [...around, ...path.slice(at)].join('.') };
    }
    node = graph.child(place, Array.isArray(value) ? Number(key) : key, existing);
  }
  return { node, property: node.place.key };
}

/** Splits `a.b[0]['c.d']` into names. */
function splitField(field: string): string[] {
  const parts = field.matchAll(/\[(?:"([^"]*)"|'([^']*)'|([^\]]*))\]|([^.[\]]+)/g);
  return [...parts].map(([, double, single, bare, name]) => double ?? single ?? bare ?? name ?? '');
}
