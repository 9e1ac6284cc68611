import type { Published } from '../compile/compile.ts';
import type { Rendered } from '../compile/sandboxes.ts';
import { createFindImage } from '../model/image.ts';
import type { Outline } from '../model/outline.ts';
import { parseObject } from './json-value.ts';
import type { JsonObject } from '../model/json.ts';
import { rowsOf, type Kind } from '../model/kinds.ts';
import { outlineApi, schemasOf as schemasOfApi } from './openapi/outline-api.ts';
import { renderApi } from './openapi/render-api.ts';
import type { FindImage } from './page.ts';
import { outlineRuleset, renderRuleset } from './ruleset.ts';
import { outlineSchema, renderSchema, schemasOf } from './schema/json-schema.ts';

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
//                 fields is a <details>; of a request data-sample is what it has in the sample of the body, but of the first
//   type          <span>: `string (date-time)`, `array of <a>Pet</a>`
//   flag          <span>: required, deprecated, read-only, write-only; the first two have their word as a class, too
//   limits        <span>: constraints and default of a value
//   values        <p> or <details>: an enum's values or short examples, each a <code>
//   responses     <div>: the responses; with scripts the fields of the one that is open stand below the list of all
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

/**
 * Renders a published document. Null if it is not a document of its kind. Pure; no document makes it
 * throw. `truncated`: whether operations, schemas or rules were shortened. Cuts inside one of them
 * are marked in place.
 */
export function renderDocument({ kind, json, images }: Published): Rendered | null {
  const document = parseObject(json);
  const findImage = createFindImage(images ?? { documents: [], images: [] });
  return document && readableKinds[kind].render(document, findImage, json.byteLength);
}

/** The outline of a published document. Null if it is not a document of its kind. Pure. */
export function outlineDocument({ kind, json }: Published): Outline | null {
  const document = parseObject(json);
  return document && readableKinds[kind].outline(document);
}

/** How documents of one kind are shown. Pure; no document makes it throw. */
export interface ReadableKind {
  /** `bytes`: the length of the document. */
  render(document: JsonObject, imageOf: FindImage, bytes: number): Rendered;
  outline(document: JsonObject): Outline;
  /** The schemas of which somebody may ask for an excerpt, by name. Absent: there are no excerpts. */
  schemas?(document: JsonObject): readonly (readonly [string, unknown])[];
}

export const readableKinds: Readonly<Record<Kind, ReadableKind>> = {
  openapi: { render: renderApi, outline: outlineApi, schemas: schemasOfApi },
  'json-schema': { render: renderSchema, outline: outlineSchema, schemas: schemasOf },
  ...rowsOf('rulesets', (kind): ReadableKind => ({
    render: (document, imageOf) => renderRuleset(document, kind, imageOf),
    outline: (document) => outlineRuleset(document, kind),
  })),
};
