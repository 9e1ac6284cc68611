import type { Budget } from './pattern.ts';
import { type Graph, type Node, keysOf } from './graph.ts';
import { createMatcher } from './path/match-paths.ts';
import { parsePath } from './path/json-path.ts';
import { isObject, type JsonObject } from '../../../model/json.ts';
import { listOf, objectOf } from '../../../render/json-value.ts';
import { maxFindings } from '../../kind.ts';
import { failed, notRun, toFailure, type Failure as CodeFailure, type Outcome } from '../../interpreter/failure.ts';
import type { Program } from '../../interpreter/interpreter.ts';
import { createTable } from '../../interpreter/table.ts';
import { takeFunction } from '../ruleset-code.ts';
import type { EffectiveRule, OwnFunction } from './effective-rules.ts';

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
  if (field === '@key') return (node) => (isContainer(node.value) ? keyTargets(node, graph) : [self(node)]);
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

function keyTargets({ value, place }: Node, graph: Graph): Target[] {
  return Object.entries(value as object).map(([key, child]) => {
    const step = Array.isArray(value) ? Number(key) : key;
    return { node: { value: key, place: graph.child(place, step, child).place }, property: step, isKey: true };
  });
}

function memberAt(start: Node, field: string, keys: readonly string[], graph: Graph): Target {
  let node = start;
  const path = Object.hasOwn(start.value as object, field) ? [field] : keys;
  for (const [at, key] of path.entries()) {
    const { value, place } = node;
    const existing = isContainer(value) && Object.hasOwn(value, key) ? (value as JsonObject)[key] : undefined;
    if (existing === undefined) {
      const around = at > 0 && place.parent !== null ? [String(place.key)] : [];
      return { node: { value: undefined, place }, property: [...around, ...path.slice(at)].join('.') };
    }
    node = graph.child(place, Array.isArray(value) ? Number(key) : key, existing);
  }
  return { node, property: node.place.key };
}

function splitField(field: string): string[] {
  const parts = field.matchAll(/\[(?:"([^"]*)"|'([^']*)'|([^\]]*))\]|([^.[\]]+)/g);
  return [...parts].map(([, double, single, bare, name]) => double ?? single ?? bare ?? name ?? '');
}

/** The checks that one rule makes with a function of its ruleset. */
export interface Batch {
  rule: EffectiveRule;
  fn: OwnFunction;
  options: unknown;
  isResolved: boolean;
  targets: Target[];
}

/** A finding of a function. `keys`: from the target's node, or from the root of the document. Null: the target itself. */
export interface OwnFinding {
  target: Target;
  message: string;
  keys: { from: 'target' | 'root'; keys: (string | number)[] } | null;
}

export type BatchResult = { findings: OwnFinding[] } | { failure: CodeFailure };

/** Returns what runs a batch on a document: `resolved` as functions see it, and as written. */
export function createOwnFunctions(
  programs: ReadonlyMap<unknown, Program>,
  document: { path: string; formats: Iterable<string>; resolved: Graph; written: Graph },
): (batch: Batch) => BatchResult {
  const tables = { resolved: tableOf(document.resolved), written: tableOf(document.written) };
  const prepared = new Map<Program, Outcome>();
  const taken = new Map<string, Outcome>();

  function prepare(program: Program, reference: string): CodeFailure | null {
    const ready = prepared.getOrInsertComputed(program, () =>
      program.call('setDocument', {
        resolved: tables.resolved.table(),
        unresolved: tables.written.table(),
        source: document.path,
        formats: [...document.formats],
      }),
    );
    if ('failure' in ready) return ready.failure;
    const name = `${[...prepared.keys()].indexOf(program)} ${reference}`;
    const fn = taken.getOrInsertComputed(name, () => takeFunction(program, reference));
    return 'failure' in fn ? fn.failure : null;
  }

  return ({ rule, fn: { reference, modules }, options, isResolved, targets }) => {
    const program = programs.get(modules);
    if (program === undefined) return { failure: notRun('functions') };
    const failure = prepare(program, reference);
    if (failure !== null) return { failure };
    const table = isResolved ? tables.resolved : tables.written;
    const paths = targets.map(pathOf);
    const { description = null, message = null } = rule.definition;
    const called = program.call('run', {
      name: reference,
      table: isResolved ? 'resolved' : 'unresolved',
      options: options ?? null,
      rule: {
        name: rule.name,
        description,
        message,
        severity: rule.level,
        enabled: true,
        recommended: rule.isRecommended,
      },
      nodes: targets.map(({ node }, at) => [table.refer(node.value), paths[at]]),
    });
    if ('failure' in called) return called;
    const ended = program.finish();
    return 'failure' in ended ? ended : readResult(ended.value, targets, paths, objectOf(modules));
  };
}

/** Reads what a function answers. It comes from an author, as everything in a sandbox does. */
function readResult(
  value: unknown,
  targets: readonly Target[],
  paths: readonly (readonly (string | number)[])[],
  modules: Readonly<JsonObject>,
): BatchResult {
  const { findings, failure, waiting } = objectOf(value);
  if (isObject(failure)) return { failure: toFailure(failure, modules) };
  if (waiting !== 0) return { failure: failed('it waits for a promise that never settles') };
  if (!Array.isArray(findings)) return { failure: failed('its answer cannot be read') };
  return {
    findings: findings.slice(0, maxFindings + 1).flatMap((one: unknown): OwnFinding[] => {
      const [at, message, path] = listOf(one);
      const target = targets[at as number];
      if (target === undefined || typeof message !== 'string') return [];
      return [{ target, message: message.slice(0, maxMessage), keys: keysIn(path, paths[at as number]!) }];
    }),
  };
}

const maxMessage = 2000;

/** The path of a finding, from its target if that is on the way. Null: the target. */
function keysIn(path: unknown, own: readonly (string | number)[]): OwnFinding['keys'] {
  if (!Array.isArray(path)) return null;
  const keys = path.filter((key) => typeof key === 'string' || typeof key === 'number');
  const isBelow = own.every((key, at) => String(key) === String(keys[at]));
  if (!isBelow) return { from: 'root', keys };
  return keys.length === own.length ? null : { from: 'target', keys: keys.slice(own.length) };
}

function pathOf({ node: { value, place }, property }: Target): (string | number)[] {
  const keys = keysOf(place);
  return value === undefined && property !== place.key ? [...keys, property] : keys;
}

function tableOf(graph: Graph) {
  const { refer, nodes } = createTable();
  let written: { nodes: unknown[]; root: unknown } | null = null;
  const table = () => {
    if (written !== null) return written;
    const root = refer(graph.resolved(graph.root.value));
    return (written = { nodes: nodes(), root });
  };
  return {
    table,
    refer: (value: unknown) => {
      table();
      return refer(graph.resolved(value));
    },
  };
}
