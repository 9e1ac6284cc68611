import type { Outline, Pages } from '../model/outline.ts';
import type { RenderedPage, SourcePage } from '../sites/model/source-page.ts';
import type { CompileLimits, Excerpt, Published, Turn } from './compile.ts';

/** A rendered document: the parts of its page that depend on the document alone. */
export interface Rendered {
  /**
   * Safe HTML without `<html>`, scripts or styles. Headings start at `<h2>`. Images have addresses
   * that only the page knows (`site/pages/show-images.ts`).
   */
  html: string;
  /** The table of contents as HTML. Links to anchors in `html`. */
  navigation: string;
  /** The same content as Markdown. Headings start at `##`. */
  markdown: string;
  /** Whether the document was too long and was cut. */
  truncated: boolean;
  /** The pages that a long reference is divided into. Null: one page is enough. */
  pages: Pages | null;
}

/** Makes published documents and pages of documentation sites readable. Pure functions of their input. */
export interface Renderer {
  /** Identifies the code that renders and compares. Cached output of another is not used. */
  readonly renderer: string;
  /** Returns the outline of a published document, or null if it exceeds the limits. */
  outline(document: Published, limits: CompileLimits, turn?: Turn): Promise<Outline | null>;
  /**
   * Returns a part of a published document as JSON text, with what it refers to inlined. Null if
   * there is no such part, or if it exceeds the limits.
   */
  excerpt(document: Published, part: Excerpt, limits: CompileLimits, turn?: Turn): Promise<string | null>;
  /** Renders a published document. Returns null if it exceeds the limits. */
  render(document: Published, limits: CompileLimits, turn?: Turn): Promise<Rendered | null>;
  /** Renders pages of documentation sites, in their order. One above the limits has a blocking problem. */
  renderPages(pages: readonly SourcePage[], limits: CompileLimits, turn?: Turn): Promise<RenderedPage[]>;
  /** Announces pages that will be rendered soon, so that a slow start can begin now. */
  expectPages?(pages: readonly SourcePage[], limits: CompileLimits): void;
}
