import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** A page of Stele's own documentation, as its author wrote it: a Markdown file of `content/docs/`. */
export interface DocPage {
  /** The file's name without its ending, which its address ends in; `index` is the first page. */
  name: string;
  title: string;
  /** One sentence. */
  description: string;
  /** CommonMark with tables. A line `<!-- stele: commands -->` stands for what is made of its source (`docs-parts.ts`). */
  markdown: string;
}

const ours = fileURLToPath(new URL('../../../content/docs/', import.meta.url));

/** Every page of the folder, in the order that the pages say. Throws where one has no sound front matter. */
export function readDocs(folder: string = ours): DocPage[] {
  const names = readdirSync(folder).filter((file) => /^[a-z0-9-]+\.md$/.test(file));
  const pages = names.map((file) => readPage(file.slice(0, -3), readFileSync(join(folder, file), 'utf8')));
  return pages.sort((a, b) => a.order - b.order || (a.page.name < b.page.name ? -1 : 1)).map(({ page }) => page);
}

function readPage(name: string, text: string): { page: DocPage; order: number } {
  const [, head, markdown] = /^---\n(.*?)\n---\n(.*)$/s.exec(text.replaceAll('\r\n', '\n')) ?? [];
  const said: unknown = head === undefined ? null : parse(head);
  const { title, order, description } = (said ?? {}) as Record<string, unknown>;
  if (typeof title !== 'string' || typeof order !== 'number' || typeof description !== 'string')
    throw new TypeError(`${name}.md begins with no front matter that has title, description and order.`);
  return { page: { name, title, description, markdown: markdown!.trimStart() }, order };
}

/** Path of a page under the base. */
export function docPath(name: string): string {
  return name === 'index' ? '/docs/' : `/docs/${name}`;
}

/** Path of a page's Markdown under the base. */
export function docMarkdownPath(name: string): string {
  return name === 'index' ? '/docs/index.md' : `/docs/${name}/index.md`;
}

/** A page's name in a link between the files, `hooks.md#told`, and the place on it; null for any other link. */
export function readDocLink(href: string): { name: string; hash: string } | null {
  const [, name, hash = ''] = /^([a-z0-9-]+)\.md(#.*)?$/.exec(href) ?? [];
  return name === undefined ? null : { name, hash };
}
