import { valueText } from './example.ts';
import { codeMarkdown, inlineMarkdown } from '../markdown.ts';
import { type SchemaGroup, type SchemaRow, viewSchema, type SchemaView } from './schema-view.ts';
import type { Schemas } from './schemas.ts';

// Depth at which a tree ends.
const deepest = 20;
const rowsOfTree = 1000;
const valuesListed = 100;

/** Where a row or a group stands: below which references, how deep, and in which tree. */
interface Place {
  schemas: Schemas;
  via: ReadonlySet<string>;
  depth: number;
  /** Lines so far. */
  tree: { rows: number };
}

/**
 * A schema in one line (`brief`: its type, values, constraints and description) and in the lines below it (`tree`:
 * properties and alternatives, each with a line break at its end).
 */
export function schemaMarkdown(schemas: Schemas, schema: unknown, depth = 0): { brief: string; tree: string } {
  const view = viewSchema(schemas, schema);
  const place = { schemas, via: view.via, depth, tree: { rows: 0 } };
  return { brief: briefOf(view, [], ''), tree: groupsMarkdown(place, view.groups) };
}

/** One parameter or header with the lines below it. */
export function rowMarkdown(schemas: Schemas, row: SchemaRow, description: string, flags: string[]): string {
  return line({ schemas, via: new Set(), depth: 0, tree: { rows: 0 } }, row, description, flags);
}

function line(
  at: Place,
  { label, isRequired, schema }: SchemaRow,
  description = '',
  flags: readonly string[] = [],
): string {
  at.tree.rows++;
  const view = viewSchema(at.schemas, schema, at.via);
  const name =
    label === null
      ? inlineMarkdown(view.title, 200)
      : 'code' in label
        ? codeMarkdown(label.code)
        : inlineMarkdown(label.text);
  const all = [...new Set([...(isRequired ? ['required'] : []), ...flags])];
  // An empty list item below a line of text would be read as a heading.
  const text = [name, briefOf(view, all, description)].filter(Boolean).join(' ') || 'anything';
  const start = `${'  '.repeat(at.depth)}- ${text}\n`;
  return start + groupsMarkdown({ ...at, via: view.via, depth: at.depth + 1 }, view.groups);
}

function groupsMarkdown(at: Place, groups: readonly SchemaGroup[]): string {
  const { depth, tree } = at;
  const indent = '  '.repeat(depth);
  if (groups.length > 0 && depth >= deepest) return `${indent}- …\n`;
  return groups
    .map(({ heading, rows, more }) => {
      let text = heading === '' ? '' : `${indent}- ${inlineMarkdown(heading)}:\n`;
      const inside = heading === '' ? at : { ...at, depth: depth + 1 };
      for (const [index, row] of rows.entries()) {
        if (tree.rows >= rowsOfTree) return `${text}${indent}- ${rows.length - index + more} more\n`;
        text += line(inside, row);
      }
      return more === 0 ? text : `${text}${indent}- ${more} more\n`;
    })
    .join('');
}

function typeOfView(view: SchemaView): string {
  const words = view.type.map((part) => {
    if (typeof part !== 'string') return inlineMarkdown(part.schema || 'the whole schema');
    // With the spaces around it, which would be trimmed.
    return `${part.startsWith(' ') ? ' ' : ''}${inlineMarkdown(part)}${part.endsWith(' ') ? ' ' : ''}`;
  });
  return words.join('');
}

function briefOf(view: SchemaView, flags: readonly string[], description: string): string {
  const facts = [
    typeOfView(view),
    ...flags,
    ...view.flags,
    ...view.constraints.map(({ words, code }) => inlineMarkdown(words) + (code === '' ? '' : ` ${codeMarkdown(code)}`)),
    ...valuesOf(view),
    ...view.examples.slice(0, 1).map((example) => `example ${codeMarkdown(valueText(example), 300)}`),
  ].filter(Boolean);
  const text = inlineMarkdown(description || view.description);
  return `${facts.join(', ')}${text === '' ? '' : `: ${text}`}`;
}

function valuesOf({ values, moreValues }: SchemaView): string[] {
  if (values.length === 0) return [];
  const left = Math.max(0, values.length - valuesListed) + moreValues;
  const more = left > 0 ? ` and ${left} more` : '';
  return [
    `one of ${values
      .slice(0, valuesListed)
      .map((value) => codeMarkdown(value, 200))
      .join(' ')}${more}`,
  ];
}
