import { oneLine } from '../../model/escape.ts';
import { createDescriptions, type Heading } from '../description.ts';
import { formatHtml, listHtml, markup, type Html } from '../html.ts';
import { createOnce } from '../json-value.ts';
import { nameText } from '../markdown.ts';
import {
  anchorIn,
  anchorsOf,
  longestNavigation,
  navigationGroup,
  pageBudget,
  type FindImage,
  type Page,
} from '../page.ts';
import { schemaLink } from '../schema/named-schema.ts';
import { createSchemas } from '../schema/schemas.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Rendered } from '../../compile/sandboxes.ts';
import { apiHtml, longestReference } from './api-html.ts';
import { apiMarkdown } from './api-markdown.ts';
import { readApi, type Api, type OperationGroup, type PlacedOperation } from './api-view.ts';
import { summaryOf } from './list-operations.ts';
import { methodHtml } from './operation-html.ts';
import { requirementsOf } from './operation-view.ts';

// Number of entries from which the table of contents folds its groups.
const foldsAt = 60;

function apiNavigation(api: Api): Html {
  const count = api.sections.reduce((sum, { operations }) => sum + operations.length, 0);
  const isFolded = count > foldsAt;
  let left = longestNavigation;
  const groupOf = ({ name, anchor, operations }: OperationGroup): Html => {
    const most = left;
    left = Math.max(0, left - operations.length);
    return navigationGroup({ name: nameText(name, 80), anchor, isFolded }, operations, operationLink, most);
  };
  const parts = [
    ...headingLinks(api.headings),
    ...(api.security.length === 0 ? [] : [markup`<a href="#security">Authorization</a>`]),
    ...api.sections.map(groupOf),
    ...(api.schemas.length === 0
      ? []
      : [navigationGroup({ name: 'Schemas', anchor: 'schemas', isFolded: true }, api.schemas, schemaLink)]),
  ];
  return listHtml(parts, 'nav');
}

function operationLink({ operation, anchor }: PlacedOperation): Html {
  const { method, path, value } = operation;
  const label = summaryOf(operation, 80).replace(/(?<!\.)\.$/, '') || nameText(path, 80);
  const text = value['deprecated'] === true ? markup`<s>${label}</s>` : markup`${label}`;
  return markup`<a href="#${anchor}">${methodHtml(method)} ${text}</a>`;
}

// Most headings of the description in the table of contents.
const maxHeadings = 40;

/** The two highest levels of headings in the description. */
function headingLinks(headings: readonly Heading[]): Html[] {
  const highest = Math.min(...headings.map(({ level }) => level));
  const groups: { link: Html; below: Html[] }[] = [];
  for (const { title, anchor, level } of headings.slice(0, maxHeadings)) {
    const link = markup`<a href="#${anchor}">${oneLine(title, 80)}</a>`;
    const last = groups.at(-1);
    if (level === highest || last === undefined) groups.push({ link, below: [] });
    else if (level === highest + 1) last.below.push(link);
  }
  return groups.map(({ link, below }) => markup`${link}${listHtml(below)}`);
}

/** Renders an API. */
export function renderApi(document: JsonObject, imageOf: FindImage, bytes: number): Rendered {
  const api = readApi(document);
  const operations = api.sections.flatMap((section) => section.operations);
  const placed = [...api.sections, ...operations, ...api.schemas, ...api.security, ...api.headings];
  const ids = new Set(['security', 'schemas', ...placed.map(({ anchor }) => anchor)]);
  const descriptions = createDescriptions({ anchorOf: anchorIn(ids, api.headings), imageOf }, api.headings);
  const newPage = (): Page => ({
    document,
    schemas: createSchemas(document, 'openapi', bytes),
    descriptions,
    inlineRows: 0,
    once: createOnce(),
    security: requirementsOf(document['security']),
    anchors: { schemas: anchorsOf(api.schemas), security: anchorsOf(api.security) },
  });
  const rows = rowsFor(operations.length, inlineRows.onePage);
  let page = newPage();
  let content = apiHtml(page, api, longestReference, () => rows);
  // Too long for one page: each section is a page, and has rows of its own.
  if (content.isCut) {
    page = newPage();
    const max = rowsFor(operations.length, inlineRows.pages);
    content = apiHtml(page, api, pageBudget, (some) =>
      Math.max(rows, Math.min(max, rowsFor(some, inlineRows.section))),
    );
  }
  const { html, isCut, pages } = content;
  return {
    html: formatHtml(html),
    navigation: formatHtml(apiNavigation(api)),
    markdown: apiMarkdown(newPage(), api),
    truncated: isCut || api.isCut || page.schemas.left < 0,
    pages,
  };
}

/**
 * Rows of named schemas in all operations of a reference that is one page, of one that has several,
 * and of one section of the latter. With more, large documents would get pages that are slow to load
 * and to lay out; the rest is folded behind links to the schemas.
 */
const inlineRows = { onePage: 12_000, pages: 24_000, section: 4_000 };

function rowsFor(operations: number, rows: number): number {
  return Math.min(600, Math.ceil(rows / Math.max(1, operations)));
}
