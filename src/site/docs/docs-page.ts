import { docMarkdownPath, docPath, readDocLink, type DocPage } from './docs.ts';
import { renderDoc } from './docs-html.ts';
import { fillParts, type DocFacts } from './docs-parts.ts';
import type { Site } from '../site.ts';
import type { PageHeading } from '../../sites/model/source-page.ts';

/** The rendered documentation. */
export interface Docs {
  /** The HTML page of this name, or null. */
  html(name: string): string | null;
  /** The same page as Markdown, or null. */
  markdown(name: string): string | null;
}

interface Rendered {
  page: DocPage;
  markdown: string;
  html: string;
  headings: PageHeading[];
}

/** Creates the documentation with these facts filled in. Pages are rendered once, on first use. */
export function createDocs(site: Site, facts: DocFacts): Docs {
  const cache = { html: new Map<string, string>(), markdown: new Map<string, string>() };
  let rendered: Map<string, Rendered> | null = null;

  // Each page shows the list of all pages and their headings.
  function all(): Map<string, Rendered> {
    rendered ??= new Map(
      site.docs.map((page) => {
        const markdown = fillParts(page.markdown, facts);
        return [page.name, { page, markdown, ...renderDoc(markdown, toPage) }];
      }),
    );
    return rendered;
  }

  function keep(form: 'html' | 'markdown', name: string, make: (found: Rendered) => string): string | null {
    const doc = all().get(name);
    if (doc === undefined) return null;
    const text = cache[form].get(name) ?? make(doc);
    cache[form].set(name, text);
    return text;
  }

  function toPage(href: string): string {
    const link = readDocLink(href);
    if (link !== null) return `${site.links.path(docPath(link.name))}${link.hash}`;
    return href.startsWith('/') ? site.links.path(href) : href;
  }

  return {
    html: (name) => keep('html', name, (found) => docHtml(site, found, [...all().values()])),
    markdown: (name) =>
      keep('markdown', name, ({ page, markdown }) => `# ${page.title}\n\n${wholeLinks(site, markdown)}`),
  };
}

function docHtml(site: Site, { page, html, headings }: Rendered, all: readonly Rendered[]): string {
  const { links } = site;
  const at = all.findIndex((each) => each.page === page);
  const neighbour = (index: number) => {
    const other = all[index]?.page;
    return other === undefined ? null : { title: other.title, href: links.path(docPath(other.name)) };
  };
  const top = { text: 'Documentation', href: links.path(docPath('index')) };
  return site.page('docs', {
    title: page.name === 'index' ? 'Documentation' : `${page.title}: documentation`,
    description: page.description,
    crumbs: page.name === 'index' ? [{ text: top.text }] : [top, { text: page.title }],
    canonical: links.whole(links.path(docPath(page.name))),
    alternates: [
      { href: links.whole(links.path(docMarkdownPath(page.name))), type: 'text/markdown', title: 'Markdown' },
    ],
    styles: ['docs.css'],
    page,
    html,
    headings: headings.filter(({ level }) => level <= 3),
    pages: all.map((each) => ({
      title: each.page.title,
      group: each.page.group,
      href: links.path(docPath(each.page.name)),
      isCurrent: each.page === page,
      headings: each.headings.filter(({ level }) => level === 2),
    })),
    previous: neighbour(at - 1),
    next: neighbour(at + 1),
  });
}

/** Returns the Markdown with absolute links. Code is left unchanged. */
function wholeLinks(site: Site, markdown: string): string {
  return markdown.replaceAll(/\]\(([^()\s]+)\)/g, (whole, href: string) => {
    const link = readDocLink(href);
    const path = link === null ? href : `${docMarkdownPath(link.name)}${link.hash}`;
    return path.startsWith('/') ? `](${site.links.whole(site.links.path(path))})` : whole;
  });
}
