import { entriesOf, isObject, textOf, type JsonObject } from './json.ts';
import { resolveLocal } from './reference.ts';

/** One operation where it stands in an OpenAPI document of any version. */
export interface ApiOperation {
  /** `GET`, … upper-case; what `additionalOperations` calls it, as written there. */
  method: string;
  /** Path template; the name of a webhook; the expression of a callback. */
  path: string;
  isWebhook: boolean;
  /** The path item around it. */
  item: JsonObject;
  value: JsonObject;
}

const methods = new Set('get put post delete options head patch trace query'.split(' '));

/** Lists that come out of a document end here. */
export const listLimit = 20_000;

/** All operations, in the order of the document: those of paths, then those of webhooks. `more`: how many were left out. */
export function operationsOf(document: JsonObject): { operations: ApiOperation[]; more: number } {
  const all = [...itemsOf(document, document['paths'], false), ...itemsOf(document, document['webhooks'], true)];
  return { operations: all.slice(0, listLimit), more: Math.max(0, all.length - listLimit) };
}

/** Operations of a map of path items (`paths`, `webhooks`, or one callback). */
export function itemsOf(document: JsonObject, map: unknown, isWebhook: boolean): ApiOperation[] {
  return entriesOf(map).flatMap(([path, written]) => {
    if (path.startsWith('x-') || !isObject(written)) return [];
    const item = { ...itemBehind(document, written), ...written };
    const found = (method: string, value: unknown) =>
      isObject(value) ? [{ method, path, isWebhook, item, value }] : [];
    return [
      ...Object.keys(item).flatMap((key) => (methods.has(key) ? found(key.toUpperCase(), item[key]) : [])),
      ...entriesOf(item['additionalOperations']).flatMap(([method, value]) => found(method, value)),
    ];
  });
}

function itemBehind(document: JsonObject, item: JsonObject): JsonObject {
  const reference = textOf(item['$ref']);
  const found = reference === '' ? null : resolveLocal(document, reference);
  return isObject(found) ? found : {};
}
