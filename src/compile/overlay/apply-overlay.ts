import { isObject } from '../../model/json.ts';
import type { Problem } from '../../model/problem.ts';
import { problemAt } from '../kind.ts';
import type { Budget } from '../ruleset/spectral/budget.ts';
import { setMember } from '../text/text.ts';
import { selectNodes, type PathNode } from './json-path.ts';
import type { Action, Overlay } from './read-overlay.ts';

/** What a copied node costs. An overlay can copy what it copied, so it may make some two million of them. */
const copyWork = 20;

/** Two values that cannot be merged. */
class Incompatible extends Error {}

/**
 * Applies an overlay to a document, in place. An action that matches nothing is a warning. One that cannot be applied is
 * an error; the others are applied.
 */
export function applyOverlay(document: unknown, { file, isStrict, actions }: Overlay, budget: Budget): Problem[] {
  return actions.flatMap((action, index): Problem[] => {
    const at = `${action.at}/target`;
    const nodes = uniqueNodes(selectNodes(action.target, document, budget));
    if (nodes.length === 0) {
      const message = `actions[${index}] matches nothing in the document.`;
      return [problemAt(file, at, 'overlay-unmatched', message, { severity: 'warning' })];
    }
    try {
      perform(action, nodes, { document, isStrict, budget });
      return [];
    } catch (error) {
      if (!(error instanceof Incompatible)) throw error;
      return [problemAt(file, at, 'overlay', `actions[${index}] ${error.message}`)];
    }
  });
}

/** A path may select a node more than once. */
function uniqueNodes(nodes: readonly PathNode[]): PathNode[] {
  const seen = new Map<unknown, Set<string | number>>();
  return nodes.filter(({ parent, key }) => {
    const keys = seen.get(parent?.value) ?? new Set();
    seen.set(parent?.value, keys);
    return !keys.has(key) && keys.add(key);
  });
}

interface Scope {
  document: unknown;
  isStrict: boolean;
  budget: Budget;
}

function perform({ does }: Action, nodes: readonly PathNode[], scope: Scope): void {
  const { document, isStrict, budget } = scope;
  if (does.how === 'nothing') return;
  if (does.how === 'remove') return removeNodes(nodes);
  const kinds = new Set(nodes.map(({ value }) => kindOf(value)));
  if (isStrict && kinds.size > 1)
    throw new Incompatible(`matches ${[...kinds].join(' and ')}; it must match one kind of value.`);
  let value: unknown;
  if (does.how === 'update') ({ value } = does);
  else {
    const sources = selectNodes(does.from, document, budget);
    if (sources.length !== 1) throw new Incompatible(`copies ${sources.length} values; "copy" must match one.`);
    // Before the targets change, since it may be one of them or around them.
    value = copyOf(sources[0]!.value, budget);
  }
  for (const { value: target, parent, key } of nodes) {
    if (Array.isArray(target)) append(target, value, budget);
    else if (isObject(target) && isObject(value)) mergeInto(target, value, scope);
    else if (isStrict && kindOf(value) !== kindOf(target))
      throw new Incompatible(`updates ${kindOf(target)} with ${kindOf(value)}.`);
    else put(parent, key, copyOf(value, budget));
  }
}

function put(parent: PathNode | null, key: string | number, value: unknown): void {
  if (parent === null) throw new Incompatible('changes the root of the document, which must be an object.');
  if (Array.isArray(parent.value)) parent.value[Number(key)] = value;
  else setMember(parent.value as Record<string, unknown>, String(key), value);
}

function removeNodes(nodes: readonly PathNode[]): void {
  const removed = new Map<object, Set<string | number>>();
  for (const { parent, key } of nodes) {
    if (parent === null) throw new Incompatible('removes the whole document.');
    const container = parent.value as object;
    if (!Array.isArray(container)) delete (container as Record<string, unknown>)[key];
    else removed.set(container, (removed.get(container) ?? new Set()).add(key));
  }
  for (const [list, indexes] of removed) {
    const kept = (list as unknown[]).filter((_, index) => !indexes.has(index));
    (list as unknown[]).length = 0;
    for (const item of kept) (list as unknown[]).push(item);
  }
}

function append(target: unknown[], value: unknown, budget: Budget): void {
  for (const item of Array.isArray(value) ? value : [value]) target.push(copyOf(item, budget));
}

/** Merges an object into another: objects member by member, lists one after the other; anything else replaces. */
function mergeInto(
  target: Record<string, unknown>,
  update: Record<string, unknown>,
  { isStrict, budget }: Pick<Scope, 'isStrict' | 'budget'>,
): void {
  const open: [Record<string, unknown>, Record<string, unknown>][] = [[target, update]];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [into, from] = pair;
    for (const [key, value] of Object.entries(from)) {
      budget.spend(1);
      const before = Object.hasOwn(into, key) ? into[key] : undefined;
      if (isObject(before) && isObject(value)) open.push([before, value]);
      else if (Array.isArray(before) && Array.isArray(value)) append(before, value, budget);
      else if (isStrict && before !== undefined && kindOf(before) !== kindOf(value) && value !== null)
        throw new Incompatible(
          `updates ${kindOf(before)}, ${JSON.stringify(key.slice(0, 100))}, with ${kindOf(value)}.`,
        );
      // As in the specification's example, a member without a value leaves what is there.
      else if (value !== null || before === undefined || kindOf(before) === 'a simple value')
        setMember(into, key, copyOf(value, budget));
    }
  }
}

/** A copy that shares nothing, since a later action may change one of them. */
function copyOf(value: unknown, budget: Budget): unknown {
  budget.spend(copyWork);
  if (Array.isArray(value)) return value.map((item) => copyOf(item, budget));
  if (!isObject(value)) return value;
  const copy: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(value)) setMember(copy, key, copyOf(child, budget));
  return copy;
}

function kindOf(value: unknown): 'an object' | 'a list' | 'a simple value' {
  return Array.isArray(value) ? 'a list' : isObject(value) ? 'an object' : 'a simple value';
}
