import { createAnchors } from '../model/anchor.ts';
import { operationName, type Outline } from '../model/outline.ts';
import type { Resource } from '../model/resource.ts';
import { wordsOf } from './search-words.ts';

/** The fields that are searched, by descending weight. */
export const searchFields = ['name', 'operations', 'schemas', 'properties', 'text'] as const;
export type SearchField = (typeof searchFields)[number];

/** A part of a document that a search can find. */
export interface SearchItem {
  kind: 'operation' | 'schema' | 'property' | 'tag' | 'rule';
  /** `GET /pets`, `Pet`, `Pet.name`. */
  name: string;
  /** Its anchor in the document's page. */
  anchor: string;
  /** Other texts that find it: an operationId, a summary, tags. */
  also: string[];
}

/**
 * The most words indexed for one resource; later ones are dropped. (The largest of the corpus has
 * 2,400.)
 */
export const mostWords = 5_000;
/** The most characters of one resource that are scanned for words. */
const mostRead = 1_000_000;
/** The most characters of one resource's items, and the most properties of one schema. */
const mostCharacters = 400_000;
const mostProperties = 1_000;

/** The words that find a resource, separated by spaces, each once per field. At most 5,000. */
export function fieldsOf(
  { org, type, slug, name, description }: Pick<Resource, 'org' | 'type' | 'slug' | 'name' | 'description'>,
  outline: Outline | null,
  most = mostWords,
): { fields: Record<SearchField, string>; words: number } {
  let words = 0;
  let left = mostRead;
  function collect(texts: Iterable<string>): string {
    const found = new Set<string>();
    for (const text of texts) {
      left -= text.length + 1;
      if (left < 0) break;
      for (const word of wordsOf(text)) {
        if (words >= most) return [...found].join(' ');
        if (found.has(word)) continue;
        found.add(word);
        words++;
      }
    }
    return [...found].join(' ');
  }
  const { operations, schemas, rules, tags } = outline ?? { operations: [], schemas: [], rules: [], tags: [] };
  const fields = {
    name: collect([slug, name, outline?.title ?? '', org, type]),
    text: collect([description, outline?.description ?? '']),
    operations: collect(operationTexts(operations)),
    schemas: collect([...names(schemas), ...names(rules), ...names(tags)]),
    properties: collect(propertyTexts(schemas)),
  };
  return { fields, words };
}

function* operationTexts(operations: Outline['operations']): Generator<string> {
  for (const { method, path, id, summary, tags } of operations) {
    yield method;
    yield path;
    yield id ?? '';
    yield summary;
    yield* tags;
  }
}

function* propertyTexts(schemas: Outline['schemas']): Generator<string> {
  for (const { properties } of schemas) yield* properties;
}

function names(items: readonly { name: string }[]): string[] {
  return items.map(({ name }) => name);
}

/**
 * The parts of a document as one string, to save memory over thousands of documents. Each line
 * holds kind, anchor, name and the other texts, separated by tabs; for a schema, the other texts
 * are its properties.
 */
export function packItems(outline: Outline | null): string {
  if (outline === null) return '';
  const anchors = createAnchors();
  const lines: string[] = [];
  let left = mostCharacters;
  /** Returns false when there is no more room. */
  function add(...cells: string[]): boolean {
    const line = cells.map((cell) => cell.replace(/[\t\n\r]/g, ' ')).join('\t');
    left -= line.length + 1;
    if (left >= 0) lines.push(line);
    return left > 0;
  }
  for (const operation of outline.operations) {
    const { id, summary, tags } = operation;
    const name = operationName(operation);
    if (!add('operation', anchors.operation(operation), name, id ?? '', summary, tags.join(' '))) break;
  }
  for (const { name, properties } of left > 0 ? outline.schemas : [])
    if (!add('schema', anchors.schema(name), name, ...properties.slice(0, mostProperties))) break;
  for (const { name, description } of left > 0 ? outline.rules : [])
    if (!add('rule', anchors.rule(name), name, description)) break;
  for (const { name } of left > 0 ? outline.tags : []) if (!add('tag', anchors.tag(name), name)) break;
  return lines.join('\n');
}

/** The parts in one line of a packed string. */
export function unpackLine(line: string): SearchItem[] {
  const [kind, anchor, name, ...rest] = line.split('\t') as [SearchItem['kind'], string, string, ...string[]];
  if (kind !== 'schema') return [{ kind, anchor, name, also: rest }];
  const properties = rest.map((property) => ({
    kind: 'property' as const,
    anchor,
    name: name === '' ? property : `${name}.${property}`,
    also: [property],
  }));
  return name === '' ? properties : [{ kind, anchor, name, also: [] }, ...properties];
}
