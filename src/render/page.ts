import type { JsonObject } from '../model/json.ts';
import type { Descriptions } from './description.ts';
import type { Once } from './json-value.ts';
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

/** A page with a length budget: over it, parts are shortened; over 1.5 times, they are left out. */
export interface Long<T> {
  /** Adds the result of `whole`, or of `short` over the budget. */
  add(whole: () => T, short?: () => T): void;
  /** The parts that were added. */
  readonly parts: readonly T[];
  /** Whether anything was shortened or left out. */
  readonly isCut: boolean;
}

/** `budget`: the sum of the parts' lengths. A single part may go over it by its own. */
export function createLong<T>(budget: number, lengthOf: (part: T) => number): Long<T> {
  const parts: T[] = [];
  let length = 0;
  let isCut = false;
  return {
    add(whole, short) {
      let make: (() => T) | undefined = whole;
      if (length >= budget) {
        isCut = true;
        make = length < budget * 1.5 ? short : undefined;
      }
      if (make === undefined) return;
      const part = make();
      parts.push(part);
      length += lengthOf(part);
    },
    parts,
    get isCut() {
      return isCut;
    },
  };
}
