import { oneLine } from '../../model/escape.ts';
import type { Rendered } from '../../compile/sandboxes.ts';
import type { JsonObject } from '../../model/json.ts';
import { createAnchors, type Outline } from '../../model/outline.ts';
import { createDescriptions } from '../description.ts';
import { createOnce, textOf } from '../json-value.ts';
import { empty, listLimit, longest, namedSchema } from '../outline.ts';
import { createSchemas, definitionFolders, definitionsOf, type Schemas } from './schemas.ts';
import {
  namedSchemaHtml,
  namedSchemaMarkdown,
  schemaLine,
  schemaLineMarkdown,
  schemaLink,
  withSample,
  type NamedSchema,
} from './named-schema.ts';
import { formatHtml, joinHtml, lengthOf, listHtml, markup, type Html } from '../html.ts';
import { anchorIn, anchorsOf, createLong, navigationGroup, type FindImage, type Page } from '../page.ts';
import { firstParagraph } from '../markdown.ts';
import { schemaMarkdown } from './schema-markdown.ts';

/** A JSON Schema in reading order: the document, then each definition. */
interface Read {
  root: NamedSchema;
  definitions: readonly NamedSchema[];
}

function jsonSchemaHtml(page: Page, { root, definitions }: Read): { html: Html; isCut: boolean } {
  const long = createLong(lengthOf);
  long.add(
    () => markup`<section class="schema" id="${root.anchor}">
      <h2><a href="#${root.anchor}">Schema</a></h2>
      ${withSample(page, root.schema)}
    </section>`,
  );
  if (definitions.length > 0) long.add(() => markup`<h2 id="definitions">Definitions</h2>`);
  for (const one of definitions)
    long.add(
      () => namedSchemaHtml(page, one),
      () => schemaLine(one),
    );
  return { html: markup`<div class="reference">${joinHtml(long.parts)}</div>`, isCut: long.isCut() };
}

function jsonSchemaMarkdown(schemas: Schemas, { root, definitions }: Read): string {
  const long = createLong<string>(({ length }) => length);
  long.add(() => {
    const { brief, tree } = schemaMarkdown(schemas, root.schema);
    return `## Schema\n\n${brief}\n\n${tree}\n`;
  });
  if (definitions.length > 0) long.add(() => '## Definitions\n\n');
  for (const one of definitions)
    long.add(
      () => namedSchemaMarkdown(schemas, one),
      () => schemaLineMarkdown(one),
    );
  return long.parts.join('');
}

function jsonSchemaNavigation({ root, definitions }: Read): Html {
  const start = markup`<a href="#${root.anchor}">Schema</a>`;
  const group = navigationGroup({ name: 'Definitions', anchor: 'definitions' }, definitions, schemaLink);
  return listHtml(definitions.length === 0 ? [start] : [start, group], 'nav');
}

/** Renders a JSON Schema. */
export function renderSchema(document: JsonObject, imageOf: FindImage, bytes: number): Rendered {
  const anchors = createAnchors();
  const place = (name: string, schema: unknown): NamedSchema => ({ name, schema, anchor: anchors.schema(name) });
  const root = place('', document);
  const named = definitionsOf(document);
  const definitions = named.slice(0, listLimit - 1).map(([name, schema]) => place(name, schema));
  const all = [root, ...definitions];
  const ids = new Set(['definitions', ...all.map(({ anchor }) => anchor)]);
  const page: Page = {
    document,
    schemas: createSchemas(document, 'json-schema', bytes),
    descriptions: createDescriptions({ anchorOf: anchorIn(ids), imageOf }),
    inlineRows: 0,
    once: createOnce(),
    security: [],
    anchors: { schemas: anchorsOf(all), security: new Map() },
  };
  const read = { root, definitions };
  const { html, isCut } = jsonSchemaHtml(page, read);
  return {
    html: formatHtml(html),
    navigation: formatHtml(jsonSchemaNavigation(read)),
    markdown: jsonSchemaMarkdown(createSchemas(document, 'json-schema', bytes), read),
    truncated: isCut || page.schemas.left < 0 || named.length >= listLimit,
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
    title: oneLine(textOf(document['title']), longest.title),
    description: firstParagraph(textOf(document['description']), longest.description),
    schemas: [namedSchema('', root), ...named.slice(0, listLimit - 1).map(([name, one]) => namedSchema(name, one))],
    truncated: named.length >= listLimit,
  };
}

/** The schemas of a document by name: itself, and its definitions. */
export function schemasOf(document: JsonObject): readonly (readonly [string, unknown])[] {
  return [['', document], ...definitionsOf(document)];
}
