import { TooMuchWork, type Budget } from '../pattern.ts';
import type { FilterScope } from './filter.ts';
import type { Graph, Node, Place } from '../graph.ts';
import type { Step } from './json-path.ts';

/** Expressions, merged so that one traversal evaluates all of them. */
export interface Matcher {
  add(steps: readonly Step[], sink: Sink): void;
  /** Calls the sinks with every node below `start` that their expressions select. */
  run(graph: Graph, start: Node, budget: Budget): void;
}

interface Frame {
  value: object;
  place: Place;
  key: string | number | null;
  up: Frame | null;
  states: readonly State[];
}

export function createMatcher(): Matcher {
  const first = new State();
  return {
    add(steps, sink) {
      let state = first;
      for (const [at, step] of steps.entries()) {
        if (step.kind === 'key' && at === steps.length - 1) return void state.keys.push(sink);
        state = follow(state, step);
      }
      state.ends.push(sink);
    },
    run: (graph, start, budget) => traverse(graph, start, first, budget),
  };
}

function traverse(graph: Graph, start: Node, first: State, budget: Budget): void {
  const done = new Map<object, Set<State>>();
  const stack: Frame[] = [];
  const root = start.value;

  /** Enters a node in some states: tells the sinks, and leaves the members for later. */
  function enter(node: Node, key: string | number | null, up: Frame | null, states: readonly State[]): void {
    const { value, place } = node;
    const isContainer = typeof value === 'object' && value !== null;
    const open = isContainer && graph.isTarget(value) ? fresh(value, states) : states;
    const frame = isContainer ? { value, place, key, up, states: open } : null;
    for (const state of open) for (const sink of state.ends) sink.take(node);
    for (const state of states) arrive(state, node, key, up);
    if (frame === null || open.length === 0) return;
    stack.push(frame);
    for (const { deep } of open) if (deep?.self) enter(node, key, up, [deep.self]);
  }

  /** Handles steps that depend on the way to a node, and not on the node alone. */
  function arrive(state: State, node: Node, key: string | number | null, up: Frame | null): void {
    if (key !== null && state.keys.length > 0)
      for (const sink of state.keys) sink.take({ value: String(key), place: node.place });
    if (state.parent === null || up === null) return;
    // Many members lead to the same container.
    const isNew = graph.isTarget(up.value) || fresh(up.value, [state.parent]).length > 0;
    if (isNew) enter({ value: up.value, place: up.place }, up.key, up.up, [state.parent]);
  }

  /** The states in which a target of references was not seen before. */
  function fresh(value: object, states: readonly State[]): readonly State[] {
    const earlier = done.getOrInsertComputed(value, () => new Set());
    const open = states.filter((state) => !earlier.has(state));
    for (const state of open) earlier.add(state);
    return open;
  }

  enter(start, null, null, [first]);
  for (let frame = stack.pop(); frame !== undefined; frame = stack.pop()) {
    try {
      visit(frame);
    } catch (error) {
      if (error instanceof TooMuchWork && error.rule === '') error.rule = ruleAfter(prepare(frame.states).active);
      throw error;
    }
  }

  function visit(frame: Frame): void {
    const { value, place, states } = frame;
    const { active, carried, isOpen } = prepare(states);
    if (!isOpen) {
      for (const { byName } of states)
        for (const [key, next] of byName) {
          budget.spend(1);
          if (!Object.hasOwn(value, key)) continue;
          const child = (value as Record<string, unknown>)[key];
          const step = Array.isArray(value) ? Number(key) : key;
          enter(graph.child(place, step, child), step, frame, next);
        }
      return;
    }
    const isList = Array.isArray(value);
    const keys = Object.keys(value);
    budget.spend(keys.length * active.length);
    for (const name of keys) {
      const key = isList ? Number(name) : name;
      const node = graph.child(place, key, (value as Record<string, unknown>)[name]);
      let scope: FilterScope | null = null;
      let next: State[] | null = null;
      for (const { byName, all, tests, slices } of active) {
        const named = byName.get(name);
        if (named !== undefined) (next ??= []).push(...named);
        if (all.length > 0) (next ??= []).push(...all);
        if (tests.length > 0) {
          scope ??= {
            value: node.value,
            property: key,
            parent: frame.up?.value,
            parentProperty: frame.key ?? undefined,
            root,
            follow: graph.follow,
            budget,
          };
          budget.spend(tests.length);
          for (const { test, to } of tests) if (test(scope)) (next ??= []).push(to);
        }
        for (const { range, to } of slices)
          if (isList && isInRange(Number(name), range, keys.length)) (next ??= []).push(to);
      }
      if (next !== null) enter(node, key, frame, [...new Set([...carried, ...next])]);
      else if (carried.length > 0 && typeof node.value === 'object' && node.value !== null)
        enter(node, key, frame, carried);
    }
  }
}

