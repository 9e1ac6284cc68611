import { shownState, type Tone } from '../model/states.ts';
import { here, may, mayPublish, nextOf, performList, type ConsoleRequest, type Listed } from './console-request.ts';
import { dayOf } from '../site/pages/describe-version.ts';
import type { Scope } from '../model/access.ts';
import type { Answer } from '../server/v1/call.ts';
import type { Field } from '../server/v1/described-field.ts';

export type { Tone };

/** A value in a list or table. */
export interface Cell {
  text: string;
  href?: string;
  isCode?: boolean;
  /** A tag of this tone: `good`, `warn`, `bad`, or none. */
  tag?: Tone;
  /** ISO 8601, of a time. */
  time?: string;
  /** How a table shows it: the whole text is seen when somebody points at it. */
  short?: string;
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
  /** Seconds after which to look again. */
  reload?: number;
}

/** One page: a path under `/console/{organization}` and what to show there. */
export interface Page {
  path: string;
  show(request: ConsoleRequest): Promise<View>;
}

/** What the page of a list says, as the description has it for the operation that lists (`x-list`). */
export interface PlainList extends Required<Pick<Section, 'columns' | 'empty'>> {
  path: string;
  title: string;
  /** Absent: code says it. */
  lead?: string;
  /** What one may add, and who may: with the scope for the whole organization (`admin`), or for something (`publish`). */
  add?: { text: string; path: string; for?: 'admin' | 'publish' };
  /** The title of the list. */
  section: string;
}

/** What the page of a list does beside what it says. */
export interface ListCode<Id extends string> {
  rows(items: readonly Listed<Id>[], request: ConsoleRequest): Row[] | Promise<Row[]>;
  lead?(request: ConsoleRequest): Promise<string>;
}

export function listPage<Id extends string>(operation: Id, plain: PlainList, code: ListCode<Id>): Page {
  const { path, title, lead, add, section, columns, empty } = plain;
  return {
    path,
    async show(request) {
      const { body } = await performList(request, operation);
      const { items, next } = body as { items: Listed<Id>[]; next: string | null };
      const mayAdd = add?.for === 'publish' ? mayPublish(request) : add?.for === undefined || may(request, add.for);
      return {
        title,
        lead: lead ?? (await code.lead!(request)),
        actions: add && mayAdd ? [{ text: add.text, href: here(request, add.path), isMain: true }] : [],
        sections: [{ title: section, columns, rows: await code.rows(items, request), empty, next: nextOf({ next }) }],
      };
    },
  };
}

/** A link below a page: for who has the scope, or for everybody or nobody. */
export type LinkRow = readonly [text: string, to: string, forWhom: Scope | boolean, more?: Partial<Action>];

/** The links below a page that the person may follow. */
export function linksFrom(request: ConsoleRequest, at: string, ...rows: readonly LinkRow[]): Action[] {
  return rows.flatMap(([text, to, forWhom, more]) =>
    forWhom === true || (forWhom !== false && may(request, forWhom))
      ? [{ text, href: here(request, at + to), ...more }]
      : [],
  );
}

/** A time for people: `2026-05-12 09:30 UTC`, in tables `12 May 2026`. */
export function timeCell(iso: string | null | undefined, none = 'never'): Cell {
  if (!iso) return { text: none };
  return { text: `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`, time: iso, short: dayOf(iso).text };
}

/** A time in a list of many of the same day: `12 May 2026, 09:30`. */
export function momentCell(iso: string | null | undefined): Cell {
  const cell = timeCell(iso);
  return cell.short === undefined ? cell : { ...cell, short: `${cell.short}, ${cell.text.slice(11, 16)}` };
}

const number = /^[\d.,]+(?: of [\d.,]+| k?B)?$/;

