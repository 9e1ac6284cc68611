/** `docs/bench/history.jsonl`: what `npm run bench` measured, one value a line. */
import { readFileSync } from 'node:fs';
import { bars, type BarName } from './bars.ts';

export const historyFile = new URL('../../docs/bench/history.jsonl', import.meta.url);

/** A measured value: of a bar, or of a curve at `x`. */
export interface Measured {
  row: BarName | `curve ${string}`;
  value: number;
  /** The figures behind it. */
  seen: string;
  x?: number;
}

export interface Noted extends Measured {
  commit: string;
  date: string;
  /** Its processors. */
  machine: string;
}

export function isBar(row: Measured['row']): row is BarName {
  return Object.hasOwn(bars, row);
}

export function readHistory(): Noted[] {
  const lines = readFileSync(historyFile, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Noted);
}

/** The last value of each row, in the order of the history. */
export function newest(history: readonly Noted[]): Noted[] {
  return [...new Map(history.map((one) => [`${one.row} ${one.x ?? ''}`, one])).values()];
}
