import type { CompileLimits } from '../compile.ts';
import { longestPointer } from './pointer.ts';
import { giveUp } from './yaml-plain-scalars.ts';
import type { Spot } from './yaml-plain-spots.ts';

/** A text that is being read. `at` is the next character, `line` the start of its line. */
export interface Reading {
  readonly text: string;
  readonly limits: Pick<CompileLimits, 'depth' | 'nodes'>;
  at: number;
  line: number;
  nodes: number;
}

export interface Node {
  value: unknown;
  spot: Spot;
}

export interface Key {
  name: string;
  start: number;
}

/** Counts a node. `length`: an upper bound of the characters of its pointer. */
export function count(reading: Reading, depth: number, length: number): void {
  const { nodes, depth: deepest } = reading.limits;
  if (++reading.nodes > nodes || depth > deepest || length > longestPointer) giveUp();
}

export function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end;
}

export function isSpace(code: number): boolean {
  return code === 32 || code === 10 || Number.isNaN(code);
}

/** The end of a quoted scalar, after its closing quote. */
export function quoteEnd(text: string, start: number): number {
  const quote = text.charCodeAt(start);
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 92 && quote === 34) at++;
    else if (code === quote) {
      if (quote === 34 || text.charCodeAt(at + 1) !== 39) return at + 1;
      at++;
    }
  }
  return giveUp();
}

/** Characters that begin something else than a plain scalar: `,[]{}#&*!|>'"%@` and a backtick. */
const indicators = new Set([...',[]{}#&*!|>\'"%@`'].map((character) => character.charCodeAt(0)));

export function startsPlain(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code === 45 || code === 63 || code === 58) return code === 45 && !isSpace(text.charCodeAt(at + 1));
  return !indicators.has(code) && code !== 9;
}