/** A table as the template shows it. Leaves out columns without any text, aligns those of numbers, and marks the link of a row that leads somewhere. */
export function shownTable({ columns = [], rows = [] }: Pick<Section, 'columns' | 'rows'>) {
  const cellsOf = (at: number) => rows.map(({ cells }) => cells[at]!).filter(({ text, more }) => text !== '' || more);
  const kept = columns.flatMap((_, at) => (cellsOf(at).length > 0 ? [at] : []));
  return {
    columns: kept.map((at) => ({
      text: columns[at]!,
      isNumber: cellsOf(at).every(({ text, isCode }) => !isCode && number.test(text)),
    })),
    rows: rows.map(({ cells, actions = [] }) => ({ cells: kept.map((at) => cells[at]!), actions })),
    hasActions: rows.some(({ actions = [] }) => actions.length > 0),
  };
}

/** A state, with its word and tone (`shownState`). `more`: why. */
export function stateCell(state: string, more: string | null = null): Cell {
  const { text, tone } = shownState(state);
  return { text, tag: tone, ...(more !== null && more !== '' && { more }) };
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

/** What a form says, as the description has it for an operation (`x-form`). */
export interface PlainForm {
  /** Under `/console/{organization}`, as of a page. */
  path: string;
  /** Its operation, where it is the same for several types. Default: the one that it stands at. */
  operation?: string;
  /** With `{subject}`, the coordinate of the page, and what its path or query names, as in `{deployment}`. So are leads. */
  title: string;
  /** What the form is about, above its title, where the title does not name it: of what the operation reads. */
  about?: { operation: string; text: string };
  /** Paragraphs that say what will happen. */
  lead: string | readonly string[];
  /** Default: Save. */
  submit?: string;
  /** Whether something is lost that cannot be brought back. Default: what DELETE does. */
  isDanger?: boolean;
  /** The scope that it needs, if that is more than the operation's. */
  scope?: Scope;
  /**
   * What one fills in, in order: members of the body as JSON Pointers, query parameters as `?name`. The description of
   * the operation has their labels, kinds, limits and help.
   */
  fields?: readonly string[];
  /** Members of the body that nobody types. */
  fixed?: object;
  /** Whether it starts with nothing though it changes something. */
  startsEmpty?: boolean;
  query?: Record<string, string>;
  /** Where to go afterwards, as a path, with members of the answer as in `{id}`. Absent: code says it (`FormCode`). */
  after?: string;
  /** Where to go instead of it. Default: `after`. */
  cancel?: string;
  /** What was done, in a sentence. Absent: what is shown next says it. */
  done?: string;
}

/** What a form does beside what it says. */
export interface FormCode {
  about?: (request: ConsoleRequest) => Promise<string>;
  /** What it will change for others, as things are now. */
  notice?: (request: ConsoleRequest) => Promise<View['notice'] | null>;
  /** Additional properties of fields of this form, by name. */
  complete?: (request: ConsoleRequest) => Promise<Readonly<Record<string, Partial<Field>>>>;
  fixed?: (request: ConsoleRequest) => object;
  after?: (answer: FormAnswer, request: ConsoleRequest) => Promise<string>;
  /** Shows the answer in place of going somewhere: it has what is shown once. */
  show?: (answer: FormAnswer, request: ConsoleRequest) => View;
}

/** The code of forms, by their paths. */
export type FormCodes = Readonly<Record<string, FormCode>>;

/**
 * A form that asks one operation of the management API. The operation validates what was typed and
 * decides who may do it; the form only has texts. It starts with what its path reads now, if the
 * operation changes that (PATCH, PUT), whose ETag guards against losing another's change.
 */
export interface Form extends Omit<PlainForm & FormCode, 'about' | 'after' | 'fixed'> {
  /** Its id, as for `operationId`. */
  operation: string;
  /** Whether it is about the person alone, under `/console/-`. */
  isPersonal: boolean;
  about?: PlainForm['about'] | FormCode['about'];
  after?: PlainForm['after'] | FormCode['after'];
  fixed?: PlainForm['fixed'] | FormCode['fixed'];
}

type FormAnswer = Answer & { body: Record<string, unknown> };
