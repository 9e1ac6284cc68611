import { type JsonObject, isObject } from '../../model/json.ts';
import { isBesidePaths, methods } from '../../model/openapi-shape.ts';
import { entriesOf, textOf, once, resolveLocal } from '../json-value.ts';
import { firstParagraph, firstSentence } from '../markdown.ts';
import { listLimit } from '../outline.ts';

/** One operation of an OpenAPI document of any version. */
export interface ApiOperation {
  /** Upper-case HTTP method, or the name in `additionalOperations` as written. */
  method: string;
  /** Path template, webhook name or callback expression. */
  path: string;
  isWebhook: boolean;
  /** The path item of the operation. */
  item: JsonObject;
  value: JsonObject;
}

/**
 * What an operation does, without markup: its summary, or else the first sentence of its description. Empty without words.
 */
export function summaryOf({ item, value }: Pick<ApiOperation, 'item' | 'value'>, length: number): string {
  const ofItem = textOf(item['summary']).trim().slice(0, 1500);
  // Many paths may refer to one operation.
  return once(
    value,
    `summary ${length} ${ofItem}`,
    () =>
      firstParagraph(textOf(value['summary']).trim(), length) ||
      firstSentence(textOf(value['description']), length) ||
      firstParagraph(ofItem, length),
  );
}

/**
 * All operations in document order: first those of paths, then those of webhooks. `isCut`: some
 * were left out.
 */
export function operationsOf(document: JsonObject): { operations: ApiOperation[]; isCut: boolean } {
  const paths = itemsOf(document, document['paths'], false, listLimit + 1);
  const webhooks = itemsOf(document, document['webhooks'], true, listLimit + 1 - paths.length);
  const all = [...paths, ...webhooks];
  return { operations: all.slice(0, listLimit), isCut: all.length > listLimit };
}

/** The first `limit` operations of a map of path items (`paths`, `webhooks` or one callback). */
export function itemsOf(document: JsonObject, map: unknown, isWebhook: boolean, limit: number): ApiOperation[] {
  const operations: ApiOperation[] = [];
  for (const [path, written] of entriesOf(map)) {
    if (operations.length >= limit) break;
    if (!isObject(written) || isBesidePaths(path, isWebhook)) continue;
    const item = itemBehind(document, written);
    const add = (method: string, value: unknown) => {
      if (isObject(value) && operations.length < limit) operations.push({ method, path, isWebhook, item, value });
    };
    for (const [key, value] of entriesOf(item)) if (methods.has(key)) add(key.toUpperCase(), value);
    for (const [method, value] of additionalIn(item['additionalOperations'])) add(method, value);
  }
  return operations;
}

/** Other methods of a path item (OpenAPI 3.2), of which many paths may have the same. */
function additionalIn(map: unknown): readonly [string, unknown][] {
  if (!isObject(map)) return [];
  return once(map, 'additional', () => entriesOf(map).filter(([, value]) => isObject(value)));
}

/** A path item combined with the one that it refers to. Its own members win. */
function itemBehind(document: JsonObject, item: JsonObject): JsonObject {
  const reference = textOf(item['$ref']);
  return reference === '' ? item : once(item, 'whole', () => combine(item, resolveLocal(document, reference)));
}

function combine(item: JsonObject, target: unknown): JsonObject {
  if (!isObject(target)) return item;
  // Take only known members of the other item: it may be large, and many may refer to it.
  const keys = ['summary', 'description', 'servers', 'parameters', 'additionalOperations', ...methods];
  const members = keys.flatMap((key) => (Object.hasOwn(target, key) ? [[key, target[key]] as const] : []));
  return { ...Object.fromEntries(members), ...item };
}
