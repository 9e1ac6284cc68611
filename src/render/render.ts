import { type Api, type NamedSchema, type PlacedOperation, readApi } from './openapi/api-view.ts';
import { type Heading, createDescriptions } from './description.ts';
import { listHtml, markup, type Html, formatHtml } from './html.ts';
import { summaryOf, listLimit } from './openapi/list-operations.ts';
import { methodHtml } from './openapi/operation-html.ts';
import { nameText, shorten } from './markdown.ts';
import { type PlacedRule, rulesetHtml, rulesetMarkdown } from './ruleset.ts';
import type { JsonObject } from '../model/json.ts';
import type { Kind } from '../model/kinds.ts';
import type { Published } from '../compile/compile.ts';
import type { Rendered } from '../compile/sandboxes.ts';
import { createAnchors } from '../model/outline.ts';
import { createFindImage } from '../model/image.ts';
import { apiHtml, longestReference } from './openapi/api-html.ts';
import { apiMarkdown } from './openapi/api-markdown.ts';
import { parseObject, createOnce } from './json-value.ts';
import { jsonSchemaHtml, jsonSchemaMarkdown } from './schema/json-schema.ts';
import { requirementsOf } from './openapi/operation-view.ts';
import type { Page } from './page.ts';
import { rulesOf } from './rules.ts';
import { createSchemas, definitionsOf } from './schema/schemas.ts';

// Number of entries from which the table of contents folds its groups.
const foldsAt = 60;
const longestNavigation = 6000;

/** The table of contents of an API. */
function apiNavigation(api: Api): Html {
  const count = api.groups.reduce((sum, { operations }) => sum + operations.length, api.webhooks.length);
  const isFolded = count > foldsAt;
  let left = longestNavigation;
  const groupOf = (name: string, anchor: string, operations: readonly PlacedOperation[]): Html => {
    const links = operations.slice(0, left).map(operationLink);
    left -= links.length;
    return navigationGroup(name, anchor, links, operations.length - links.length, isFolded);
  };
  const schemas = api.schemas.slice(0, longestNavigation).map(schemaLink);
  const parts = [
    ...headingLinks(api.headings),
    ...(api.security.length === 0 ? [] : [markup`<a href="#security">Authorization</a>`]),
    ...api.groups.map(({ name, anchor, operations }) => groupOf(nameText(name, 80), anchor, operations)),
    ...(api.webhooks.length === 0 ? [] : [groupOf('Webhooks', 'webhooks', api.webhooks)]),
    ...(schemas.length === 0
      ? []
      : [navigationGroup('Schemas', 'schemas', schemas, api.schemas.length - schemas.length, true)]),
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
    const link = markup`<a href="#${anchor}">${shorten(title, 80)}</a>`;
    const last = groups.at(-1);
    if (level === highest || last === undefined) groups.push({ link, below: [] });
    else if (level === highest + 1) last.below.push(link);
  }
  return groups.map(({ link, below }) => markup`${link}${listHtml(below)}`);
}

function schemaLink({ name, anchor }: NamedSchema): Html {
  return markup`<a href="#${anchor}">${nameText(name, 80)}</a>`;
}

/** Links under a heading. The heading is a link, unless it folds them. */
function navigationGroup(name: string, anchor: string, links: readonly Html[], more: number, isFolded: boolean): Html {
  const list = listHtml(more > 0 ? [...links, markup`${more} more`] : links);
  return isFolded
    ? markup`<details><summary>${name}</summary>${list}</details>`
    : markup`<a href="#${anchor}">${name}</a>${list}`;
}

/** The table of contents of a JSON Schema. */
function jsonSchemaNavigation([root, ...definitions]: readonly NamedSchema[]): Html {
  const links = definitions.slice(0, longestNavigation).map(schemaLink);
  const more = definitions.length - links.length;
  const start = markup`<a href="#${root!.anchor}">Schema</a>`;
  const group = navigationGroup('Definitions', 'definitions', links, more, false);
  return listHtml(links.length === 0 ? [start] : [start, group], 'nav');
}

