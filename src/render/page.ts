import type { JsonObject } from '../model/json.ts';
import type { Descriptions } from './description.ts';
import type { Once } from './once.ts';
import type { Requirement } from './openapi/operation-view.ts';
import type { Schemas } from './schema/schemas.ts';

/** What every part of a page needs to know about the whole. */
export interface Page {
  document: JsonObject;
  schemas: Schemas;
  descriptions: Descriptions;
  /** How many rows of named schemas each operation may show in their places. */
  inlineRows: number;
  /** Operations may share parts by reference, so each part is rendered once. */
  once: Once;
  /** Requirements of operations without their own. */
  security: Requirement[];
  /** Anchors of the page, by name. */
  anchors: {
    /** `''` is the root of a JSON Schema. */
    schemas: ReadonlyMap<string, string>;
    /** Security schemes. */
    security: ReadonlyMap<string, string>;
  };
}
