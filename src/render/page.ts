import type { createFindImage } from '../model/image.ts';
import type { JsonObject } from '../model/json.ts';
import type { Descriptions, Heading } from './description.ts';
import { listHtml, markup, type Html } from './html.ts';
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
    security: ReadonlyMap<string, string>;
  };
}

/** The length of a page in characters after which each remaining part gets one line. */
export const pageBudget = 14 * 1024 * 1024;

/**
 * A page with a length budget: over it, parts are shortened; over 1.5 times, they are left out. A single part may go over
 * it by its own.
 */
export function createLong<T>(lengthOf: (part: T) => number, budget = pageBudget) {
  const parts: T[] = [];
  let length = 0;
  let isCut = false;
  return {
    /** Adds the result of `whole`, or of `short` over the budget. */
    add(whole: () => T, short?: () => T): void {
      const isOver = length >= budget;
      isCut ||= isOver;
      const make = isOver ? short : whole;
      if (make === undefined || length >= budget * 1.5) return;
      const part = make();
      parts.push(part);
      length += lengthOf(part);
    },
    parts: parts as readonly T[],
    /** Whether anything was shortened or left out. */
    isCut: () => isCut,
  };
}

/** The most links in a table of contents, of each kind. */
export const longestNavigation = 6000;

export type FindImage = ReturnType<typeof createFindImage>;

/**
 * Links to these parts under a heading in the table of contents, or to the first `most`. The heading
 * is a link, unless it folds them.
 */
export function navigationGroup<T>(
  { name, anchor, isFolded = false }: { name: string; anchor: string; isFolded?: boolean },
  parts: readonly T[],
  linkTo: (part: T) => Html,
  most = longestNavigation,
): Html {
  const links = parts.slice(0, most).map(linkTo);
  const more = parts.length - links.length;
  const list = listHtml(more > 0 ? [...links, markup`${more} more`] : links);
  return isFolded
    ? markup`<details><summary>${name}</summary>${list}</details>`
    : markup`<a href="#${anchor}">${name}</a>${list}`;
}

/**
 * Finds the id that a link means: as it is, or a heading's as git hosts (`#getting-started`) and
 * other renderers (`#section/Getting-started`, with the headings above it) name it.
 */
export function anchorIn(ids: ReadonlySet<string>, headings: readonly Heading[] = []): (id: string) => string | null {
  const slugOf = (title: string) => title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-');
  const slugs = new Map([...headings].reverse().map(({ title, anchor }) => [slugOf(title), anchor]));
  return (id) => (ids.has(id) ? id : (slugs.get(slugOf(id.slice(id.lastIndexOf('/') + 1, 300))) ?? null));
}

/** The first anchor of each name, since a reference by name means the first. */
export function anchorsOf(all: readonly { name: string; anchor: string }[]): Map<string, string> {
  return new Map([...all].reverse().map(({ name, anchor }) => [name, anchor]));
}
