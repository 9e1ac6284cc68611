import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** The source of a page of Stele's documentation: a Markdown file of `content/docs/`. */
export interface DocPage {
  /** The file name without extension, used in the URL. `index` is the first page. */
  name: string;
  title: string;
  /** One sentence. */
  description: string;
  /** The heading of the navigation above it. Null: that of the page before it. */
  group: string | null;
  /** CommonMark with tables. */
  markdown: string;
  /** Whether it lists everything of a kind. */
  isReference: boolean;
}

const ours = fileURLToPath(new URL('../../../content/docs/', import.meta.url));
/** What `scripts/reference.ts` writes. */
const references = fileURLToPath(new URL('../../../content/reference/', import.meta.url));

/** Reads all pages of a folder in their `order`. Throws if one has no valid front matter. */
export function readDocs(folder: string = ours): DocPage[] {
  const names = readdirSync(folder).filter((file) => /^[a-z0-9-]+\.md$/.test(file));
  const pages = names.map((file) => readPage(file.slice(0, -3), readFileSync(join(folder, file), 'utf8')));
  return pages.sort((a, b) => a.order - b.order || (a.page.name < b.page.name ? -1 : 1)).map(({ page }) => page);
}

function readPage(name: string, text: string): { page: DocPage; order: number } {
  const [, head, markdown] = /^---\n(.*?)\n---\n(.*)$/s.exec(text.replaceAll('\r\n', '\n')) ?? [];
  const meta: unknown = head === undefined ? null : parse(head);
  const { title, order, description, group } = (meta ?? {}) as Record<string, unknown>;
  if (typeof title !== 'string' || typeof order !== 'number' || typeof description !== 'string')
    throw new TypeError(`${name}.md needs front matter with title, description and order.`);
  const heading = typeof group === 'string' ? group : null;
  const filled = markdown!
    .trimStart()
    .replaceAll(/^<!-- stele: ([a-z]+) -->\n/gm, (_, part: string) => readFileSync(`${references}${part}.md`, 'utf8'));
  const isReference = markdown!.includes('<!-- stele: ');
  return { page: { name, title, description, group: heading, markdown: filled, isReference }, order };
}

/** Path of a page under the base. */
export function docPath(name: string): string {
  return name === 'index' ? '/docs/' : `/docs/${name}`;
}

/** Path of a page's Markdown under the base. */
export function docMarkdownPath(name: string): string {
  return name === 'index' ? '/docs/index.md' : `/docs/${name}/index.md`;
}

/** Parses a link between pages, `hooks.md#told`, into name and anchor. Null for any other link. */
export function readDocLink(href: string): { name: string; hash: string } | null {
  const [, name, hash = ''] = /^([a-z0-9-]+)\.md(#.*)?$/.exec(href) ?? [];
  return name === undefined ? null : { name, hash };
}
