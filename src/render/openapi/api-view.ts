import { type JsonObject, isObject } from '../../model/json.ts';
import { createAnchors } from '../../model/outline.ts';
import { entriesOf, listOf, objectOf, textOf } from '../json-value.ts';
import type { NamedSchema } from '../schema/named-schema.ts';
import { headingsOf, type Heading } from '../description.ts';
import { listLimit } from '../outline.ts';
import { operationsOf, type ApiOperation } from './list-operations.ts';
import { outlineNames, schemasOf, securitySchemesOf } from './outline-api.ts';

/** An operation with its anchor. */
export interface PlacedOperation {
  operation: ApiOperation;
  anchor: string;
}

/** Operations under one heading: those of a tag, or the webhooks. */
export interface OperationGroup {
  name: string;
  /** Markdown. */
  description: string;
  anchor: string;
  operations: PlacedOperation[];
}

/** An API in reading order. */
export interface Api {
  /** The operations by tag. */
  groups: OperationGroup[];
  /** All that there are: those groups, then the webhooks. */
  sections: OperationGroup[];
  schemas: NamedSchema[];
  security: { name: string; scheme: JsonObject; anchor: string }[];
  /** The headings of the description. */
  headings: Heading[];
  /** Whether a list exceeded its limit. */
  isCut: boolean;
}

/**
 * Puts an API in reading order: the tags as the document lists them, then other tags of operations,
 * then operations without tags.
 */
export function readApi(document: JsonObject): Api {
  // Anchors are created in the order of the outline, so that search, which knows only the outline,
  // gets the same ones.
  const anchors = createAnchors();
  const { operations, isCut } = operationsOf(document);
  const placed = operations.map((operation) => ({ operation, anchor: anchors.operation(outlineNames(operation)) }));
  const named = schemasOf(document);
  const schemas = named.slice(0, listLimit).map(([name, schema]) => ({ name, schema, anchor: anchors.schema(name) }));
  const tags = new Map<string, OperationGroup>();
  const group = (name: string, description: string): OperationGroup =>
    tags.getOrInsertComputed(name, () => ({ name, description, anchor: anchors.tag(name), operations: [] }));
  for (const tag of listOf(document['tags']).slice(0, listLimit))
    if (isObject(tag)) group(textOf(tag['name']), textOf(tag['description']) || textOf(tag['summary']));
  const untagged: PlacedOperation[] = [];
  for (const one of placed.filter(({ operation }) => !operation.isWebhook)) {
    const name = textOf(listOf(one.operation.value['tags'])[0]);
    (name === '' ? untagged : group(name, '').operations).push(one);
  }
  const title = tags.size === 0 ? 'Operations' : 'Other operations';
  const rest = { name: title, description: '', anchor: 'operations', operations: untagged };
  const groups = [...tags.values(), rest].filter((one) => one.operations.length > 0);
  const sent = placed.filter(({ operation }) => operation.isWebhook);
  const webhooks = { name: 'Webhooks', description: '', anchor: 'webhooks', operations: sent };
  return {
    groups,
    sections: sent.length === 0 ? groups : [...groups, webhooks],
    schemas,
    security: entriesOf(securitySchemesOf(document))
      .slice(0, 1000)
      .map(([name, scheme]) => ({
        name,
        scheme: objectOf(scheme),
        anchor: anchors.tag(name).replace(/^tag/, 'security'),
      })),
    headings: headingsOf(textOf(objectOf(document['info'])['description']), anchors.section),
    isCut: isCut || named.length > listLimit,
  };
}
