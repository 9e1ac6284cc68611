import { isObject } from '../../model/json.ts';
import { joinHtml, lengthOf, markup, nothing, type Html } from '../html.ts';
import type { Page } from '../page.ts';
import { examplesHtml, exampleText } from './example.ts';
import { sampleOf } from './sample-value.ts';
import { nameText } from '../markdown.ts';
import { eachItem, type SchemaGroup, type SchemaRow, viewSchema, type SchemaView } from './schema-view.ts';

// Rows of one tree.
const rowsOfTree = 1500;

/** How much a tree, or a part of it, may still show. */
export interface Room {
  rows: number;
  /** Rows of named schemas. Where these are used up, a fold has the number of rows and a link to the schema. */
  named: number;
  /** Whether named schemas stand in their places at all. Otherwise they are links. */
  follows: boolean;
  /** Fields with this keyword are left out: a request has no read-only ones. */
  hides: 'readOnly' | 'writeOnly' | null;
}

/** Room for one tree. */
export function roomFor(named: number, hides: Room['hides'] = null): Room {
  return { rows: rowsOfTree, named, follows: named > 0, hides };
}

/**
 * Reserves a part of the room, so that the other parts keep theirs. The caller gives back what is
 * unused.
 */
export function shareOf(room: Room, part: number): Room {
  const rows = Math.min(room.rows, Math.ceil(room.rows * part));
  const named = Math.min(room.named, Math.ceil(room.named * part));
  room.rows -= rows;
  room.named -= named;
  return { ...room, rows, named };
}

export function giveBack(room: Room, share: Room): void {
  room.rows += share.rows;
  room.named += share.named;
}

// Depth at which a tree ends.
const deepest = 30;
const rowsShown = 60;
const valuesShown = 12;
const valuesListed = 500;
// Depth to which the names of alternatives are shown and the first is unfolded, and how many may be shown.
const choicesOpen = 2;
const choicesListed = 8;

/**
 * A schema: its type on a line of its own, then description, values, properties, alternatives and
 * examples. `shown`: an example that stands beside it.
 */
export function schemaHtml(page: Page, schema: unknown, shown?: unknown): Html {
  const { examples, ...rest } = viewSchema(page.schemas, schema);
  const isShown = (one: unknown) => shown !== undefined && exampleText(one).text === exampleText(shown).text;
  const view = { ...rest, folded: 0, examples: examples.filter((one) => !isShown(one)) };
  const type = typeHtml(page, view);
  return markup`${lengthOf(type) === 0 ? nothing : markup`<p>${type}</p>`}${below(page, view, 0, roomFor(0))}`;
}

/**
 * A schema with its type and everything below, in which named schemas stand in their places. `least`:
 * rows of its first level that it has in any case.
 */
export function wholeSchemaHtml(page: Page, schema: unknown, room: Room, least = 0): Html {
  const view = viewWithin({ page, via: undefined, room }, schema, least);
  return markup`${typeHtml(page, view)}${below(page, view, 0, room, true)}`;
}

/** A schema's type with its flags and constraints on one line: `array of <a>Pet</a>`. */
function typeHtml(page: Page, view: SchemaView): Html {
  return markup`${typeOfView(page, view)}${view.flags.map(flagHtml)}${constraintsHtml(view)}`;
}

/** A schema, and how many rows of it are folded behind a link for want of room. */
interface ViewWithin extends SchemaView {
  folded: number;
}

/** Where a row or a group stands: below which references, how deep, and with what room. */
interface Place {
  page: Page;
  via: ReadonlySet<string> | undefined;
  depth: number;
  room: Room;
}

/** Follows a named schema if there is room for its rows. */
function viewWithin({ page, via, room }: Omit<Place, 'depth'>, schema: unknown, least = 0): ViewWithin {
  if (!room.follows) return { ...viewSchema(page.schemas, schema, via), folded: 0 };
  const view = viewSchema(page.schemas, schema, via, true);
  if (!view.isFollowed) return { ...view, folded: 0 };
  const rows = view.groups.reduce((sum, group) => sum + group.rows.length + group.more, 1);
  // One without fields is hardly longer than the link to it.
  if (rows > Math.max(least, 1, room.named > 0 ? room.named + 8 : 0))
    return { ...viewSchema(page.schemas, schema, via), folded: rows - 1 };
  room.named -= rows;
  return { ...view, folded: 0 };
}

/** One parameter or header as an `<li>`. */
export function rowHtml(page: Page, row: SchemaRow, room: Room, beside: Beside): Html {
  return line({ page, via: undefined, depth: 0, room }, row, beside);
}

