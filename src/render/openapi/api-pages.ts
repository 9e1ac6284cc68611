import { slugFrom } from '../../model/address.ts';
import type { Pages, PagePart } from '../../model/outline.ts';
import { formatHtml, lengthOf, markup, nothing, type Html } from '../html.ts';
import { summaryOf } from './list-operations.ts';
import type { Page } from '../page.ts';
import { nameText } from '../plain-text.ts';
import type { NamedSchema, PlacedOperation } from './api-view.ts';
import { methodHtml } from './operation-html.ts';

/** A heading of the reference with what is below it, such as a tag and its operations. */
export interface Section {
  title: string;
  anchor: string;
  /** Markdown. */
  description: string;
  operations: readonly PlacedOperation[];
  schemas: readonly NamedSchema[];
  /** Its heading, then its operations or schemas, with their anchors. */
  pieces: { anchor: string; html: Html }[];
}

/**
 * Characters from which a reference gets a page for each tag. Measured: a page of 2.05 million is
 * drawn 0.9 s after a cold start of a browser, one of 3.5 million after 2.4 s; 1.5 s is the goal
 * (docs/reference-pages.md).
 */
export const longestReference = 2_200_000;

/** Characters after which a part goes on in another page. */
const longestPart = 600_000;

/** Names that parts may not have: that of the whole. */
const reserved = ['whole'];

/**
 * Divides a long reference into an overview and a page for each section. Null if one page is
 * enough. `offset`: where the first section starts in the whole.
 */
export function pagesOf(page: Page, intro: Html, sections: readonly Section[], offset: number): Pages | null {
  const length = sections.reduce((sum, { pieces }) => sum + lengthsOf(pieces), offset);
  if (length < longestReference) return null;
  const parts = divide(sections, offset);
  if (parts.length < 2) return null;
  const overview = markup`<div class="reference">${intro}${sections.map((section) => sectionIndex(page, section))}</div>`;
  return { overview: formatHtml(overview), parts };
}

function lengthsOf(pieces: Section['pieces']): number {
  return pieces.reduce((sum, { html }) => sum + lengthOf(html), 0);
}

function divide(sections: readonly Section[], offset: number): PagePart[] {
  const names = new Set(reserved);
  const parts: PagePart[] = [];
  let at = offset;
  for (const { title, pieces } of sections) {
    let count = 0;
    let part: PagePart | null = null;
    for (const { anchor, html } of pieces) {
      if (part === null || part.to - part.from > longestPart) {
        count++;
        const name = nameFor(title, names);
        part = { name, title: count === 1 ? title : `${title} (${count})`, from: at, to: at, anchors: [] };
        parts.push(part);
      }
      at += lengthOf(html);
      part.to = at;
      part.anchors.push(anchor);
    }
  }
  return parts;
}

/** A name for a URL that no other part has. */
function nameFor(title: string, names: Set<string>): string {
  const slug = (slugFrom(title)?.replace(/-{2,}/g, '-') ?? 'part').slice(0, 50).replace(/-+$/, '');
  let name = slug;
  for (let number = 2; names.has(name); number++) name = `${slug}-${number}`;
  names.add(name);
  return name;
}

/** An operation in a list: a link, and what it does. */
export function operationLink({ operation, anchor }: PlacedOperation): Html {
  const { method, path, value } = operation;
  const label = markup`${methodHtml(method)} <code>${nameText(path, 300)}</code>`;
  const link = markup`<a href="#${anchor}">${value['deprecated'] === true ? markup`<s>${label}</s>` : label}</a>`;
  return markup`${link} ${summaryOf(operation, 120)}`;
}

/** The heading of a section and a line for each of its operations or schemas. */
function sectionIndex(page: Page, { title, anchor, description, operations, schemas }: Section): Html {
  const lines = [
    ...operations.map((one) => markup`<li id="${one.anchor}">${operationLink(one)}</li>`),
    ...schemas.map(
      ({ name, anchor: place }) => markup`<li id="${place}"><a href="#${place}">${nameText(name, 100)}</a></li>`,
    ),
  ];
  const list = markup`<ul class="${operations.length === 0 ? 'index names' : 'index'}">${lines}</ul>`;
  return markup`<h2 id="${anchor}"><a href="#${anchor}">${nameText(title, 200)}</a></h2>
    ${page.descriptions.block(description, 4)}${lines.length === 0 ? nothing : list}`;
}