/** The table of contents of a ruleset. */
function rulesetNavigation(rules: readonly PlacedRule[]): Html {
  const links = rules
    .slice(0, longestNavigation)
    .map(({ rule, anchor }) => markup`<a href="#${anchor}">${nameText(rule.name, 80)}</a>`);
  return listHtml([navigationGroup('Rules', 'rules', links, rules.length - links.length, false)], 'nav');
}

// The classes that the stylesheet finds in what is rendered here, and nothing else (elements carry the rest of the meaning):
//
//   reference     <div> around everything; in it <section>s, and <h2> before each group: `tag/…`, `webhooks`, `schemas`, `definitions`, `rules`
//   intro         <section>: description, <dl> of servers and contacts, <h2 id="security"> with a <dl> of security schemes
//   operation     <section id="operation/…">: <h3> with a link to itself, then .url, .about, .samples, and .parts with <h4> for each
//   schema        <section id="schema/…">: <h3> with a link to itself, then a schema tree; `schema` alone is the document, with <h2>
//   rule          <tr id="rule/…"> of a ruleset's <table>
//   url           <p>: .method and <code> of an operation's path
//   method        <b>, with get, put, post, delete or patch beside it (others have no second class)
//   description   <div> of rendered Markdown, with paragraphs, lists, tables, <pre>; short texts stand in <p> without it
//   image         <a>, or <span> in a link: an image of another host, which a page may show instead
//   props         <ul> of parameters or properties; each <li> begins with <code>name</code> .type .flag .limits
//   options       <ul> of the alternatives under a <p> or in <details> that says `One of`, `Any of`, `All of`, `Not`, `If`, …; each that has
//                 fields is a <details>
//   type          <span>: `string (date-time)`, `array of <a>Pet</a>`
//   flag          <span>: required, deprecated, read-only, write-only; the first two have their word as a class, too
//   limits        <span>: constraints and default of a value
//   values        <p> or <details>: an enum's values or short examples, each a <code>
//   response      <details>, or <p> where there is no more to say: <b class="status s2"> (s1 to s5; sx for others) and a description
//   media         <div>: one body: <code> of each media type, .type, then the schema and examples; bodies that differ are .answers
//   of            <code>: the media type of a body that has one, in the heading or the summary above it
//   auth          <p>: what an operation needs for authorization
//   about         <div> of an operation: its description, before .samples and .parts
//   parts         <div> of an operation: everything but its title, .url, .about and .samples
//   base          <span>: the URL of the server, before the path
//   samples       <div> of an operation: the request with curl, in <pre><code>; then .example of its body, and .answers; data-example
//                 is the name of the example that the request has, if there are others
//   answers       <div>: tabs: bodies of responses, each an .answer, of which one is open at a time; of several examples of one status,
//                 that status has .answers of its own
//   answer        <details>: the body of a response, <pre><code>; a <span> in its <summary> may be left out while it is closed
//   example       <details>: one example, <pre><code>
//   severity      <b> of a rule, with error, warn, info, hint or off beside it
//   index         <ul> of operations: of all on the first screen, of a section on the overview of a document with several pages;
//                 also of tags; with names: of schemas
//   count         <span>: how many operations a tag has
//   table         <div> around a <table> of a description, which scrolls in it
//   later         <details>: fields of a named schema for which there is no room, by their number; in it a link to the schema,
//                 in whose place a script puts them
//   more          <p>: says that something was cut, and how much
//   nav           <ul>, nested: the table of contents; <details> fold the groups of long ones, <a> holds .method and text
//
// Elements without a class: <details> that fold nested members and scopes. Ids are those of `model/outline.ts`; `security/…` beside them.

/** The length in characters after which each remaining part gets one line. */
const budget = 14 * 1024 * 1024;

/**
 * Renders a published document. Null if it is not a document of its kind. Pure; no document makes it
 * throw. `truncated`: whether operations, schemas or rules were shortened. Cuts inside one of them
 * are marked in place.
 */
export function renderDocument({ kind, json, images }: Published): Rendered | null {
  const document = parseObject(json);
  if (document === null) return null;
  return renderers[kind](document, createFindImage(images ?? { documents: [], images: [] }), json.byteLength);
}

type FindImage = ReturnType<typeof createFindImage>;

