import { entriesOf, isObject, textOf, type JsonObject } from '../json-value.ts';
import { resolveLocal } from '../local-reference.ts';

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

/** All operations, in the order of the document: those of paths, then those of webhooks. `isCut`: there were more than are listed. */
export function operationsOf(document: JsonObject): { operations: ApiOperation[]; isCut: boolean } {
  const paths = itemsOf(document, document['paths'], false, listLimit + 1);
  const webhooks = itemsOf(document, document['webhooks'], true, listLimit + 1 - paths.length);
  const all = [...paths, ...webhooks];
  return { operations: all.slice(0, listLimit), isCut: all.length > listLimit };
}

/** Operations of a map of path items (`paths`, `webhooks`, or one callback), the first `limit` of them. */
export function itemsOf(document: JsonObject, map: unknown, isWebhook: boolean, limit: number): ApiOperation[] {
  const found: ApiOperation[] = [];
  for (const [path, written] of entriesOf(map)) {
    if (found.length >= limit) break;
    if (path.startsWith('x-') || !isObject(written)) continue;
    const item = itemBehind(document, written);
    const add = (method: string, value: unknown) => {
      if (isObject(value) && found.length < limit) found.push({ method, path, isWebhook, item, value });
    };
    for (const [key, value] of entriesOf(item)) if (methods.has(key)) add(key.toUpperCase(), value);
    for (const [method, value] of entriesOf(item['additionalOperations']).slice(0, limit)) add(method, value);
  }
  return found;
}

/** A path item, with what it refers to; its own members come first. */
function itemBehind(document: JsonObject, item: JsonObject): JsonObject {
  const reference = textOf(item['$ref']);
  const found = reference === '' ? null : resolveLocal(document, reference);
  if (!isObject(found)) return item;
  // Of an item that is referred to only what is known is taken: there may be much else in it, and many that refer to it.
  const known = ['summary', 'description', 'servers', 'parameters', 'additionalOperations', ...methods];
  const taken = known.flatMap((key) => (Object.hasOwn(found, key) ? [[key, found[key]] as const] : []));
  return { ...Object.fromEntries(taken), ...item };
}