/** What is shown in addition to the schema. */
interface Beside {
  description: string;
  flags: string[];
  extra: Html;
}

const alone: Beside = { description: '', flags: [], extra: nothing };

function line(
  at: Place,
  { label, isRequired, schema }: SchemaRow,
  { description, flags, extra }: Beside = alone,
): Html {
  const { page, depth, room } = at;
  room.rows--;
  const view = viewWithin(at, schema);
  const all = [...new Set([...(isRequired ? ['required'] : []), ...flags, ...view.flags])];
  const text = description !== '' && description !== view.description ? page.descriptions.brief(description) : nothing;
  return markup`<li>
    ${nameOf(label, view)}${typeOfView(page, view)}${all.map(flagHtml)}${constraintsHtml(view)}${text}${below(page, view, depth, room)}${extra}
  </li>`;
}

/**
 * An alternative. It unfolds in its place if there is something in it. Of a request each but the first has a sample of its own, for
 * which scripts exchange that of the first.
 */
function option(at: Place, row: SchemaRow, isOpen: boolean): Html {
  const { page, depth, room } = at;
  const view = viewWithin(at, row.schema);
  if (view.groups.length === 0) return line(at, row);
  room.rows--;
  const inside = below(page, view, depth, room, true);
  const summary = markup`<summary>${nameOf(row.label, view)}${typeText(view)}</summary>`;
  if (isOpen) return markup`<li><details open>${summary}${inside}</details></li>`;
  if (room.hides !== 'readOnly' || depth > choicesOpen) return markup`<li><details>${summary}${inside}</details></li>`;
  const sample = JSON.stringify(sampleOf(page.schemas, row.alone));
  return markup`<li><details data-sample="${sample}">${summary}${inside}</details></li>`;
}

function nameOf(label: SchemaRow['label'], view: SchemaView): Html {
  const title = view.title === '' ? nothing : markup`<b>${view.title}</b> `;
  if (label === null) return title;
  return 'code' in label ? markup`<code>${label.code.slice(0, 500)}</code> ` : markup`<i>${label.text}</i> ${title}`;
}

/** The type without links, for a place that is itself to be clicked. */
function typeText({ type, groups }: SchemaView): Html {
  const parts = type.map((part) =>
    typeof part === 'string' ? part : nameText(part.schema || 'the whole schema', 300),
  );
  const text = parts.join('') || groups[0]!.heading || 'anything';
  return markup`<span class="type">${text}</span>`;
}

function typeOfView(page: Page, view: SchemaView): Html {
  if (view.type.length === 0) return nothing;
  const parts = view.type.map((part) => {
    if (typeof part === 'string') return markup`${part}`;
    const anchor = page.anchors.schemas.get(part.schema);
    const name = part.schema === '' ? 'the whole schema' : nameText(part.schema, 300);
    return anchor === undefined ? markup`${name}` : markup`<a href="#${anchor}">${name}</a>`;
  });
  return markup`<span class="type">${parts}</span>`;
}

export function flagHtml(flag: string): Html {
  const isMarked = flag === 'required' || flag === 'deprecated';
  return markup` <span class="${isMarked ? `flag ${flag}` : 'flag'}">${flag}</span>`;
}

function constraintsHtml({ constraints }: SchemaView): Html {
  if (constraints.length === 0) return nothing;
  const each = constraints.map(({ words, code }) =>
    code === '' ? markup`${words}` : markup`${words} <code>${code}</code>`,
  );
  return markup` <span class="limits">${joinHtml(each, markup`, `)}</span>`;
}

/** The fields of a named schema for which there is no room. Scripts put them in the place of the link. */
function foldedHtml(page: Page, { type, folded }: ViewWithin): Html {
  const name = type.find((part) => typeof part !== 'string')?.schema;
  const anchor = name === undefined ? undefined : page.anchors.schemas.get(name);
  if (folded === 0 || anchor === undefined) return nothing;
  return markup`<details class="later"><summary>${countOf(folded)}</summary><a href="#${anchor}">${nameText(name!, 300)}</a></details>`;
}

/** `isShown`: whether the members are shown at once, and not folded. */
function below(page: Page, view: ViewWithin, depth: number, room: Room, isShown = depth === 0): Html {
  const weights = view.groups.map(({ rows }) => rows.reduce((sum, row) => sum + weightOf(row), 0));
  let waiting = weights.reduce((sum, weight) => sum + weight, 0);
  const groups = view.groups.map((group, at) => {
    const share = shareOf(room, weights[at]! / waiting);
    waiting -= weights[at]!;
    const html = groupHtml({ page, via: view.via, depth, room: share }, group, isShown);
    giveBack(room, share);
    return html;
  });
  return markup`${page.descriptions.brief(view.description)}${valuesHtml(view)}${groups}${foldedHtml(page, view)}${examplesHtml(
    view.examples.map((value) => ({ name: '', value })),
  )}`;
}

