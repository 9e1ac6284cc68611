import type { ConsoleRequest } from './console-request.ts';

export type Tone = '' | 'good' | 'warn' | 'bad';

/** A value in a list or table. */
export interface Cell {
  text: string;
  href?: string;
  isCode?: boolean;
  /** A tag of this tone: `good`, `warn`, `bad`, or none. */
  tag?: Tone;
  /** ISO 8601, of a time. */
  time?: string;
  /** Smaller text under it. */
  more?: string;
  /** What a tag says when somebody points at it. */
  title?: string;
}

/** A link to another page, or a button that does something at once (`post`). */
export interface Action {
  text: string;
  href: string;
  isMain?: boolean;
  isDanger?: boolean;
  /** Sends the form at `href` without showing it first. Only for what can be repeated harmlessly. */
  post?: boolean;
}

export interface Row {
  cells: Cell[];
  actions?: Action[];
}

export interface Section {
  title: string;
  id?: string;
  lead?: string;
  /** What the list can be narrowed by: texts (with an example), or choices of `[value, text]`. */
  filters?: { name: string; label: string; value: string; hint?: string; options?: [string, string][] }[];
  columns?: string[];
  rows?: Row[];
  /** What to say if there are no rows. */
  empty?: string;
  facts?: { name: string; value: Cell }[];
  actions?: Action[];
  /** The next page of the list. */
  next?: string | null;
  /** A line over values from 0 to 100, such as one for each week. */
  chart?: { label: string; points: readonly number[] };
  /** Preformatted lines, such as a snippet to copy. */
  snippet?: string;
}

/** What a page of the console shows. */
export interface View {
  title: string;
  /** Above the title. */
  eyebrow?: string;
  lead?: string;
  tags?: Cell[];
  actions?: Action[];
  sections?: Section[];
  /** Something to copy now, since it is never shown again. */
  secret?: { label: string; text: string; advice: string };
  notice?: { text: string; tone: 'good' | 'bad' | 'calm' };
  /** Seconds after which to look again, without a script. */
  reload?: number;
  /** The address of a stream of events, each of which asks to show the page again. */
  events?: string;
}

/** One page: a path under `/console/{organization}` and what to show there. */
export interface Page {
  path: string;
  show(request: ConsoleRequest): Promise<View>;
}

/** A time for people: `2026-05-12 09:30 UTC`. */
export function timeCell(iso: string | null | undefined, none = 'never'): Cell {
  if (!iso) return { text: none };
  return { text: `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`, time: iso };
}

/** Who can read something: `everybody` or `members`. */
export function readersCell(visibility: string): Cell {
  return visibility === 'public' ? { text: 'everybody', tag: 'good' } : { text: 'members', tag: '' };
}

/** The facts of a record that have a value. */
export function facts(entries: [string, Cell | string | null][]): { name: string; value: Cell }[] {
  return entries.flatMap(([name, value]) => {
    if (value === null || value === '') return [];
    return [{ name, value: typeof value === 'string' ? { text: value } : value }];
  });
}
