import type { Problem } from '../../model/problem.ts';

/** A Markdown file of a site. */
export interface SourcePage {
  /** Path of the file in the site. */
  path: string;
  bytes: Uint8Array;
}

/**
 * A reference that a page embeds: an API's (or another resource's), or one operation of it. Which
 * version it is, and whether its reader sees it, is decided when the page is served.
 */
export interface Embed {
  /** `@org/type/slug[@version]`, as written. */
  coordinate: string;
  /** `GET /payments/{id}`, or the id of the operation; null for the whole document. */
  operation: string | null;
  line: number;
}

export interface PageHeading {
  id: string;
  text: string;
  /** 2 to 6. */
  level: number;
}

/** A link to something in the site. */
export interface PageLink {
  /** Path in the site, of a page as its file: `guide/intro.md`. Null: it leaves the site. */
  to: string | null;
  /** The anchor without `#`; empty: none. */
  anchor: string;
  /** As written, for the report. */
  written: string;
  isImage: boolean;
  line: number;
}

/** The facts about a page besides its content. */
export interface PageFacts {
  title: string;
  description: string;
  /** Its place among its neighbours; null: after those that have one. */
  order: number | null;
  /** Whether navigation, search and lists leave it out. */
  hidden: boolean;
  headings: PageHeading[];
  links: PageLink[];
  embeds: Embed[];
}

/** The content of a page. Its address and the frame around it are not part of it. */
export interface PageContent {
  /**
   * Safe HTML whose links within the site are relative. One part more than the page has embeds,
   * which stand between them.
   */
  html: string[];
  /** The same in Markdown, without front matter. */
  markdown: string[];
  /** Its text for search, by heading: the first section is that before all headings. */
  sections: { id: string; text: string }[];
}

/** A rendered page, or what is wrong with it. */
export interface RenderedPage {
  path: string;
  /** Null exactly when it could not be rendered. */
  page: { facts: PageFacts; content: PageContent } | null;
  problems: Problem[];
}

/**
 * Names the headings of one page as GitHub does, so that links to them work there too: lower case, hyphens
 * for spaces, only letters, digits, `-` and `_`; a second one gets `-1`. `reserved`: ids that other parts
 * of the page have.
 */
export function createHeadingId(reserved: Iterable<string> = []): (text: string) => string {
  const counts = new Map([...reserved].map((id) => [id, 1]));
  return (text) => {
    const wanted =
      text
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .trim()
        .replaceAll(/\s/gu, '-') || 'section';
    for (let count = counts.get(wanted) ?? 0; ; count++) {
      const id = count === 0 ? wanted : `${wanted}-${count}`;
      counts.set(wanted, count + 1);
      if (count > 0 && counts.has(id)) continue;
      counts.set(id, counts.get(id) ?? 1);
      return id;
    }
  };
}
