import type { Rendered } from '../../compile/sandboxes.ts';
import type { JsonObject } from '../../model/json.ts';
import { createAnchors, type Outline } from '../../model/outline.ts';
import { createDescriptions } from '../description.ts';
import { createOnce, textOf } from '../json-value.ts';
import { listLimit } from '../openapi/list-operations.ts';
import { empty, longest, namedSchema } from '../outline.ts';
import { createSchemas, definitionFolders, definitionsOf } from './schemas.ts';
import { namedSchemaHtml, withSample } from '../openapi/api-html.ts';
import type { NamedSchema } from '../openapi/api-view.ts';
import { formatHtml, joinHtml, lengthOf, listHtml, markup, type Html } from '../html.ts';
import {
  anchorIn,
  anchorsOf,
  createLong,
  longestNavigation,
  navigationGroup,
  schemaLink,
  type FindImage,
  type Page,
} from '../page.ts';
import { nameText, codeMarkdown, firstParagraph, shorten } from '../markdown.ts';
import { namedSchemaMarkdown } from '../openapi/api-markdown.ts';
import { schemaMarkdown } from './schema-markdown.ts';

/**
 * The reference of a JSON Schema: the document, then each definition. `schemas` starts with the
 * document.
 */
function jsonSchemaHtml(page: Page, [root, ...definitions]: readonly NamedSchema[]): { html: Html; isCut: boolean } {
  const long = createLong(lengthOf);
  long.add(
    () => markup`<section class="schema" id="${root!.anchor}">
      <h2><a href="#${root!.anchor}">Schema</a></h2>
      ${withSample(page, root!.schema)}
    </section>`,
  );
  if (definitions.length > 0) long.add(() => markup`<h2 id="definitions">Definitions</h2>`);
  for (const { name, schema, anchor } of definitions)
    long.add(
      () => namedSchemaHtml(page, name, schema, anchor),
      () => markup`<section class="schema" id="${anchor}"><h3>${nameText(name, 300)}</h3></section>`,
    );
  return { html: markup`<div class="reference">${joinHtml(long.parts)}</div>`, isCut: long.isCut() };
}

/** The reference of a JSON Schema as Markdown. `schemas` starts with the document. */
function jsonSchemaMarkdown(page: Page, [root, ...definitions]: readonly NamedSchema[]): string {
  const long = createLong<string>(({ length }) => length);
  long.add(() => {
    const { brief, tree } = schemaMarkdown(page.schemas, root!.schema);
    return `## Schema\n\n${brief}\n\n${tree}\n`;
  });
  if (definitions.length > 0) long.add(() => '## Definitions\n\n');
  for (const { name, schema: one } of definitions)
    long.add(
      () => namedSchemaMarkdown(page, name, one),
      () => `- ${codeMarkdown(name)}\n`,
    );
  return long.parts.join('');
}

function jsonSchemaNavigation([root, ...definitions]: readonly NamedSchema[]): Html {
  const links = definitions.slice(0, longestNavigation).map(schemaLink);
  const more = definitions.length - links.length;
  const start = markup`<a href="#${root!.anchor}">Schema</a>`;
  const group = navigationGroup('Definitions', 'definitions', links, more, false);
  return listHtml(links.length === 0 ? [start] : [start, group], 'nav');
}

/** Renders a JSON Schema. */
export function renderSchema(document: JsonObject, imageOf: FindImage, bytes: number): Rendered {
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
  const { html, isCut } = jsonSchemaHtml(page, schemas);
  return {
    html: formatHtml(html),
    navigation: formatHtml(jsonSchemaNavigation(schemas)),
    markdown: jsonSchemaMarkdown({ ...page, schemas: createSchemas(document, 'json-schema', bytes) }, schemas),
    truncated: isCut || page.schemas.left < 0 || definitions.length >= listLimit,
    pages: null,
  };
}

/** The outline of a JSON Schema. */
export function outlineSchema(document: JsonObject): Outline {
  // Definitions are listed separately, so that a change in one does not count as a change of the
  // document.
  const folders = definitionFolders(document);
  const root = Object.fromEntries(Object.entries(document).filter(([key]) => !folders.includes(key)));
  const named = definitionsOf(document);
  return {
    ...empty,
    title: shorten(textOf(document['title']), longest.title),
    description: firstParagraph(textOf(document['description']), longest.description),
    schemas: [namedSchema('', root), ...named.slice(0, listLimit - 1).map(([name, one]) => namedSchema(name, one))],
    truncated: named.length >= listLimit,
  };
}

/** The schemas of a document by name: itself, and its definitions. */
export function schemasOf(document: JsonObject): readonly (readonly [string, unknown])[] {
  return [['', document], ...definitionsOf(document)];
}
