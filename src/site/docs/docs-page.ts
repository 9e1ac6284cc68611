import { docMarkdownPath, docPath, readDocLink, type DocPage } from './docs.ts';
import type { Site } from '../site.ts';
import { type PageHeading, createHeadingId } from '../../sites/model/source-page.ts';
import { openDocs, type DocsIndex } from '../../search/ranking/pages.js';
import { indexPages, type IndexedPage } from '../../search/site-index.ts';
import MarkdownIt from 'markdown-it';

/** The rendered documentation. */
export type Docs = ReturnType<typeof createDocs>;

interface Rendered {
  page: DocPage;
  html: string;
  headings: PageHeading[];
}

/** Creates the documentation. Pages are rendered once, on first use. */
export function createDocs(site: Site) {
  const shown = new Map<string, string>();
  let rendered: Map<string, Rendered> | null = null;
  let index: Promise<DocsIndex> | null = null;
  let finder: Promise<ReturnType<typeof openDocs>> | null = null;

  // Each page shows the list of all pages and their headings.
  function all(): Map<string, Rendered> {
    rendered ??= new Map(site.docs().map((page) => [page.name, { page, ...renderDoc(page.markdown, toPage) }]));
    return rendered;
  }

  function toPage(href: string): string {
    const link = readDocLink(href);
    if (link !== null) return `${site.links.path(docPath(link.name))}${link.hash}`;
    return href.startsWith('/') ? site.links.path(href) : href;
  }

  async function makeIndex(): Promise<DocsIndex> {
    const pages = [...all().values()].map((each) => indexedOf(site.links.path(docPath(each.page.name)), each));
    const about = Object.fromEntries(pages.map(({ route, description }) => [route, description]));
    return { ...(await indexPages(pages)), about };
  }

  const indexOnce = () => (index ??= makeIndex());
  return {
    /** The HTML page of this name, or null. */
    html(name: string): string | null {
      const found = all().get(name);
      return found ? shown.getOrInsertComputed(name, () => docHtml(site, found, [...all().values()])) : null;
    },
    /** What `search` searches, also for browsers where no server searches. */
    index: indexOnce,
    /** Finds and suggests pages and their sections, the best first. */
    search: () => (finder ??= indexOnce().then(openDocs)),
    /** The same page as Markdown, or null. */
    markdown(name: string): string | null {
      const found = all().get(name);
      return found ? `# ${found.page.title}\n\n${wholeLinks(site, found.page.markdown)}` : null;
    },
  };
}

/** The words of a page by section: what stands below each heading. */
function indexedOf(route: string, { page, html, headings }: Rendered): IndexedPage {
  const texts = html.split(/<h[1-6] id="[^"]*"[^>]*>/).map((part) => part.replaceAll(/<[^>]*>/g, ' '));
  const sections = texts.map((text, at) => ({
    id: headings[at - 1]?.id ?? '',
    heading: headings[at - 1]?.text ?? null,
    text,
  }));
  const { title, description, isReference } = page;
  return { route, title, description, isReference, sections };
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
    isDocs: true,
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

/**
 * Renders the documentation's Markdown as HTML. `link` maps link targets. Heading ids match
 * GitHub's, so that links work there too.
 */
export function renderDoc(markdown: string, link: (href: string) => string): { html: string; headings: PageHeading[] } {
  const headings: PageHeading[] = [];
  const headingId = createHeadingId();
  const renderer = new MarkdownIt('default', { html: false, linkify: false });

  renderer.core.ruler.push('stele', ({ tokens }) => {
    for (const [at, token] of tokens.entries()) {
      if (token.type === 'heading_open') {
        const content = tokens[at + 1]!.children ?? [];
        const text = content.map((child) => child.content).join('');
        const id = headingId(text);
        token.attrSet('id', id);
        headings.push({ id, text, level: Number(token.tag.slice(1)) });
      }
      for (const child of token.children ?? [])
        if (child.type === 'link_open') child.attrSet('href', link(String(child.attrGet('href'))));
    }
  });
  const { rules } = renderer.renderer;
  rules['heading_open'] = (tokens, at) =>
    `<${tokens[at]!.tag} id="${tokens[at]!.attrGet('id')}"><a href="#${tokens[at]!.attrGet('id')}">`;
  rules['heading_close'] = (tokens, at) => `</a></${tokens[at]!.tag}>\n`;
  // The default is a style attribute, which the pages' Content-Security-Policy blocks.
  for (const name of ['th_open', 'td_open'])
    rules[name] = (tokens, at) => (tokens[at]!.tag === 'th' ? '<th scope="col">' : '<td>');
  for (const name of ['fence', 'code_block'])
    rules[name] = (tokens, at) => `<pre><code>${renderer.utils.escapeHtml(tokens[at]!.content)}</code></pre>\n`;
  return { html: renderer.render(markdown), headings };
}