/** A rule that the states may lead to, preferably through a filter. */
function ruleAfter(states: readonly State[]): string {
  const seen = new Set<State>();
  const open = states.toSorted((a, b) => a.tests.length - b.tests.length);
  for (let state = open.pop(); state !== undefined; state = open.pop()) {
    const sink = state.ends[0] ?? state.keys[0];
    if (sink !== undefined) return sink.rule;
    if (seen.has(state)) continue;
    seen.add(state);
    open.push(...state.edges.values(), ...(state.deep === null ? [] : [state.deep]));
  }
  return '';
}

/**
 * All states in which members are tested (`active`), those that every member is entered in (`carried`), and whether all
 * members must be looked at, and not only some by name (`isOpen`).
 */
function prepare(states: readonly State[]) {
  const deep = [...new Set(states.flatMap((state) => state.deep ?? []))];
  return { active: [...new Set([...states, ...deep])], carried: deep, isOpen: deep.length > 0 || states.some(isWide) };
}

function isInRange(at: number, [start, end, step]: readonly [number, number, number], length: number): boolean {
  const from = start < 0 ? Math.max(0, length + start) : start;
  const to = end < 0 ? length + end : end;
  return at >= from && at < to && (at - from) % Math.max(1, step) === 0;
}

interface Sink {
  rule: string;
  take(node: Node): void;
}

/** A state of the matcher: the steps that may follow, and the rules whose expressions end here. */
class State {
  readonly edges = new Map<string, State>();
  readonly byName = new Map<string, State[]>();
  readonly all: State[] = [];
  readonly tests: { test: (scope: FilterScope) => boolean; to: State }[] = [];
  readonly slices: { range: readonly [number, number, number]; to: State }[] = [];
  parent: State | null = null;
  self: State | null = null;
  /** The steps at any depth below. It is its own `deep`. */
  deep: State | null = null;
  /** Keys and nodes that are selected. */
  readonly keys: Sink[] = [];
  readonly ends: Sink[] = [];
}

function follow(from: State, step: Step): State {
  let state = from;
  if (step.deep) {
    state.deep ??= new State();
    state = state.deep;
    state.deep = state;
  }
  const { deep: _, ...own } = step;
  return state.edges.getOrInsertComputed(JSON.stringify(own), () => {
    const to = new State();
    (addStep[step.kind] as (state: State, to: State, step: Step) => void)(state, to, step);
    return to;
  });
}

/** What each kind of step adds to the state that it starts from. */
const addStep: { readonly [K in Step['kind']]: (state: State, to: State, step: Extract<Step, { kind: K }>) => void } = {
  names(state, to, { names }) {
    for (const key of new Set(names)) state.byName.set(key, [...(state.byName.get(key) ?? []), to]);
  },
  all: (state, to) => void state.all.push(to),
  filter: (state, to, { filter }) => void state.tests.push({ test: filter, to }),
  slice: (state, to, { range }) => void state.slices.push({ range, to }),
  self: (state, to) => void (state.self = to),
  parent: (state, to) => void (state.parent = to),
  // A key has no members: what follows selects nothing.
  key: () => undefined,
};

function isWide({ all, tests, slices }: State): boolean {
  return all.length + tests.length + slices.length > 0;
}
