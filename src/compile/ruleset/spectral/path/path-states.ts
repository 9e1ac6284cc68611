import type { Node } from '../graph.ts';
import type { FilterScope } from './filter.ts';
import type { Step } from './json-path.ts';

/** Receives the nodes that an expression of a rule selects. */
export interface Sink {
  rule: string;
  take(node: Node): void;
}

/** A state of the matcher: the steps that may follow, and the rules whose expressions end here. */
export interface State {
  edges: Map<string, State>;
  byName: Map<string, State[]>;
  all: State[];
  tests: { test: (scope: FilterScope) => boolean; to: State }[];
  slices: { range: readonly [number, number, number]; to: State }[];
  parent: State | null;
  self: State | null;
  /** The steps at any depth below. It is its own `deep`. */
  deep: State | null;
  /** Keys and nodes that are selected. */
  keys: Sink[];
  ends: Sink[];
}

export function newState(): State {
  return {
    edges: new Map(),
    byName: new Map(),
    all: [],
    tests: [],
    slices: [],
    parent: null,
    self: null,
    deep: null,
    keys: [],
    ends: [],
  };
}

/** The state after a step, shared by all expressions that are the same so far. */
export function follow(from: State, step: Step): State {
  let state = from;
  if (step.deep) {
    state.deep ??= newState();
    state = state.deep;
    state.deep = state;
  }
  const { deep: _, ...own } = step;
  const name = JSON.stringify(own);
  const next = state.edges.get(name);
  if (next !== undefined) return next;
  const to = newState();
  state.edges.set(name, to);
  (addStep[step.kind] as (state: State, to: State, step: Step) => void)(state, to, step);
  return to;
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

/** Whether a state says something about members of any name. */
export function isWide({ all, tests, slices }: State): boolean {
  return all.length + tests.length + slices.length > 0;
}
