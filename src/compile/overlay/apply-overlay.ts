import { isObject, own, type JsonObject } from '../../model/json.ts';
import type { Problem } from '../../model/problem.ts';
import { maxFindings, problemAt } from '../kind.ts';
import type { ParsedFile } from '../text/parse.ts';
import { listOf, objectOf } from '../../render/json-value.ts';
import { joinPointer } from '../../model/pointer.ts';
import { parseJsonPath, type JsonPath, selectNodes, type PathNode } from './json-path.ts';
import type { Budget } from '../ruleset/spectral/pattern.ts';
import { setMember } from '../text/text.ts';

interface Action {
  /** Its pointer in the overlay. */
  at: string;
  target: JsonPath;
  isRemoval: boolean;
  /** What is copied, in place of an update. Null: nothing. */
  copied: JsonPath | null;
  /** Undefined: none. */
  update: unknown;
}

interface Overlay {
  file: ParsedFile;
  /** Whether values that cannot be merged are an error, as since version 1.1. Before, the new one replaces the old one. */
  isStrict: boolean;
  actions: readonly Action[];
}

/** Whether a value is an OpenAPI Overlay of some version. */
export function isOverlay(value: unknown): boolean {
  return isObject(value) && Object.hasOwn(value, 'overlay');
}

/** The members of each object of an overlay, and whether they are required. `copy` and `description` of `info` came with 1.1. */
const members = {
  root: { overlay: true, info: true, extends: false, actions: true },
  info: { title: true, version: true, description: false },
  action: { target: true, description: false, update: false, copy: false, remove: false },
} as const;

/** Reads an overlay. With an error among its problems it cannot be applied. */
export function readOverlay(file: ParsedFile): { overlay: Overlay; problems: Problem[] } {
  const problems: Problem[] = [];
  const actions: Action[] = [];
  const { exact: value } = file;
  const say = (pointer: string, message: string, on: 'key' | 'value' = 'value') => {
    if (problems.length < maxFindings) problems.push(problemAt(file, pointer, 'overlay', message, { on }));
  };
  const check = (given: unknown, pointer: string, name: string, kind: keyof typeof members): boolean => {
    if (!isObject(given)) say(pointer, `${name} must be an object.`);
    if (!isObject(given)) return false;
    for (const key of Object.keys(given)) {
      const isFrom11 = key === 'copy' || (kind === 'info' && key === 'description');
      if (key.startsWith('x-') || (Object.hasOwn(members[kind], key) && (isStrict || !isFrom11))) continue;
      const hint = isFrom11 ? ' It came with version 1.1 of the specification.' : '';
      say(joinPointer(pointer, key), `${name} has no member ${JSON.stringify(key.slice(0, 100))}.${hint}`, 'key');
    }
    for (const [key, isRequired] of Object.entries(members[kind]))
      if (isRequired && !Object.hasOwn(given, key)) say(pointer, `${name} needs ${JSON.stringify(key)}.`);
    for (const key of ['extends', 'title', 'version', 'description', 'target', 'copy'])
      if (Object.hasOwn(given, key) && typeof given[key] !== 'string')
        say(joinPointer(pointer, key), `${JSON.stringify(key)} must be a text.`);
    return true;
  };
  const root = objectOf(value);
  const version = typeof root['overlay'] === 'string' ? /^1\.([01])\.[0-9]+$/.exec(root['overlay']) : null;
  const isStrict = version?.[1] === '1';
  if (!check(value, '', 'The overlay', 'root')) return { overlay: { file, isStrict, actions }, problems };
  if (version === null && Object.hasOwn(root, 'overlay'))
    say('/overlay', '"overlay" must be the version of the specification that it follows: "1.0.0" or "1.1.0".');
  if (Object.hasOwn(root, 'info')) check(root['info'], '/info', '"info"', 'info');
  const listed: unknown = root['actions'];
  if (Object.hasOwn(root, 'actions') && (!Array.isArray(listed) || listed.length === 0))
    say('/actions', '"actions" must be a list of at least one action.');
  const path = (text: unknown, pointer: string): JsonPath => {
    try {
      if (typeof text === 'string') return parseJsonPath(text);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      say(pointer, `The path cannot be read: ${error.message}`);
    }
    return [];
  };
  const seen = new Set<string>();
  for (const [index, action] of listOf(listed).entries()) {
    const at = `/actions/${index}`;
    const name = `actions[${index}]`;
    if (!check(action, at, name, 'action')) continue;
    const given = action as JsonObject;
    const text = JSON.stringify(given);
    if (seen.has(text)) say(at, `${name} is in the list twice.`);
    seen.add(text);
    const { remove, update, copy } = given;
    if (remove !== undefined && typeof remove !== 'boolean') say(`${at}/remove`, '"remove" must be true or false.');
    if (update !== undefined && copy !== undefined) say(at, `${name} has both "update" and "copy". Keep one of them.`);
    const target = path(given['target'], `${at}/target`);
    const isRemoval = remove === true;
    const copied = isRemoval || copy === undefined ? null : path(copy, `${at}/copy`);
    actions.push({ at, target, isRemoval, copied, update });
  }
  return { overlay: { file, isStrict, actions }, problems };
}

/** What a copied node costs. An overlay can copy what it copied, so it may make some two million of them. */
const copyWork = 20;

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
    const keys = seen.getOrInsertComputed(parent?.value, () => new Set());
    return !keys.has(key) && keys.add(key);
  });
}

interface Scope {
  document: unknown;
  isStrict: boolean;
  budget: Budget;
}

function perform({ isRemoval, copied, update }: Action, nodes: readonly PathNode[], scope: Scope): void {
  const { document, isStrict, budget } = scope;
  if (isRemoval) return removeNodes(nodes);
  if (copied === null && update === undefined) return;
  const kinds = new Set(nodes.map(({ value }) => kindOf(value)));
  if (isStrict && kinds.size > 1)
    throw new Incompatible(`matches ${[...kinds].join(' and ')}; it must match one kind of value.`);
  let value = update;
  if (copied !== null) {
    const sources = selectNodes(copied, document, budget);
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
  else setMember(parent.value as JsonObject, String(key), value);
}

function removeNodes(nodes: readonly PathNode[]): void {
  const removed = new Map<object, Set<string | number>>();
  for (const { parent, key } of nodes) {
    if (parent === null) throw new Incompatible('removes the whole document.');
    const container = parent.value as object;
    if (!Array.isArray(container)) delete (container as JsonObject)[key];
    else removed.getOrInsert(container, new Set()).add(key);
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
  target: JsonObject,
  update: JsonObject,
  { isStrict, budget }: Pick<Scope, 'isStrict' | 'budget'>,
): void {
  const open: [JsonObject, JsonObject][] = [[target, update]];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [into, from] = pair;
    for (const [key, value] of Object.entries(from)) {
      budget.spend(1);
      const before = own(into, key);
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
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, copyOf(child, budget)]));
}

function kindOf(value: unknown): 'an object' | 'a list' | 'a simple value' {
  return Array.isArray(value) ? 'a list' : isObject(value) ? 'an object' : 'a simple value';
}
