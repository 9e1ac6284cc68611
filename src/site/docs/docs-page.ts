import { docMarkdownPath, docPath, readDocLink, type DocPage } from './docs.ts';
import type { Site } from '../site.ts';
import { type PageHeading, createHeadingIds } from '../../sites/model/source-page.ts';
import { openDocs, type DocsIndex } from '../../search/ranking/pages.js';
import { indexPages, type IndexedPage } from '../../search/site-index.ts';
import MarkdownIt from 'markdown-it';
import { describeCommands, type CommandText, describeConfiguration, table } from './docs-reference.ts';
import type { ProblemKind } from '../pages/message-pages.ts';

/** The rendered documentation. */
export type Docs = ReturnType<typeof createDocs>;

interface Rendered {
  page: DocPage;
  markdown: string;
  html: string;
  headings: PageHeading[];
}

/** Creates the documentation with these facts filled in. Pages are rendered once, on first use. */
export function createDocs(site: Site, facts: DocFacts) {
  const shown = new Map<string, string>();
  let rendered: Map<string, Rendered> | null = null;
  let index: Promise<DocsIndex> | null = null;
  let finder: Promise<ReturnType<typeof openDocs>> | null = null;

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
      return found ? `# ${found.page.title}\n\n${wholeLinks(site, found.markdown)}` : null;
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
  const isReference = page.markdown.includes('<!-- stele: ');
  return { route, title: page.title, description: page.description, isReference, sections };
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
  const ids = createHeadingIds();
  const renderer = new MarkdownIt('default', { html: false, linkify: false });

  renderer.core.ruler.push('stele', ({ tokens }) => {
    for (const [at, token] of tokens.entries()) {
      if (token.type === 'heading_open') {
        const content = tokens[at + 1]!.children ?? [];
        const text = content.map((child) => child.content).join('');
        const id = ids.idOf(text);
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

interface Described {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation | undefined>>;
}

interface Operation {
  summary: string;
  tags: string[];
  'x-scope'?: string;
  /** `organization`: for all of it; a key limited to some resources is refused. */
  'x-scope-of'?: string;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** A table of operations per tag of the management API. `management`: its OpenAPI document. */
function describeOperations(management: unknown): string {
  const { tags, paths } = management as Described;
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method) => (item[method] === undefined ? [] : [{ path, method, ...item[method] }])),
  );
  const sections = tags.map(({ name, description }) => {
    const rows = operations
      .filter((operation) => operation.tags.includes(name))
      .map(({ method, path, summary, 'x-scope': scope, 'x-scope-of': of }) => [
        `\`${method.toUpperCase()} ${path}\``,
        summary,
        scope === undefined ? '' : `\`${scope}\`${of === undefined ? '' : ' (whole organization)'}`,
      ]);
    return `### ${name}\n\n${description}\n\n${table(['operation', 'what', 'scope'], rows)}`;
  });
  return sections.join('\n\n');
}

/** The facts about this program that generated parts of the documentation use. */
interface DocFacts {
  problems: readonly ProblemKind[];
  commands: readonly CommandText[];
  /** The OpenAPI document of the management API. Loaded only when used, because it is long. */
  management(): unknown;
}

const parts: Readonly<Record<string, (facts: DocFacts) => string>> = {
  commands: ({ commands }) => describeCommands(commands),
  configuration: () => describeConfiguration(),
  operations: ({ management }) => describeOperations(management()),
  problems: ({ problems }) =>
    problems.map(({ code, status, title, meaning }) => `### ${code}\n\n${status}. ${title}. ${meaning}`).join('\n\n'),
};

/** Replaces the marks in the Markdown by generated parts. Throws for an unknown mark. */
export function fillParts(markdown: string, facts: DocFacts): string {
  return markdown.replaceAll(/^<!-- stele: (\S+) -->$/gm, (_, name: string) => {
    const part = Object.hasOwn(parts, name) ? parts[name]! : null;
    if (part === null) throw new TypeError(`Unknown mark in the documentation: ${name}.`);
    return part(facts);
  });
}
