import { joinHtml, lengthOf, markup, nothing, type Html } from '../html.ts';
import type { Page } from '../page.ts';
import { examplesHtml } from './example-html.ts';
import { nameText } from '../plain-text.ts';
import type { SchemaGroup, SchemaRow } from './schema-groups.ts';
import { viewSchema, type SchemaView } from './schema-view.ts';
import { referencesOf } from './schemas.ts';

// Depths at which a tree folds and ends.
const foldedDepth = 2;
const deepest = 30;
const rowsOfTree = 1500;
const rowsShown = 60;
const valuesShown = 12;
const valuesListed = 500;

/** Remaining rows for a tree or a part of it. */
interface Room {
  rows: number;
}

/** A schema's type with its flags and constraints on one line: `array of <a>Pet</a>`. */
export function typeHtml(page: Page, schema: unknown): Html {
  const view = viewSchema(page.schemas, schema);
  return markup`${typeOfView(page, view)}${view.flags.map(flagHtml)}${constraintsHtml(view)}`;
}

/** The type on its own line; nothing without words for it. */
export function typeLine(page: Page, schema: unknown): Html {
  const type = typeHtml(page, schema);
  return lengthOf(type) === 0 ? nothing : markup`<p>${type}</p>`;
}

/** Everything below a schema's type: description, values, properties, alternatives, examples. */
export function schemaHtml(page: Page, schema: unknown): Html {
  const view = viewSchema(page.schemas, schema);
  return below(page, view, referencesOf(page.schemas, schema, new Set()), 0, { rows: rowsOfTree });
}

/**
 * One parameter, header or property as an `<li>`. `flags` and `extra` are shown in addition to
 * those of the schema.
 */
export function rowHtml(
  page: Page,
  row: SchemaRow,
  { description = '', flags = [], extra = nothing }: { description?: string; flags?: string[]; extra?: Html } = {},
): Html {
  return line(page, row, new Set(), 0, { rows: rowsOfTree }, { description, flags, extra });
}

interface Beside {
  description: string;
  flags: string[];
  extra: Html;
}

const alone: Beside = { description: '', flags: [], extra: nothing };

function line(
  page: Page,
  { label, isRequired, schema }: SchemaRow,
  via: ReadonlySet<string>,
  depth: number,
  room: Room,
  { description, flags, extra }: Beside = alone,
): Html {
  room.rows--;
  const view = viewSchema(page.schemas, schema, via);
  const all = [...new Set([...(isRequired ? ['required'] : []), ...flags, ...view.flags])];
  const name =
    label === null
      ? view.title === ''
        ? nothing
        : markup`<b>${view.title}</b> `
      : 'code' in label
        ? markup`<code>${label.code.slice(0, 500)}</code> `
        : markup`<i>${label.text}</i> ${view.title === '' ? nothing : markup`<b>${view.title}</b> `}`;
  const own = description !== '' && description !== view.description ? page.descriptions.brief(description) : nothing;
  return markup`<li>
    ${name}${typeOfView(page, view)}${all.map(flagHtml)}${constraintsHtml(view)}${own}${below(
      page,
      view,
      referencesOf(page.schemas, schema, via),
      depth,
      room,
    )}${extra}
  </li>`;
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
  return flag === 'required' || flag === 'deprecated'
    ? markup` <span class="flag ${flag}">${flag}</span>`
    : markup` <span class="flag">${flag}</span>`;
}

function constraintsHtml({ constraints }: SchemaView): Html {
  if (constraints.length === 0) return nothing;
  const each = constraints.map(({ words, code }) =>
    code === '' ? markup`${words}` : markup`${words} <code>${code}</code>`,
  );
  return markup` <span class="limits">${joinHtml(each, markup`, `)}</span>`;
}

function below(page: Page, view: SchemaView, via: ReadonlySet<string>, depth: number, room: Room): Html {
  let waiting = view.groups.reduce((sum, { rows }) => sum + rows.length, 0);
  const groups = view.groups.map((group) => {
    const share = shareOf(room, group.rows.length / waiting);
    waiting -= group.rows.length;
    const html = groupHtml(page, group, via, depth, share);
    room.rows += share.rows;
    return html;
  });
  return markup`${page.descriptions.brief(view.description)}${valuesHtml(view)}${groups}${examplesHtml(
    view.examples.map((value) => ({ name: '', value })),
  )}`;
}

/**
 * Reserves a part of the room, so that the other parts keep theirs. The caller returns what is
 * unused.
 */
function shareOf(room: Room, part: number): Room {
  const rows = Math.min(room.rows, Math.ceil(room.rows * part));
  room.rows -= rows;
  return { rows };
}

function groupHtml(
  page: Page,
  { heading, rows, more: cut }: SchemaGroup,
  via: ReadonlySet<string>,
  depth: number,
  room: Room,
): Html {
  if (depth >= deepest) return markup`<p class="more">Deeper levels are not shown.</p>`;
  const lines: Html[] = [];
  for (const [at, row] of rows.entries()) {
    if (room.rows <= 0) break;
    const share = shareOf(room, 1 / (rows.length - at));
    lines.push(line(page, row, via, depth + 1, share));
    room.rows += share.rows;
  }
  const left = rows.length - lines.length + cut;
  const more = left === 0 ? nothing : markup`<p class="more">${left} more not shown.</p>`;
  const list = (items: readonly Html[]) =>
    items.length === 0
      ? nothing
      : markup`<ul class="${heading === '' ? 'props' : 'options'}">
          ${items}
        </ul>`;
  const isProperties = heading === '';
  const isNone = lines.length === 0 && left > 0;
  if (isNone) return markup`<p class="more">${countOf(left)} not shown.</p>`;
  if (depth >= foldedDepth)
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

function countOf(rows: number): string {
  return rows === 1 ? '1 member' : `${rows} members`;
}

function valuesHtml({ values, moreValues }: SchemaView): Html {
  if (values.length === 0) return nothing;
  const codes = (some: readonly string[]) => some.map((value) => markup` <code>${value}</code>`);
  if (values.length <= valuesShown) return markup`<p class="values">One of${codes(values)}</p>`;
  const listed = values.slice(0, valuesListed);
  const left = values.length - listed.length + moreValues;
  const more = left === 0 ? nothing : markup` and ${left} more`;
  return markup`<details class="values">
    <summary>One of ${values.length + moreValues} values</summary>
    ${codes(listed)}${more}
  </details>`;
}
