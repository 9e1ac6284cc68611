import type { JsonObject } from '../model/json.ts';
import { textOf } from '../render/json-value.ts';

/** How a document's schemas are read. */
export interface Dialect {
  /** Equal names: equal meaning. */
  name: string;
  /** Whether members beside `$ref` count. */
  hasSiblings: boolean;
  /** The member that adds null to `type`, or null. */
  nullable: 'nullable' | 'x-nullable' | null;
  /** Whether `exclusiveMinimum` and `exclusiveMaximum` are booleans. */
  hasExclusiveFlags: boolean;
  /** Whether `items` may be a list, with `additionalItems` for the rest. */
  hasListItems: boolean;
}

const modern = { hasSiblings: true, nullable: null, hasExclusiveFlags: false, hasListItems: false } as const;

/** The dialect of an OpenAPI document. */
export function dialectOfApi(document: JsonObject): Dialect {
  if (document['swagger'] !== undefined)
    return { name: '2.0', hasSiblings: false, nullable: 'x-nullable', hasExclusiveFlags: true, hasListItems: false };
  if (textOf(document['openapi']).startsWith('3.0'))
    return { name: '3.0', hasSiblings: false, nullable: 'nullable', hasExclusiveFlags: true, hasListItems: false };
  return { name: '3.1', ...modern };
}

/** The dialect of a JSON Schema. Without `$schema` it is the newest. */
export function dialectOfSchema(document: JsonObject): Dialect {
  const uri = textOf(document['$schema']);
  const draft = /draft-0?(\d)/.exec(uri)?.[1];
  if (draft === '3' || draft === '4')
    return { name: 'draft-04', hasSiblings: false, nullable: null, hasExclusiveFlags: true, hasListItems: true };
  if (draft !== undefined) return { ...modern, name: 'draft-07', hasSiblings: false, hasListItems: true };
  if (uri.includes('2019-09')) return { ...modern, name: '2019-09', hasListItems: true };
  return { name: '2020-12', ...modern };
}
