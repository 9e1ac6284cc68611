import { namedSchemaHtml, withSample } from '../openapi/api-html.ts';
import type { NamedSchema } from '../openapi/api-view.ts';
import { joinHtml, lengthOf, markup, type Html } from '../html.ts';
import { createLong, type Page } from '../page.ts';
import { nameText, codeMarkdown } from '../markdown.ts';
import { namedSchemaMarkdown } from '../openapi/api-markdown.ts';
import { schemaMarkdown } from './schema-markdown.ts';

/**
 * The reference of a JSON Schema: the document, then each definition. `schemas` starts with the
 * document.
 */
export function jsonSchemaHtml(
  page: Page,
  [root, ...definitions]: readonly NamedSchema[],
  budget: number,
): { html: Html; isCut: boolean } {
  const long = createLong(budget, lengthOf);
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
  return { html: markup`<div class="reference">${joinHtml(long.parts)}</div>`, isCut: long.isCut };
}

/** The reference of a JSON Schema as Markdown. `schemas` starts with the document. */
export function jsonSchemaMarkdown(page: Page, [root, ...definitions]: readonly NamedSchema[], budget: number): string {
  const long = createLong<string>(budget, ({ length }) => length);
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