/** How much room a row may need beside others: most have nothing below them. */
function weightOf({ schema }: SchemaRow): number {
  if (!isObject(schema)) return 1;
  return '$ref' in schema || 'properties' in schema || 'items' in schema || 'allOf' in schema || 'oneOf' in schema
    ? 20
    : 1;
}

function groupHtml(at: Place, { heading, rows: all, more: cut }: SchemaGroup, isShown: boolean): Html {
  const { depth, room } = at;
  if (depth >= deepest) return markup`<p class="more">Deeper levels are not shown.</p>`;
  const isProperties = heading === '';
  const isChoice = heading === 'One of' || heading === 'Any of';
  const rows = all.filter(({ schema }) => room.hides === null || !isObject(schema) || schema[room.hides] !== true);
  const plain = plainItems(at, rows);
  if (plain !== null) return plain;
  const lines: Html[] = [];
  let waiting = rows.reduce((sum, row) => sum + weightOf(row), 0);
  for (const [index, row] of rows.entries()) {
    if (room.rows <= 0) break;
    const weight = weightOf(row);
    const share = shareOf(room, weight / waiting);
    waiting -= weight;
    const isFirst = index === 0 && depth < choicesOpen;
    const inside = { ...at, depth: depth + 1, room: share };
    lines.push(isChoice ? option(inside, row, isFirst) : line(inside, row));
    giveBack(room, share);
  }
  const left = rows.length - lines.length + cut;
  const more = left === 0 ? nothing : markup`<p class="more">${left} more not shown.</p>`;
  const list = (items: readonly Html[]) =>
    items.length === 0
      ? nothing
      : markup`<ul class="${isProperties ? 'props' : 'options'}">
          ${items}
        </ul>`;
  if (lines.length === 0 && left > 0) return markup`<p class="more">${countOf(left)} not shown.</p>`;
  const isBrief = !isProperties && rows.length <= 4 && rows.every((row) => weightOf(row) === 1);
  // Each alternative folds what is in it, so their names are seen at once.
  const isList = isChoice && depth < choicesOpen && rows.length <= choicesListed;
  if (!isShown && !isBrief && !isList)
    return markup`<details>
      <summary>${isProperties ? countOf(rows.length + cut) : heading}</summary>
      ${list(lines)}${more}
    </details>`;
  const title = isProperties ? nothing : markup`<p>${heading}</p>`;
  if (lines.length <= rowsShown) return markup`${title}${list(lines)}${more}`;
  const rest = lines.slice(rowsShown);
  return markup`${title}${list(lines.slice(0, rowsShown))}
    <details>
      <summary>${rest.length} more</summary>
      ${list(rest)}${more}
    </details>`;
}

/** The description and limits of an array's items, if these have no members: no tree is needed. */
function plainItems({ page, via, room }: Place, [row, ...others]: readonly SchemaRow[]): Html | null {
  if (row === undefined || others.length > 0 || row.label === null) return null;
  if (!('text' in row.label) || row.label.text !== eachItem) return null;
  const view = viewSchema(page.schemas, row.schema, via, room.follows);
  if (view.groups.length > 0 || view.title !== '' || view.flags.length > 0) return null;
  const limits = constraintsHtml(view);
  return markup`${page.descriptions.brief(view.description)}${
    lengthOf(limits) === 0 ? nothing : markup`<p class="limits">Each item:${limits}</p>`
  }${valuesHtml(view, 'Each item is one of')}${examplesHtml(view.examples.map((value) => ({ name: '', value })))}`;
}

function countOf(rows: number): string {
  return rows === 1 ? '1 field' : `${rows} fields`;
}

function valuesHtml({ values, moreValues }: SchemaView, start = 'One of'): Html {
  if (values.length === 0) return nothing;
  const codes = (some: readonly string[]) => some.map((value) => markup` <code>${value}</code>`);
  if (values.length <= valuesShown) return markup`<p class="values">${start}${codes(values)}</p>`;
  const listed = values.slice(0, valuesListed);
  const left = values.length - listed.length + moreValues;
  const more = left === 0 ? nothing : markup` and ${left} more`;
  return markup`<details class="values">
    <summary>${start} ${values.length + moreValues} values</summary>
    ${codes(listed)}${more}
  </details>`;
}
