import { markup, type Html } from '../html.ts';
import { codeMarkdown, inlineMarkdown, nameText } from '../markdown.ts';
import type { Page } from '../page.ts';
import { exampleHtml } from './example.ts';
import { sampleOf } from './sample-value.ts';
import { schemaHtml } from './schema-html.ts';
import { schemaMarkdown } from './schema-markdown.ts';
import type { Schemas } from './schemas.ts';

/** A schema that a document names, with its anchor. */
export interface NamedSchema {
  name: string;
  schema: unknown;
  anchor: string;
}

/** A link to it, in the table of contents. */
export function schemaLink({ name, anchor }: NamedSchema): Html {
  return markup`<a href="#${anchor}">${nameText(name, 80)}</a>`;
}

/** The schema with its anchor, and an example beside it. */
export function namedSchemaHtml(page: Page, { name, schema, anchor }: NamedSchema, hasSample = true): Html {
  return markup`<section class="schema" id="${anchor}">
    <h3><a href="#${anchor}">${nameText(name, 300)}</a></h3>
    ${hasSample ? withSample(page, schema) : markup`<div>${schemaHtml(page, schema)}</div>`}
  </section>`;
}

/** Its name alone, for documents that are too long. */
export function schemaLine({ name, anchor }: NamedSchema): Html {
  return markup`<section class="schema" id="${anchor}"><h3>${nameText(name, 300)}</h3></section>`;
}

/** A schema, and one example beside it if it is of objects or lists. */
export function withSample(page: Page, schema: unknown): Html {
  const value = sampleOf(page.schemas, schema, 'response');
  if (typeof value !== 'object' || value === null || Object.keys(value).length === 0)
    return markup`<div>${schemaHtml(page, schema)}</div>`;
  return markup`<div>${schemaHtml(page, schema, value)}</div>
    <div class="samples"><details class="example" open>${exampleHtml(markup`Example`, { value })}</details></div>`;
}

/** The schema in Markdown, under its name. */
export function namedSchemaMarkdown(schemas: Schemas, { name, schema }: NamedSchema): string {
  const { brief, tree } = schemaMarkdown(schemas, schema);
  return `### ${inlineMarkdown(name, 300)}\n\n${brief}\n\n${tree === '' ? '' : `${tree}\n`}`;
}

/** Its name alone, in Markdown. */
export function schemaLineMarkdown({ name }: NamedSchema): string {
  return `- ${codeMarkdown(name)}\n`;
}
