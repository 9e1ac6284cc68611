import type { Formats } from './formats.ts';
import type { Graph, Node } from './graph.ts';
import type { Matches } from './pattern.ts';

/** One failed check. `keys`: the way from the checked value to the place that is meant. */
export interface Failure {
  message: string;
  keys?: readonly (string | number)[];
}

/** The context of a check besides the value. */
export interface Context {
  graph: Graph;
  formats: Formats;
  /** The checked node; `value` is undefined if it is missing. */
  node: Node;
  /** The name of the checked value, for messages: `"title" property `. */
  subject: string;
}

/** Checks a value. `undefined` means that it is missing. */
export type Check = (value: unknown, context: Context) => Failure[];

/** Prepares a function with its options, which were checked against their schema. */
export type CoreFunction = (options: Readonly<Record<string, unknown>>, tools: Tools) => Check;

/** Tools that functions share within one run. */
export interface Tools {
  /** Prepares a pattern. Matching spends work. */
  pattern(written: string): Matches;
  /** Prepares the options of `casing`. Checking spends work. */
  casing(options: Readonly<Record<string, unknown>>): Matches;
  /** Prepares the options of `schema`. Throws an `Error` if the schema cannot be compiled. */
  schema(options: Readonly<Record<string, unknown>>): (value: unknown, subject: string) => Failure[];
}
