import { namedSchemaMarkdown } from '../openapi/api-markdown.ts';
import type { NamedSchema } from '../openapi/api-view.ts';
import { createLong } from '../long.ts';
import { codeMarkdown } from '../markdown.ts';
import type { Page } from '../page.ts';
import { schemaMarkdown } from './schema-markdown.ts';

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