const renderers: Record<Kind, (document: JsonObject, imageOf: FindImage, bytes: number) => Rendered> = {
  openapi: renderApi,
  'json-schema': renderSchema,
  'redocly-ruleset': (document, imageOf) => renderRuleset(document, 'redocly', imageOf),
  'spectral-ruleset': (document, imageOf) => renderRuleset(document, 'spectral', imageOf),
};

function renderApi(document: JsonObject, imageOf: FindImage, bytes: number): Rendered {
  const api = readApi(document);
  const placed = [...api.groups, ...api.webhooks, ...api.schemas, ...api.security, ...api.headings];
  const operations = api.groups.flatMap((group) => group.operations);
  const ids = new Set(['security', 'webhooks', 'schemas', ...[...placed, ...operations].map(({ anchor }) => anchor)]);
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
  const count = operations.length + api.webhooks.length;
  const rows = rowsFor(count, inlineRows.onePage);
  let page = newPage();
  let content = apiHtml(page, api, longestReference, () => rows);
  // Too long for one page: each section is a page, and has rows of its own.
  if (content.isCut) {
    page = newPage();
    const max = rowsFor(count, inlineRows.pages);
    content = apiHtml(page, api, budget, (some) => Math.max(rows, Math.min(max, rowsFor(some, inlineRows.section))));
  }
  const { html, isCut, pages } = content;
  return {
    html: formatHtml(html),
    navigation: formatHtml(apiNavigation(api)),
    markdown: apiMarkdown(newPage(), api, budget),
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

function renderSchema(document: JsonObject, imageOf: FindImage, bytes: number): Rendered {
  const anchors = createAnchors();
  const definitions = definitionsOf(document);
  const all = [['', document] as const, ...definitions.slice(0, listLimit - 1)];
  const schemas = all.map(([name, schema]) => ({ name, schema, anchor: anchors.schema(name) }));
  const ids = new Set(['definitions', ...schemas.map(({ anchor }) => anchor)]);
  const page: Page = {
    document,
    schemas: createSchemas(document, 'json-schema', bytes),
    descriptions: createDescriptions({ anchorOf: anchorIn(ids), imageOf }),
    inlineRows: 0,
    once: createOnce(),
    security: [],
    anchors: { schemas: anchorsOf(schemas), security: new Map() },
  };
  const { html, isCut } = jsonSchemaHtml(page, schemas, budget);
  return {
    html: formatHtml(html),
    navigation: formatHtml(jsonSchemaNavigation(schemas)),
    markdown: jsonSchemaMarkdown({ ...page, schemas: createSchemas(document, 'json-schema', bytes) }, schemas, budget),
    truncated: isCut || page.schemas.left < 0 || definitions.length >= listLimit,
    pages: null,
  };
}

function renderRuleset(document: JsonObject, form: 'redocly' | 'spectral', imageOf: FindImage): Rendered {
  const anchors = createAnchors();
  const { rules, more } = rulesOf(document, form);
  const placed = rules.map((rule) => ({ rule, anchor: anchors.rule(rule.name) }));
  const ids = new Set(['rules', ...placed.map(({ anchor }) => anchor)]);
  const descriptions = createDescriptions({ anchorOf: anchorIn(ids), imageOf });
  const { html, isCut } = rulesetHtml({ document, descriptions }, placed, budget);
  return {
    html: formatHtml(html),
    navigation: formatHtml(rulesetNavigation(placed)),
    markdown: rulesetMarkdown(document, placed, budget),
    truncated: isCut || more > 0,
    pages: null,
  };
}

/**
 * Finds the id that a link means: as it is, or a heading's as git hosts (`#getting-started`) and
 * other renderers (`#section/Getting-started`, with the headings above it) name it.
 */
function anchorIn(ids: ReadonlySet<string>, headings: readonly Heading[] = []): (id: string) => string | null {
  const slugOf = (title: string) => title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-');
  const slugs = new Map([...headings].reverse().map(({ title, anchor }) => [slugOf(title), anchor]));
  return (id) => (ids.has(id) ? id : (slugs.get(slugOf(id.slice(id.lastIndexOf('/') + 1, 300))) ?? null));
}

/** The first anchor of each name, since a reference by name means the first. */
function anchorsOf(all: readonly { name: string; anchor: string }[]): Map<string, string> {
  return new Map([...all].reverse().map(({ name, anchor }) => [name, anchor]));
}
