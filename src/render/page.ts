import type { Descriptions } from './description.ts';
import type { JsonObject } from './json-value.ts';
import type { Requirement } from './openapi/operation-view.ts';
import type { Schemas } from './schema/schemas.ts';

/** What every part of a page needs to know of the whole. */
export interface Page {
  document: JsonObject;
  schemas: Schemas;
  descriptions: Descriptions;
  /** What holds for every operation that says nothing of its own. */
  security: Requirement[];
  /** Ids of the page, by the names of what they are of. */
  anchors: {
    /** `''` is the root of a JSON Schema. */
    schemas: ReadonlyMap<string, string>;
    /** Security schemes. */
    security: ReadonlyMap<string, string>;
  };
}
